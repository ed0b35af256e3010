"""A plan that is kept in a file, and what differs from it now: a run from it does what was planned, or nothing."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from mason import __version__
from mason.clients.response import Response
from mason.errors import AlreadyExists, PlanDiffers, UnreadableFile
from mason.operators.runner import PreparedOperator
from mason.util.atomic_file import write_file
from mason.util.disk_room import why_not_written
from mason.util.json_text import json_text, json_value
from mason.util.packages import find_version
from mason.util.redaction import REDACTED, redact_urls
from mason.workflows.definition.step_code import StepCode
from mason.workflows.definition.valid_workflow import (
    BoundStep,
    ValidWorkflow,
    clients_for_record,
    digest_of,
    parameters_for_record,
)
from mason.workflows.runs.step_paths import NOT_THERE, StepPath, foreseen_paths, places_of

_KIND = "mason workflow plan"
_PACKAGES = ("pyarrow", "duckdb", "pyspark", "sqlglot")
"""Those that read, compute and write: another version of one may give another table."""

_TEXTS = ("Workflow", "Configuration", "Scheduler")
_MAPPINGS = ("Versions", "Nested", "Steps")
_STEP_MAPPINGS = ("Clients", "Parameters", "Inputs")
_LONGEST_VALUE = 60


def save_plan(workflow: ValidWorkflow, path: Path) -> None:
    """Write down everything that a run of the workflow depends on.

    Raises:
        UnreadableFile: the file cannot be written, or an input cannot be read.
        AlreadyExists: a file is there that is not a plan.
    """
    if not path.parent.is_dir():  # a folder that nobody has made is a word that somebody has mistyped
        raise UnreadableFile(str(path), f"cannot be written: there is no folder {path.parent}.")
    if path.exists() and not path.is_file():  # to put a file in the place of /dev/null would hit everybody
        raise UnreadableFile(str(path), "cannot be written: it is not a file.")
    if path.exists() and path.stat().st_size:
        _require_plan(path)
    try:
        write_file(path, (json_text(_pin_workflow(workflow)) + "\n").encode())
    except OSError as error:
        raise UnreadableFile(str(path), f"cannot be written: {why_not_written(error, path)}") from error


def check_plan(workflow: ValidWorkflow, path: Path) -> None:
    """Check that everything is as it was when the plan was saved.

    Raises:
        UnreadableFile: the file is not a plan, or an input cannot be read.
        PlanDiffers: with every difference.
    """
    planned = _read(path)
    differences = list(_differences(planned, _pin_workflow(workflow)))
    if differences:
        raise PlanDiffers([f"{path}: {each}" for each in differences], hint="Nothing ran. Look at a new dry run.")


def _require_plan(path: Path) -> None:
    """See that a file is a plan, which another may replace."""
    try:
        _read(path)
    except UnreadableFile as error:
        raise AlreadyExists(
            f"{path} is there already, and is not a plan of a workflow.", hint="Choose another name, or remove it."
        ) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        planned = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(str(path), f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        planned = None
    if not isinstance(planned, dict) or planned.get("Kind") != _KIND or not _is_whole(planned):
        raise UnreadableFile(str(path), "is not a plan of a workflow.", hint="`--save FILE` makes one.")
    return planned


def _is_whole(planned: Mapping[str, Any]) -> bool:
    if not _has_mappings(planned, _MAPPINGS):
        return False
    return all(isinstance(step, dict) and _has_mappings(step, _STEP_MAPPINGS) for step in planned["Steps"].values())


def _has_mappings(value: Mapping[str, Any], keys: Iterable[str]) -> bool:
    return all(isinstance(value.get(key), dict) for key in keys)


def _pin_workflow(workflow: ValidWorkflow) -> dict[str, Any]:
    code = StepCode(workflow)
    files: dict[str, str] = {}
    clients: dict[int, Mapping[str, str]] = {}  # many steps have one configuration
    steps = {}
    made: set[str] = set()
    for step in workflow.dag.steps:
        bound = workflow.bound[step.key]
        reads, writes = _paths(workflow, code, bound)
        paths = [each for each in reads if made.isdisjoint(places_of(str(each)))]  # the run makes the others itself
        made |= {str(each).rstrip("/") for each in writes}
        for each in paths:
            if str(each) not in files:  # many steps may read one table
                files[str(each)] = _content(each)
        if id(bound.config) not in clients:
            pinned = clients_for_record(bound.config)
            clients[id(bound.config)] = {role: digest_of(each) for role, each in pinned.items()}
        steps[step.key] = {
            "Operator": step.pinned_operator,
            "Dependencies": list(step.dependencies),
            "Configuration": bound.config.id,
            "Clients": clients[id(bound.config)],
            "Parameters": _parameters(bound),
            "Inputs": {str(each): files[str(each)] for each in paths},
        }
    return {
        "Kind": _KIND,
        "Versions": _versions(),
        "Workflow": workflow.registration.pinned_name,
        "Nested": {prefix: owner.pinned_name for prefix, owner in workflow.owners.items() if prefix},
        "Configuration": workflow.config.id,
        "Scheduler": workflow.scheduler,
        "Steps": steps,
    }


def _versions() -> dict[str, str]:
    packages = {name: found for name in _PACKAGES if (found := find_version(name))}
    return {"Mason": __version__, "Python": platform.python_version(), **packages}


def _paths(workflow: ValidWorkflow, code: StepCode, bound: BoundStep) -> tuple[list[StepPath], list[StepPath]]:
    """Return the paths that a step reads and writes, as far as they can be known before it runs."""
    if bound.parameters is None:
        return [], []
    registration = bound.operator.registration
    operator = code.operator(registration)
    env = workflow.definitions.env
    prepared = PreparedOperator(
        env=env,
        config=bound.config,
        parameters=bound.parameters,
        registration=registration,
        operator=operator,
        response=Response(),
    )
    reads, writes = foreseen_paths(prepared, bound.operator.spec) or ([], [])  # a step before it may make its inputs
    return sorted(reads, key=str), writes


def _content(path: StepPath) -> str:
    try:
        return path.content_digest()
    except OSError as error:
        raise UnreadableFile(str(error.filename or path), f"cannot be read: {error.strerror}.") from error


def _parameters(bound: BoundStep) -> dict[str, Any]:
    """Return the parameters of a step without secrets; where some come from earlier steps, all as they were written."""
    if bound.parameters is not None:
        return parameters_for_record(bound.parameters)
    secrets = bound.given_secrets
    return {
        name: REDACTED if str(value) in secrets else redact_urls(json_value(value))
        for name, value in bound.given.items()
    }


def _differences(planned: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name, was, is_now in _find_changes(planned["Versions"], now["Versions"]):
        yield f"the version of {name} was {was or 'none'}, and is {is_now or 'none'}"
    for key in _TEXTS:
        if planned.get(key) != now[key]:
            yield f"{key} was {planned.get(key)}, and is {now[key]}"
    for prefix, was, is_now in _find_changes(planned["Nested"], now["Nested"]):
        yield f"the workflow in {prefix.removesuffix('.')} was {was or 'none'}, and is {is_now or 'none'}"
    before, after = planned["Steps"], now["Steps"]
    for key in [each for each in before if each not in after]:
        yield f'the step "{key}" is not there any more'
    for key, step in after.items():
        if key not in before:
            yield f'the step "{key}" is new'
        else:
            yield from (f"{key}: {each}" for each in _step_differences(before[key], step))


def _step_differences(planned: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    if planned.get("Operator") != now["Operator"]:
        yield f"its operator was {planned.get('Operator')}, and is {now['Operator']}"
    if planned.get("Dependencies") != now["Dependencies"]:
        before, after = _list_keys(planned.get("Dependencies")), _list_keys(now["Dependencies"])
        yield f"its dependencies were {before}, and are {after}"
    if planned.get("Configuration") != now["Configuration"]:
        yield f'its configuration was "{planned.get("Configuration")}", and is "{now["Configuration"]}"'
    else:
        for role, _, _ in _find_changes(planned["Clients"], now["Clients"]):
            yield f'the {role} of its configuration "{now["Configuration"]}" was changed'
    for name, was, is_now in _find_changes(planned["Parameters"], now["Parameters"]):
        before, after = _render_change(was, is_now)
        yield f'its parameter "{name}" was {before}, and is {after}'
    for path, was, is_now in _find_changes(planned["Inputs"], now["Inputs"]):
        yield f"its input {path} {_became(was, is_now)}"


def _find_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs between two mappings, each with what it was and what it is; None is nothing."""
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            yield key, before.get(key), after.get(key)


def _became(was: str | None, is_now: str | None) -> str:
    if was is None or is_now is None:
        return "is not read any more" if is_now is None else "was not read"
    if NOT_THERE in (is_now, was):
        return "is not there any more" if is_now == NOT_THERE else "was not there"
    return "has another content"


def _list_keys(keys: Any) -> str:
    return ", ".join(map(str, keys)) if keys else "none"


def _render_change(was: Any, is_now: Any) -> Iterator[str]:
    """Yield two values that differ as texts; of long ones the part where they begin to."""
    texts = ["not given" if value is None else json.dumps(value, ensure_ascii=False) for value in (was, is_now)]
    is_long = max(map(len, texts)) > _LONGEST_VALUE
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    begin = max(0, same - _LONGEST_VALUE // 2) if is_long else 0
    for text in texts:
        part = text[begin : begin + _LONGEST_VALUE]
        yield f"{'…' if begin else ''}{part}{'…' if text[begin:] != part else ''}"
