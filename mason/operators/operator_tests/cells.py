"""Values as a test file writes them, in the types that a table keeps them in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
import pyarrow.types as pat

from mason.errors import MasonError
from mason.pipeline.types.sql_types import parse_schema
from mason.util.json_text import json_value

_FLOAT_WORD = re.compile(r"[-+]?\.?(nan|inf|infinity)", re.IGNORECASE)
_TIMES = (date, datetime, time, timedelta)


class BadCell(Exception):
    """Raised when a value does not fit its type, or the type does not exist; the text says why."""


def arrow_type(word: str) -> pa.DataType:
    """Return the type that a word means: as Mason prints it (`timestamp[us]`), or as SQL does (`decimal(10,2)`).

    Raises:
        BadCell: it means none.
    """
    try:
        return pa.type_for_alias(word.strip())
    except ValueError:
        pass
    try:
        found = parse_schema(f'"it" {word}')
    except MasonError as error:
        raise BadCell(f'"{word}" is not a type such as int64, string, timestamp[us] or decimal(10,2)') from error
    if len(found) != 1:
        raise BadCell(f'"{word}" is more than one type')
    return found["it"]


def read_cell(value: Any, kind: pa.DataType) -> Any:
    """Return a value of a test file, of a table or of a response as the type has it.

    Raises:
        BadCell: it does not fit.
    """
    if value is None:
        return None
    for fits, read in _READERS:
        if fits(kind):
            return read(value, kind)
    return value


def cell_key(value: Any) -> Hashable:
    """Return what two cells must have in common to be the same: NaN is NaN, and -0.0 is not 0.0."""
    if isinstance(value, float):
        return ("float", repr(value))
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, Decimal):
        return ("decimal", value.normalize() if value else Decimal(0))
    if isinstance(value, Mapping):
        return tuple((name, cell_key(each)) for name, each in sorted(value.items()))
    if isinstance(value, list | tuple):
        return tuple(map(cell_key, value))
    return value  # type: ignore[no-any-return]


def render_cell(value: Any) -> str:
    """Return a value as its author would write it in a test."""
    if isinstance(value, str):
        return '"' + value.replace("\n", "\\n") + '"'
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {render_cell(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(render_cell, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(json_value(value))


def _read_boolean(value: Any, kind: pa.DataType) -> bool:
    if not isinstance(value, bool):
        raise _unfit(value, "true or false")
    return value


def _read_integer(value: Any, kind: pa.DataType) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _unfit(value, "a whole number")
    return int(_cast(value, kind))


def _read_float(value: Any, kind: pa.DataType) -> float:
    if isinstance(value, str) and _FLOAT_WORD.fullmatch(value):
        return float(value.replace(".", ""))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _unfit(value, "a number")
    return float(_cast(float(value), kind))


def _read_decimal(value: Any, kind: pa.DataType) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise _unfit(value, "a number, or digits in quotes")
    try:
        return Decimal(str(value))
    except InvalidOperation:
        raise _unfit(value, "a number, or digits in quotes") from None


def _read_text(value: Any, kind: pa.DataType) -> str:
    if not isinstance(value, str):
        raise BadCell(f"must be text, which {render_cell(value)} is not: put it in quotes")
    return value


def _read_time(value: Any, kind: pa.DataType) -> Any:
    if isinstance(value, _TIMES):
        return pa.scalar(value, kind).as_py()
    if not isinstance(value, str):
        raise _unfit(value, f"of type {kind}, as in 2026-01-31 or 2026-01-31T12:30:00")
    return _cast(_clock_time(value) if pat.is_time(kind) else value, kind)


def _clock_time(text: str) -> time:
    try:
        return time.fromisoformat(text)
    except ValueError:
        raise _unfit(text, "a time such as 12:30:00") from None


def _read_bytes(value: Any, kind: pa.DataType) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise _unfit(value, "text, whose UTF-8 bytes are meant")
    return value.encode()


def _read_struct(value: Any, kind: pa.DataType) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _unfit(value, f"a mapping ({kind})")
    fields = {field.name: field.type for field in kind}
    unknown = [name for name in value if name not in fields]
    if unknown:
        raise BadCell(f"has {', '.join(unknown)}, which {kind} has not")
    return {name: read_cell(value.get(name), each) for name, each in fields.items()}


def _read_list(value: Any, kind: pa.DataType) -> list[Any]:
    if not isinstance(value, list):
        raise _unfit(value, f"a list ({kind})")
    return [read_cell(each, kind.value_type) for each in value]


def _read_map(value: Any, kind: pa.DataType) -> list[tuple[Any, Any]]:
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list) or not all(isinstance(each, list | tuple) and len(each) == 2 for each in pairs):
        raise _unfit(value, f"a mapping ({kind})")
    return [(read_cell(key, kind.key_type), read_cell(each, kind.item_type)) for key, each in pairs]


def _read_nothing(value: Any, kind: pa.DataType) -> None:
    raise _unfit(value, "null: the column has no type")


def _cast(value: Any, kind: pa.DataType) -> Any:
    try:
        return pa.scalar(value).cast(kind).as_py()
    except (pa.ArrowException, OverflowError):
        raise _unfit(value, f"a value of type {kind}") from None


def _unfit(value: Any, wanted: str) -> BadCell:
    return BadCell(f"must be {wanted}, not {render_cell(value)}")


_READERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[Any, pa.DataType], Any]], ...] = (
    (pat.is_boolean, _read_boolean),
    (pat.is_integer, _read_integer),
    (pat.is_floating, _read_float),
    (pat.is_decimal, _read_decimal),
    (lambda kind: pat.is_string(kind) or pat.is_large_string(kind), _read_text),
    (lambda kind: pat.is_temporal(kind) and not pat.is_duration(kind), _read_time),
    (lambda kind: pat.is_binary(kind) or pat.is_large_binary(kind) or pat.is_fixed_size_binary(kind), _read_bytes),
    (pat.is_map, _read_map),
    (pat.is_struct, _read_struct),
    (pat.is_nested, _read_list),
    (pat.is_null, _read_nothing),
    (pat.is_dictionary, lambda value, kind: read_cell(value, kind.value_type)),
)
