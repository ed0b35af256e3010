"""What an operator's `api` function calls. There is no web framework in it: it answers with data and a status."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from mason.clients.response import Response
from mason.operators.operator_response import OperatorResponse
from mason.operators.runner import OperatorCall, respond, run_operator
from mason.util.environment import MasonEnvironment

Answer = tuple[dict[str, Any], int]


def _run_here(call: OperatorCall) -> Answer:
    def work(response: Response) -> OperatorResponse:
        return run_operator(MasonEnvironment.of(), call, response)

    result = respond(work)
    return result.to_dict(), result.response.status


RUNNER: ContextVar[Callable[[OperatorCall], Answer]] = ContextVar("mason_operator_runner", default=_run_here)
"""What runs a call: the server has one that knows which configuration the request asks for and who asks."""


def get(namespace: str, command: str, /, *bodies: dict[str, Any], **parameters: Any) -> Answer:
    """Run an operator with the parameters of a request and return its JSON and the HTTP status.

    A request body is a mapping of parameters; what stands in the path or the query overrides it.
    """
    base = {name: value for given in (*bodies, parameters) for name, value in given.items()}
    return RUNNER.get()(OperatorCall(namespace=namespace, command=command, base=base, base_name="the request"))
