"""`mason run`: the operators and workflows as a REST API, on starlette and uvicorn."""
