"""The connexion application of one moment: its routes are those of what is registered, and never change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from typing import Any

from starlette.exceptions import HTTPException
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mason.api.server.fragments import BASE_PATH
from mason.api.server.quiet_connexion import (
    ROUTING_CONTEXT,
    ConnexionRequest,
    ConnexionResponse,
    ContextMiddleware,
    ParameterValidator,
    RequestValidationMiddleware,
    Resolver,
    ResponseValidationMiddleware,
    SecurityMiddleware,
    SwaggerUIOptions,
    connexion,
)
from mason.api.server.replies import PathHider, document, error_reply
from mason.api.server.requests import current_request
from mason.api.server.routes import Route, answer_route
from mason.api.server.specification import WORKFLOW_PATH, routed_specification
from mason.errors import InvalidParameters, MasonError
from mason.util.json_text import compact_json

LOG = logging.getLogger("mason.api")


def build_connexion_app(routes: Sequence[Route], hide: PathHider, workflows: Set[tuple[str, str]]) -> ASGIApp:
    """Build the application. It takes some tenths of a second: not a thing for the thread that answers requests."""
    app = connexion.ConnexionMiddleware(
        _Answering({route.id: route for route in routes}),
        import_name=__name__,
        middlewares=_middlewares(routes),
        validator_map={"parameter": DeclaredParameters},
        swagger_ui_options=SwaggerUIOptions(
            serve_spec=False, swagger_ui_path="/ui", spec_path="/openapi.json", swagger_ui_config=_UI_CONFIG
        ),
    )
    app.add_api(routed_specification(routes), base_path=BASE_PATH, resolver=Resolver(lambda _: _nothing))
    for kind in (MasonError, HTTPException, connexion.ProblemException, Exception):
        app.add_error_handler(kind, _explain(hide, AllowedMethods(routes, workflows)))
    asyncio.run(_warm_up(app))
    whole: ASGIApp = app
    return whole


class AllowedMethods:
    """Knows which methods a path takes, of all routes that it fits: `/table/merge` is also `/table/{table_name}`."""

    def __init__(self, routes: Sequence[Route], workflows: Set[tuple[str, str]]) -> None:
        self._patterns = [(route, compile_path(BASE_PATH + route.path)[0]) for route in routes]
        self._workflows = workflows

    def at(self, path: str) -> list[str]:
        """Return the methods; of what is not a route, such as the pages of the UI, those that read."""
        found = {route.method.upper() for route, pattern in self._patterns if pattern.match(path)} or {"GET"}
        return sorted(found | {"HEAD"} if "GET" in found else found)

    def is_nothing(self, path: str) -> bool:
        """Say whether a path only looks like that of a workflow: there is none of that name."""
        found = [(route, match) for route, pattern in self._patterns if (match := pattern.match(path))]
        return bool(found) and all(
            route.path == WORKFLOW_PATH and (match["namespace"], match["command"]) not in self._workflows
            for route, match in found
        )


class DeclaredParameters(ParameterValidator):  # type: ignore[misc] # connexion has no types
    """Checks what an author demands of parameters; connexion alone would not say of which one something is wrong."""

    def validate_request(self, request: ConnexionRequest) -> None:
        checks = {
            "query": self.validate_query_parameter,
            "path": self.validate_path_parameter,
            "header": self.validate_header_parameter,
        }
        problems = [
            _named(parameter, problem)
            for place, check in checks.items()
            for parameter in self.parameters.get(place, ())
            if (problem := check(parameter, request))
        ]
        if problems:
            raise InvalidParameters(problems)


def _named(parameter: Mapping[str, Any], problem: str) -> str:
    if problem.startswith("Missing "):
        return f'The parameter "{parameter["name"]}" is missing.'
    return f'The parameter "{parameter["name"]}" is wrong: {problem.splitlines()[0]}.'


class _Answering:
    """Answers what connexion has routed and checked."""

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        route = self._routes.get(scope["extensions"][ROUTING_CONTEXT]["operation_id"])
        if route is None:
            raise HTTPException(404)
        await answer_route(route, scope["path_params"], scope, receive, send)


def _nothing() -> None:
    """What connexion takes for the handler of each route; it is not called."""


def _middlewares(routes: Sequence[Route]) -> list[Any]:
    """Return what connexion does with a request: who may call, and what replies look like, is seen to elsewhere."""
    left_out = [SecurityMiddleware, ResponseValidationMiddleware, ContextMiddleware]
    if not any(route.declared for route in routes):
        left_out.append(RequestValidationMiddleware)  # nobody has asked for more than Mason's own checks
    return [each for each in connexion.ConnexionMiddleware.default_middlewares if each not in left_out]


_UI_CONFIG = {"displayOperationId": False, "persistAuthorization": False, "validatorUrl": None}


def _explain(
    hide: PathHider, allowed: AllowedMethods
) -> Callable[[ConnexionRequest, Exception], Awaitable[ConnexionResponse]]:
    """Return what puts an error into the form of every other reply."""

    async def explain(request: ConnexionRequest, error: Exception) -> ConnexionResponse:
        return _explained(error, hide, allowed, request.url.path)

    return explain


def _explained(error: Exception, hide: PathHider, allowed: AllowedMethods, path: str) -> ConnexionResponse:
    if isinstance(error, MasonError):
        told = error_reply(error, hide)
        return _connexion_reply(told.status_code, bytes(told.body), dict(told.headers))
    status = getattr(error, "status_code", None) or getattr(error, "status", None)
    if status == _WRONG_METHOD and allowed.is_nothing(path):
        status = 404
    if not isinstance(status, int):
        LOG.error("A request failed.", exc_info=error)
        asked = current_request()
        message = f"Something went wrong. The server's log says more, under the request {asked.id}."
        return _connexion_reply(500, compact_json(document(errors=[message])), {})
    detail = _WORDS.get(status) or str(getattr(error, "detail", "") or "The request cannot be answered.")
    headers = {"Allow": ", ".join(allowed.at(path))} if status == _WRONG_METHOD else {}
    return _connexion_reply(status, compact_json(document(errors=[detail])), headers)


_WRONG_METHOD = 405
_WORDS = {404: "There is nothing at this path.", _WRONG_METHOD: "This path does not take this method."}


def _connexion_reply(status: int, body: bytes, headers: Mapping[str, str]) -> ConnexionResponse:
    kept = {name: value for name, value in headers.items() if name.lower() not in ("content-length", "content-type")}
    return ConnexionResponse(status, mimetype="application/json", content_type=None, body=body, headers=kept)


async def _warm_up(app: ASGIApp) -> None:
    """Let the application build what it builds at its first event."""
    events: list[Message] = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive() -> Message:
        return events.pop(0)

    async def send(message: Message) -> None:
        return None

    await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)
