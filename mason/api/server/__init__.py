"""`mason run`: the operators and workflows as a REST API, on connexion and uvicorn."""
