"""The rivals of `benchmarks.api`, each a server in a process of its own: python -m benchmarks.api_rivals NAME PORT"""

from __future__ import annotations

import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "mason" / "examples" / "operators"
CONSTANT = {"Errors": [], "Info": [], "Warnings": [], "Data": [{"Name": "orders"}]}


def bare_starlette(port: int) -> None:
    """A Starlette application that returns a constant."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def constant(request: Request) -> JSONResponse:
        assert request.path_params["table_name"] and request.query_params["database_name"]
        return JSONResponse(CONSTANT)

    app = Starlette(routes=[Route("/api/table/{table_name}", constant)])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)


def flask_as_it_was(port: int) -> None:
    """The development server of Flask that reads the registry and the configuration at every request."""
    import logging

    from flask import Flask, jsonify, request

    from mason.operators.registration.definition_folder import read_definitions
    from mason.operators.registration.definition_kind import OPERATORS
    from mason.operators.runner import OperatorCall, respond, run_operator
    from mason.util.environment import MasonEnvironment

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = Flask("original")

    @app.get("/api/table/<table_name>")
    def get_table(table_name: str) -> object:
        read_definitions(EXAMPLES, [OPERATORS])  # as the original did: every definition, from its folder
        given = {"table_name": table_name, "database_name": request.args["database_name"]}
        call = OperatorCall(namespace="table", command="get", base=given)
        return jsonify(respond(lambda response: run_operator(MasonEnvironment.of(), call, response)).to_dict())

    app.run("127.0.0.1", port, threaded=False)


if __name__ == "__main__":
    {"starlette": bare_starlette, "flask": flask_as_it_was}[sys.argv[1]](int(sys.argv[2]))
