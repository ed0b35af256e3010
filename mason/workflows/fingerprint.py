"""What a step's result depends on: its operator, configuration and parameters, and the files that it reads."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mason.clients.engines.role import ROLES
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import DataOperator
from mason.operators.operator_spec import OperatorSpec
from mason.operators.runner import PreparedOperator
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.json_text import json_value
from mason.util.redaction import REDACTED, redact_values


class StepFiles(NamedTuple):
    """The paths that a step reads and writes, as far as its operator says so."""

    inputs: Mapping[str, str]
    """Each with the fingerprint that it had before the step ran."""
    outputs: tuple[str, ...]


def shown_parameters(parameters: ValidatedParameters) -> dict[str, Any]:
    """Return parameters for a record: none of their secrets is in it."""
    secrets = parameters.secrets
    return {name: REDACTED if str(value) in secrets else json_value(value) for name, value in parameters.values.items()}


def call_digest(digest: str, config: ValidConfig, parameters: ValidatedParameters) -> str:
    """Return a digest of what is asked for: another operator, configuration or parameter is another call."""
    clients = {role: redact_values(dict(config.engine(role).configurations)) for role in ROLES}
    asked = [digest, json_value(clients), shown_parameters(parameters)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def step_files(prepared: PreparedOperator, spec: OperatorSpec) -> StepFiles:
    """Return what a step is going to read and write; nothing where its operator does not say."""
    inputs, outputs = step_paths(prepared, spec)
    return StepFiles({each: fingerprint(each) for each in inputs}, tuple(outputs))


def step_paths(prepared: PreparedOperator, spec: OperatorSpec) -> tuple[list[str], list[str]]:
    """Return the paths that a step is going to read, and those that it is going to write."""
    if isinstance(prepared.operator, DataOperator):
        job = prepared.operator.job(prepared.config, prepared.parameters)
        return list(_texts({**job.inputs, "storage": ""})), list(_texts(job.outputs))
    names = [each.name for each in spec.parameters.all if each.type == "path"]
    given = {name: value for name in names if (value := prepared.parameters.values.get(name))}
    absolute = {name: _absolute(prepared.config, str(value)) for name, value in given.items()}
    written = [name for name in absolute if name.startswith("output")]
    return [path for name, path in absolute.items() if name not in written], [absolute[name] for name in written]


def fingerprint(path: str) -> str:
    """Return what tells the files at a path from any other: names, sizes, and times of change.

    The time of the last change of a file's record (ctime) is among them: an edit that keeps the size and sets the old
    modification time back is noticed, and nothing has to be read.
    """
    total = hashlib.sha256()
    for name, found in sorted(_files(Path(path))):
        total.update(f"{name}\0{found.st_size}\0{found.st_mtime_ns}\0{found.st_ctime_ns}\n".encode(errors="replace"))
    return total.hexdigest()


def _files(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    if path.is_file():
        yield path.name, path.stat()
    for folder, _, names in os.walk(path):
        for name in names:
            file = Path(folder) / name
            if file.is_file():
                yield str(file.relative_to(path)), file.stat()


def _absolute(config: ValidConfig, path: str) -> str:
    return str(config.storage.client_for(path).path(path).path)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str) and os.sep in value:
        yield value
