"""What is settled for a MASON_HOME as a whole: `settings.yaml` in it, each key also as a variable `MASON_…`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from mason.errors import InvalidConfiguration
from mason.util.environment import MasonEnvironment
from mason.util.nearest import did_you_mean

KEYS = (
    *("call_memory", "call_output", "call_processes", "call_seconds"),
    *("field_bytes", "lineage", "result_bytes", "retention", "state"),
)


def read_settings(env: MasonEnvironment) -> Mapping[str, Any]:
    """Return what `settings.yaml` says; nothing where there is none.

    Raises:
        InvalidConfiguration: it cannot be read, or has a key that is none.
    """
    try:
        if os.stat(env.settings_file).st_size == 0:  # noqa: PTH116 (every command asks)
            return {}
    except OSError:
        return {}
    from mason.util.yaml_file import YamlProblem, read_yaml

    try:
        document = read_yaml(env.settings_file, name=env.shown(env.settings_file))
    except YamlProblem as error:
        raise InvalidConfiguration([error.problem]) from error
    if document.value is None:
        return {}
    if not isinstance(document.value, Mapping):
        raise InvalidConfiguration([document.problem((), "this is not a list of keys with their values")])
    problems = [
        document.problem(
            (key,), f'"{key}" is no setting. {did_you_mean(key, KEYS) or f"There are: {_list_settings()}."}'
        )
        for key in document.value
        if key not in KEYS
    ]
    if problems:
        raise InvalidConfiguration(problems)
    return document.value


def _list_settings() -> str:
    return ", ".join(KEYS)
