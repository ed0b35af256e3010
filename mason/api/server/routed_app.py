"""What answers requests as long as nothing else is registered: the short way, and connexion for what needs it."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from mason.api.server.fragments import BASE_PATH
from mason.api.server.replies import PathHider
from mason.api.server.requests import current_request
from mason.api.server.routes import Route, answer_route
from mason.api.server.specification import shown_specification
from mason.operators.operator_spec import OperatorSpec
from mason.state.models import Registration
from mason.util.json_text import compact_json

_LATER_SECONDS = 1.0


@dataclass(frozen=True)
class RoutedApp:
    """What answers requests, and what it says of itself."""

    app: ASGIApp
    specification: bytes


def build_routed_app(
    routes: Sequence[Route],
    workflows: Sequence[Registration],
    hide: PathHider,
    operators: Mapping[str, OperatorSpec] = MappingProxyType({}),
) -> RoutedApp:
    """Build what answers requests. Where an author declared parameters, connexion is asked now whether they can be."""

    def build() -> ASGIApp:
        from mason.api.server.connexion_app import build_connexion_app  # it takes longer to import than all the rest

        return build_connexion_app(routes, hide, {(each.name.namespace, each.name.command) for each in workflows})

    long_way = _LongWay(build)
    if any(route.declared for route in routes):
        long_way.build()
    else:
        long_way.build_later()
    return RoutedApp(_ShortWay(routes, long_way), compact_json(shown_specification(routes, workflows, operators)))


class _ShortWay:
    """Answers what connexion has nothing to check of; everything else goes through connexion.

    It finds the route that connexion would, the first one that fits, in a third of the time of a whole request.
    """

    def __init__(self, routes: Sequence[Route], long_way: ASGIApp) -> None:
        self._by_method: dict[str, list[tuple[re.Pattern[str], Route]]] = {}
        for route in routes:
            found = self._by_method.setdefault(route.method.upper(), [])
            found.append((compile_path(BASE_PATH + route.path)[0], route))
        self._long_way = long_way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = None if current_request().is_open else self._find(scope)  # what is open are pages, which connexion has
        if found is None:
            await self._long_way(scope, receive, send)
        else:
            await answer_route(*found, scope, receive, send)

    def _find(self, scope: Scope) -> tuple[Route, Mapping[str, str]] | None:
        """Return the first route that fits, with what stands in the path; none if connexion has to check something."""
        for pattern, route in self._by_method.get(scope["method"], ()):
            match = pattern.match(scope["path"])
            if match is not None:
                return None if route.declared else (route, match.groupdict())
        return None


class _LongWay:
    """An application that is built when it is first needed, or before: the server answers others meanwhile."""

    def __init__(self, build: Callable[[], ASGIApp]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._app: ASGIApp | None = None

    def build(self) -> ASGIApp:
        with self._lock:
            if self._app is None:
                self._app = self._build()
            return self._app

    def build_later(self) -> None:
        """Build it in a moment, when the first requests are answered."""
        timer = threading.Timer(_LATER_SECONDS, self.build)
        timer.daemon = True
        timer.start()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if app is None:
            app = await asyncio.to_thread(self.build)
        await app(scope, receive, send)
