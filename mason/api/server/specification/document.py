"""The specification, as people and programs read it: operators, workflows and Mason's own paths in one document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mason import __version__
from mason.api.server.routes import Route
from mason.api.server.specification.fragments import BASE_PATH
from mason.api.server.specification.operations import OPERATOR_KEY, Known, describe_workflow
from mason.operators.operator_spec import OperatorSpec
from mason.state.models import Registration
from mason.workflows.definition.workflow_spec import WorkflowSpec

WORKFLOW_PATH = "/workflow/{namespace}/{command}"
_TEXTS = {"type": "array", "items": {"type": "string"}}
_RESPONSE = {
    "type": "object",
    "required": ["Errors", "Info", "Warnings", "Data"],
    "properties": {"Errors": _TEXTS, "Info": _TEXTS, "Warnings": _TEXTS, "Data": {"type": "array", "items": {}}},
}


def build_specification(
    routes: Sequence[Route], workflows: Sequence[Registration], operators: Mapping[str, OperatorSpec]
) -> dict[str, Any]:
    """Return the specification as it is served.

    Args:
        routes: in the order in which a request is held against them.
        operators: those that steps of workflows can name, by their names.
    """
    paths: dict[str, dict[str, Any]] = {}
    for route in sorted(routes, key=lambda each: each.path):
        if route.path == WORKFLOW_PATH:
            paths |= _workflow_paths(workflows, operators)
        else:
            operations = {**route.shown, "operationId": _operation_id(route.method, route.path)}
            paths.setdefault(route.path, {})[route.method] = operations
    for path, operations in paths.items():
        for route in routes:
            if route.method not in operations and route.path != WORKFLOW_PATH and _fits(path, route.path):
                operations[route.method] = _operation_at(path, route)
    return {
        **_head(),
        "components": {
            "schemas": {"Response": _RESPONSE},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
        "paths": paths,
    }


def _head() -> Mapping[str, Any]:
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Mason",
            "version": __version__,
            "description": "Data operators that do the same sensible thing whichever technologies stand behind them.",
        },
        "servers": [{"url": BASE_PATH}],
    }


def _fits(path: str, other: str) -> bool:
    """Say whether a request for a path is one for another as well: `/table/merge` fits `/table/{table_name}`."""
    parts, others = path.split("/"), other.split("/")
    return len(parts) == len(others) and all(
        part == each or (part and _is_in_braces(each)) for part, each in zip(parts, others, strict=True)
    )


def _operation_at(path: str, route: Route) -> dict[str, Any]:
    """Return the operation of a route at a path that fits it: those who read the specification look under the path that
    says more, and would not find it there.
    """
    parts = {
        name[1:-1]: part
        for part, name in zip(path.split("/"), route.path.split("/"), strict=True)
        if _is_in_braces(name)
    }
    given = {name: part for name, part in parts.items() if not _is_in_braces(part)}
    renamed = {name: part[1:-1] for name, part in parts.items() if _is_in_braces(part)}
    where = " and ".join(f'{name} is "{part}"' for name, part in given.items())
    operation = {key: value for key, value in route.shown.items() if key not in (OPERATOR_KEY, "description")}
    return {
        **operation,
        "summary": f"As {route.method.upper()} {route.path}{f', where {where}' if where else ''}.",
        "operationId": _operation_id(route.method, path),
        "parameters": [
            {**each, "name": renamed.get(each["name"], each["name"])}
            for each in route.shown["parameters"]
            if each["in"] != "path" or each["name"] not in given
        ],
    }


def _is_in_braces(part: str) -> bool:
    return part.startswith("{")


def _workflow_paths(workflows: Sequence[Registration], operators: Mapping[str, OperatorSpec]) -> dict[str, Any]:
    specs = [WorkflowSpec.of(each.definition) for each in workflows]
    known = Known(operators, {spec.name: spec for spec in specs})
    return {
        f"/workflow/{spec.namespace}/{spec.command}": {
            "post": {**describe_workflow(spec, known), "operationId": f"workflow_{spec.namespace}_{spec.command}"}
        }
        for spec in specs
    }


def _operation_id(method: str, path: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", path)
    return "_".join([method, *words])
