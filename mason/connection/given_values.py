"""Parameters as Python code gives them, in the form that a request has: then both ways of calling take the same."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from mason.util.json_text import json_value


def values_as_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values as JSON has them; None is as good as nothing."""
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    return json_value(value)
