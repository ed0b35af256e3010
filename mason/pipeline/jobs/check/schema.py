"""Checks as JSON Schema, made of what `reading` goes by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mason.pipeline.jobs.check.checks import BLOCK, KINDS, LISTS, ROW_COUNT, WARN, Kind
from mason.pipeline.jobs.check.reading import AGE_UNITS

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_PLAIN: dict[str, Any] = {"anyOf": [_TEXT, {"type": "number"}, {"type": "boolean"}]}
_VALUE: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}
_ROWS: dict[str, Any] = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}]}
_AGE: dict[str, Any] = {"type": "string", "pattern": rf"^[0-9]+(\.[0-9]+)? *({'|'.join(AGE_UNITS)})$"}


def check_schemas() -> list[dict[str, Any]]:
    """Return what each kind of check looks like as a mapping."""
    return [_schema(name, kind) for name, kind in KINDS.items()]


def _schema(name: str, kind: Kind) -> dict[str, Any]:
    of_columns = {} if kind.columns == "none" else {"column": _PLAIN, "columns": _columns(kind)}
    properties = {
        "check": {"type": "string", "enum": [name]},
        **of_columns,
        **{each: _argument(name, each) for each in kind.arguments},
        "on_failure": {"type": "string", "enum": [BLOCK, WARN], "default": BLOCK},
        "name": {"type": "string"},
    }
    needed = [_one_of(of_columns, "oneOf"), _one_of(kind.least_one, "anyOf")]
    return {
        "title": name,
        "type": "object",
        "properties": properties,
        "required": ["check", *kind.required],
        "additionalProperties": False,
        **{word: each for found in needed for word, each in found.items()},
    }


def _columns(kind: Kind) -> dict[str, Any]:
    return {**_list_of(_PLAIN), **({"maxItems": 1} if kind.columns == "one" else {})}


def _argument(check: str, name: str) -> dict[str, Any]:
    if name == "max_age":
        return _AGE
    if check == ROW_COUNT:
        return _ROWS
    if name not in LISTS:
        return _PLAIN
    each = _VALUE if name == "values" else _PLAIN  # an empty text may be a value, and no name
    return {"anyOf": [_list_of(each), *each["anyOf"]]}


def _list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": items}


def _one_of(names: Iterable[str], word: str) -> dict[str, Any]:
    return {word: [{"required": [each]} for each in names]} if names else {}
