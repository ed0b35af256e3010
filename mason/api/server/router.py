"""The router of one moment: its routes are those of what is registered, and never change."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.responses import Response as HttpResponse
from starlette.routing import compile_path
from starlette.types import Receive, Scope, Send

from mason.api.server.replies import document, json_reply
from mason.api.server.requests import current_request
from mason.api.server.routes import Route
from mason.api.server.specification.document import WORKFLOW_PATH, build_specification
from mason.api.server.specification.fragments import BASE_PATH
from mason.api.server.specification.swagger_ui import answer_page
from mason.operators.operator_spec import OperatorSpec
from mason.state.models import Registration
from mason.util.json_text import compact_json

_READING = ("GET", "HEAD")


class Router:
    """Answers a request by the first route that fits it.

    A route is found among those of its method alone, so that most requests cost one look at few patterns; which other
    methods a path takes is asked only of a request that fits none.
    """

    def __init__(self, routes: Sequence[Route], workflows: Set[tuple[str, str]]) -> None:
        self._patterns = [(compile_path(BASE_PATH + route.path)[0], route) for route in routes]
        self._by_method: dict[str, list[tuple[re.Pattern[str], Route]]] = {}
        for pattern, route in self._patterns:
            self._by_method.setdefault(route.method.upper(), []).append((pattern, route))
        self._by_method["HEAD"] = self._by_method.get("GET", [])  # the server leaves the body out
        self._workflows = workflows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = await self._answer(scope, receive)
        await reply(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> HttpResponse:
        asked, method, path = current_request(), scope["method"], scope["path"]
        if asked.is_open:  # nobody looked who asks: `/{a}/{b}` fits the pages as well, and must not answer for them
            if method not in _READING:
                return _refuse_method(_READING)
            return answer_page(path) or _answer_nothing()
        found = self._find(method, path)
        if found is None:
            return self._refuse(scope)
        route, in_path = found
        asked.route = route.id
        asked.caller.require(route.scope)
        return await route.handle(Request(scope, receive), in_path)

    def _find(self, method: str, path: str) -> tuple[Route, Mapping[str, str]] | None:
        for pattern, route in self._by_method.get(method, ()):
            match = pattern.match(path)
            if match is not None:
                return route, match.groupdict()
        return None

    def _refuse(self, scope: Scope) -> HttpResponse:
        """Answer what is no route: where it is instead, which methods there are, or that there is nothing."""
        path: str = scope["path"]
        methods = self._methods_at(path)
        if methods:
            return _refuse_method(methods)
        other = path.removesuffix("/") if path.endswith("/") else f"{path}/"
        if self._methods_at(other):
            query = scope["query_string"].decode("latin-1")
            return RedirectResponse(f"{quote(other)}{f'?{query}' if query else ''}")
        return _answer_nothing()

    def _methods_at(self, path: str) -> list[str]:
        """Return the methods of all routes that a path fits: `/table/merge` is also `/table/{table_name}`."""
        found = set()
        for pattern, route in self._patterns:
            match = pattern.match(path)
            if match is not None and (route.path != WORKFLOW_PATH or self._has_workflow(match)):
                found |= {"GET", "HEAD"} if route.method == "get" else {route.method.upper()}
        return sorted(found)

    def _has_workflow(self, match: re.Match[str]) -> bool:
        return (match["namespace"], match["command"]) in self._workflows


@dataclass(frozen=True)
class RoutedApp:
    """What answers requests as long as nothing else is registered, and what it says of itself."""

    app: Router
    specification: bytes


def build_routed_app(
    routes: Sequence[Route],
    workflows: Sequence[Registration],
    operators: Mapping[str, OperatorSpec] = MappingProxyType({}),
) -> RoutedApp:
    """Build what answers requests, and the one specification of it."""
    names = {(each.name.namespace, each.name.command) for each in workflows}
    return RoutedApp(Router(routes, names), compact_json(build_specification(routes, workflows, operators)))


def _refuse_method(allowed: Sequence[str]) -> HttpResponse:
    body = document(errors=["This path does not take this method."])
    return json_reply(body, 405, {"Allow": ", ".join(allowed)})


def _answer_nothing() -> HttpResponse:
    return json_reply(document(errors=["There is nothing at this path."]), 404)
