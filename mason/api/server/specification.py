"""The specification: as people and programs read it, and as connexion routes by it.

The two differ on purpose. Mason itself checks parameters, once, for the command line, workflows and the API alike, and
reports all that is wrong with them; connexion checks what the author of a fragment asks for beyond that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mason import __version__
from mason.api.server.fragments import BASE_PATH, names_in_path
from mason.api.server.operations import shown_workflow
from mason.api.server.routes import Route
from mason.state.models import Registration
from mason.workflows.workflow_spec import WorkflowSpec

WORKFLOW_PATH = "/workflow/{namespace}/{command}"
_TEXTS = {"type": "array", "items": {"type": "string"}}
_RESPONSE = {
    "type": "object",
    "required": ["Errors", "Info", "Warnings", "Data"],
    "properties": {"Errors": _TEXTS, "Info": _TEXTS, "Warnings": _TEXTS, "Data": {"type": "array", "items": {}}},
}


def shown_specification(routes: Sequence[Route], workflows: Sequence[Registration]) -> dict[str, Any]:
    """Return the specification as it is served."""
    paths: dict[str, dict[str, Any]] = {}
    for route in sorted(routes, key=lambda each: each.path):
        if route.path == WORKFLOW_PATH:
            paths |= _workflow_paths(workflows)
        else:
            paths.setdefault(route.path, {})[route.method] = {**route.shown, "operationId": _shown_id(route)}
    return {
        **_head(),
        "components": {
            "schemas": {"Response": _RESPONSE},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
        "paths": paths,
    }


def routed_specification(routes: Sequence[Route]) -> dict[str, Any]:
    """Return the specification that connexion routes and checks by."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        declared = {each["name"]: each for each in route.declared}
        names = names_in_path(route.path)
        in_path = [declared.get(name) or _text_in_path(name) for name in names]
        others = [each for name, each in declared.items() if name not in names]
        paths.setdefault(route.path, {})[route.method] = {
            "operationId": route.id,
            "parameters": [*in_path, *others],
            "responses": {"default": {"description": ""}},
        }
    return {**_head(), "paths": paths}


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


def _workflow_paths(workflows: Sequence[Registration]) -> dict[str, Any]:
    specs = [WorkflowSpec.of(each.definition) for each in workflows]
    return {
        f"/workflow/{spec.namespace}/{spec.command}": {
            "post": {**shown_workflow(spec), "operationId": f"workflow_{spec.namespace}_{spec.command}"}
        }
        for spec in specs
    }


def _shown_id(route: Route) -> str:
    words = re.findall(r"[A-Za-z0-9]+", route.path)
    return "_".join([route.method, *words])


def _text_in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
