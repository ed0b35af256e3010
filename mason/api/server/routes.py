"""Routes: a method and a path, who may use them, what the specification shows, and what answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response as HttpResponse

from mason.api.server.specification.fragments import Declared, read_fragment
from mason.api.server.specification.operations import describe_operator
from mason.operators.operator_spec import OperatorSpec
from mason.operators.registration.catalogue import Catalogue
from mason.operators.registration.registry import read_files
from mason.state.models import Registration
from mason.state.tokens import Scope

Handler = Callable[[Request, Mapping[str, str]], Awaitable[HttpResponse]]
"""Answers a request; the mapping has what stands in its path."""


@dataclass(frozen=True, kw_only=True)
class Route:
    """One operation of the API."""

    method: str
    path: str
    scope: Scope
    handle: Handler
    shown: Mapping[str, Any]
    source: str = "Mason's own paths"
    is_fallback: bool = field(default=False)
    """Whether it is there only when no operator has the path."""

    @property
    def id(self) -> str:
        return f"{self.method} {self.path}"


OperatorHandler = Callable[[Registration, OperatorSpec, Declared], Handler]


def operator_routes(catalogue: Catalogue, handler: OperatorHandler) -> tuple[list[Route], list[str]]:
    """Return the routes of the operators that have a fragment, and what is wrong with the fragments of others."""
    routes: list[Route] = []
    problems: list[str] = []
    for name in sorted(catalogue.operators):
        registration = catalogue.operators[name]
        spec = catalogue.spec(registration)
        files = read_files(catalogue.store, registration)
        declared, wrong = read_fragment(registration, spec, files)
        problems += [f"{problem} (the API does without it)" for problem in wrong]
        routes += [_operator_route(registration, spec, each, handler) for each in declared]
    return routes, problems


def without_clashes(own: Sequence[Route], of_operators: Sequence[Route]) -> tuple[list[Route], list[str]]:
    """Return the routes that can be told apart, and of those that cannot, which are left out and because of which."""
    by_path: dict[tuple[str, str], Route] = {}
    problems: list[str] = []
    firm = [each for each in own if not each.is_fallback]
    for route in (*firm, *of_operators, *(each for each in own if each.is_fallback)):
        shape = _shape(route)
        other = by_path.setdefault(shape, route)
        if other is not route and not route.is_fallback:
            problems.append(
                f"{route.source}: {route.method.upper()} {route.path} is the path of {other.source} as well, "
                "which has it; change one of the two."
            )
    return sorted(by_path.values(), key=_in_braces), problems


def _operator_route(
    registration: Registration, spec: OperatorSpec, declared: Declared, handler: OperatorHandler
) -> Route:
    return Route(
        method=declared.method,
        path=declared.path,
        scope=Scope.READ if declared.method == "get" else Scope.RUN,
        handle=handler(registration, spec, declared),
        shown=describe_operator(registration, spec, declared),
        source=declared.source,
    )


def _in_braces(route: Route) -> list[bool]:
    """Return what sorts a path before those that fit it as well: `/table/merge` before `/table/{table_name}`."""
    return [part.startswith("{") for part in route.path.split("/")]


def _shape(route: Route) -> tuple[str, str]:
    parts = ["{}" if part.startswith("{") else part for part in route.path.split("/")]
    return route.method, "/".join(parts)
