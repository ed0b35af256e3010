"""What an operator's `api` function calls. There is no web framework in it: it answers with data and a status."""

from __future__ import annotations

from typing import Any

from mason.operators.runner import OperatorCall, respond, run_operator
from mason.util.environment import MasonEnvironment


def get(namespace: str, command: str, *bodies: dict[str, Any], **parameters: Any) -> tuple[dict[str, Any], int]:
    """Run an operator with the parameters of a request and return its JSON and the HTTP status.

    A request body is a mapping of parameters; what stands in the path or the query overrides it.
    """
    base = {name: value for body in bodies for name, value in body.items()}
    call = OperatorCall(namespace, command, given=list(parameters.items()), base=base)
    result = respond(lambda response: run_operator(MasonEnvironment.of(), call, response))
    return result.to_dict(), result.response.status
