"""A plan that is kept in a file, and what differs from it now: a run from it does what was planned, or nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mason import __version__
from mason.clients.response import Response
from mason.errors import MasonError, PlanDiffers, UnreadableFile
from mason.operators.runner import PreparedOperator
from mason.util.atomic_file import write_file
from mason.util.json_text import json_text, json_value
from mason.workflows.fingerprint import call_digest
from mason.workflows.step_code import StepCode
from mason.workflows.step_paths import StepPath, step_paths
from mason.workflows.valid_workflow import BoundStep, ValidWorkflow

_KIND = "mason workflow plan"
_STEP_KEYS = {"Operator", "Dependencies", "Parameters and configuration", "Inputs"}


def save_plan(workflow: ValidWorkflow, path: Path) -> None:
    """Write down everything that a run of the workflow depends on.

    Raises:
        UnreadableFile: the file cannot be written.
    """
    try:
        write_file(path, (json_text(_pinned(workflow)) + "\n").encode())
    except OSError as error:
        raise UnreadableFile(str(path), f"cannot be written: {error.strerror}") from error


def check_plan(workflow: ValidWorkflow, path: Path) -> None:
    """Check that everything is as it was when the plan was saved.

    Raises:
        UnreadableFile: the file is no plan.
        PlanDiffers: with every difference.
    """
    planned = _read(path)
    differences = list(_differences(planned, _pinned(workflow)))
    if differences:
        raise PlanDiffers([f"{path}: {each}" for each in differences], hint="Nothing ran. Look at a new dry run.")


def _read(path: Path) -> dict[str, Any]:
    try:
        planned = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(str(path), f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        planned = None
    if not isinstance(planned, dict) or planned.get("Kind") != _KIND or not _has_steps(planned):
        raise UnreadableFile(str(path), "is no plan of a workflow", hint="`--save FILE` makes one.")
    return planned


def _has_steps(planned: Mapping[str, Any]) -> bool:
    steps = planned.get("Steps")
    return isinstance(steps, dict) and all(
        isinstance(step, dict) and set(step) >= _STEP_KEYS and isinstance(step["Inputs"], dict)
        for step in steps.values()
    )


def _pinned(workflow: ValidWorkflow) -> dict[str, Any]:
    code = StepCode(workflow)
    files: dict[str, str] = {}
    steps = {}
    for step in workflow.dag.steps:
        bound = workflow.bound[step.key]
        paths = _inputs(workflow, code, bound)
        for each in paths:
            files.setdefault(str(each), each.content_digest())
        steps[step.key] = {
            "Operator": step.pinned_operator,
            "Dependencies": list(step.dependencies),
            "Parameters and configuration": _call(bound),
            "Inputs": {str(each): files[str(each)] for each in paths},
        }
    nested = {prefix: owner.pinned_name for prefix, owner in workflow.owners.items() if prefix}
    return {
        "Kind": _KIND,
        "Mason": __version__,
        "Workflow": workflow.registration.pinned_name,
        "Nested": nested,
        "Configuration": workflow.config.id,
        "Scheduler": workflow.scheduler,
        "Steps": steps,
    }


def _inputs(workflow: ValidWorkflow, code: StepCode, bound: BoundStep) -> list[StepPath]:
    """Return the paths that a step reads, as far as they can be known before it runs."""
    if bound.parameters is None:
        return []
    registration = bound.operator.registration
    operator = code.operator(registration)
    env = workflow.definitions.env
    prepared = PreparedOperator(env, bound.config, bound.parameters, registration, operator, Response())
    try:
        return sorted(step_paths(prepared, bound.operator.spec)[0], key=str)
    except (MasonError, OSError):  # its inputs are made by a step before it
        return []


def _call(bound: BoundStep) -> str:
    if bound.parameters is not None:
        return call_digest(bound.operator.registration.digest, bound.config, bound.parameters)
    written = json.dumps([bound.config.id, json_value(bound.given)], sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()


def _differences(planned: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in ("Mason", "Workflow", "Nested", "Configuration", "Scheduler"):
        if planned.get(key) != now[key]:
            yield f"{key} was {planned.get(key)}, and is {now[key]}"
    before, after = planned["Steps"], now["Steps"]
    for key in [each for each in before if each not in after]:
        yield f'the step "{key}" is not there any more'
    for key, step in after.items():
        if key not in before:
            yield f'the step "{key}" is new'
        else:
            yield from (f"{key}: {each}" for each in _step_differences(before[key], step))


def _step_differences(planned: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    if planned["Operator"] != now["Operator"]:
        yield f"its operator was {planned['Operator']}, and is {now['Operator']}"
    elif planned["Parameters and configuration"] != now["Parameters and configuration"]:
        yield "its parameters or its configuration are others"
    if planned["Dependencies"] != now["Dependencies"]:
        yield "its dependencies are others"
    for path in sorted({*planned["Inputs"], *now["Inputs"]}):
        if planned["Inputs"].get(path) != now["Inputs"].get(path):
            yield f"its input {path} has another content"
