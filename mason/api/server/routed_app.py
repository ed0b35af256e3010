"""The connexion application of one moment: its routes are those of what is registered, and never change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response as HttpResponse
from starlette.types import ASGIApp, Message

from mason.api.server.fragments import BASE_PATH, names_in_path
from mason.api.server.quiet_connexion import (
    ConnexionRequest,
    ConnexionResponse,
    Resolver,
    SwaggerUIOptions,
    connexion,
)
from mason.api.server.replies import document, error_reply
from mason.api.server.requests import current_request
from mason.api.server.routes import Route
from mason.api.server.specification import routed_specification, shown_specification
from mason.errors import MasonError
from mason.state.models import Registration
from mason.util.json_text import compact_json

LOG = logging.getLogger("mason.api")


@dataclass(frozen=True)
class RoutedApp:
    """What answers requests as long as nothing else is registered."""

    app: ASGIApp
    specification: bytes


def build_routed_app(routes: Sequence[Route], workflows: Sequence[Registration]) -> RoutedApp:
    """Build the application. It takes some tenths of a second: not a thing for the thread that answers requests."""
    handlers = {route.id: _endpoint(route) for route in routes}
    app = connexion.AsyncApp(
        __name__,
        swagger_ui_options=SwaggerUIOptions(
            serve_spec=False, swagger_ui_path="/ui", spec_path="/openapi.json", swagger_ui_config=_UI_CONFIG
        ),
    )
    app.add_api(routed_specification(routes), base_path=BASE_PATH, resolver=Resolver(handlers.__getitem__))
    for kind in (MasonError, HTTPException, connexion.ProblemException, Exception):
        app.add_error_handler(kind, _explain)
    asyncio.run(_warm_up(app))
    return RoutedApp(app, compact_json(shown_specification(routes, workflows)))


_UI_CONFIG = {"displayOperationId": False, "persistAuthorization": False, "validatorUrl": None}


def _endpoint(route: Route) -> Any:
    async def answer(**in_path: str) -> HttpResponse:
        asked = current_request()
        asked.route = route.id
        asked.caller.require(route.scope)
        return await route.handle(connexion.request, in_path)

    # Connexion looks at what a function takes; of one that takes anything it would read the body, too.
    names = [Parameter(name, Parameter.KEYWORD_ONLY) for name in names_in_path(route.path)]
    answer.__signature__ = Signature(names)  # type: ignore[attr-defined]
    return answer


async def _explain(request: ConnexionRequest, error: Exception) -> ConnexionResponse:
    """Return what went wrong in the form of every other reply."""
    if isinstance(error, MasonError):
        told = error_reply(error)
        return _connexion_reply(told.status_code, bytes(told.body), dict(told.headers))
    status = getattr(error, "status_code", None) or getattr(error, "status", None)
    if not isinstance(status, int):
        LOG.error("A request failed.", exc_info=error)
        asked = current_request()
        message = f"Something went wrong. The server's log says more, under the request {asked.id}."
        return _connexion_reply(500, compact_json(document(errors=[message])), {})
    detail = _WORDS.get(status) or str(getattr(error, "detail", "") or "The request cannot be answered.")
    allowed = {"Allow": error.headers["Allow"]} if isinstance(error, HTTPException) and error.headers else {}
    return _connexion_reply(status, compact_json(document(errors=[detail])), allowed)


_WORDS = {404: "There is nothing at this path.", 405: "This path does not take this method."}


def _connexion_reply(status: int, body: bytes, headers: Mapping[str, str]) -> ConnexionResponse:
    kept = {name: value for name, value in headers.items() if name.lower() not in ("content-length", "content-type")}
    return ConnexionResponse(status, mimetype="application/json", content_type=None, body=body, headers=kept)


async def _warm_up(app: connexion.AsyncApp) -> None:
    """Let the application build what it builds at its first event."""
    events: list[Message] = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive() -> Message:
        return events.pop(0)

    async def send(message: Message) -> None:
        return None

    await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)
