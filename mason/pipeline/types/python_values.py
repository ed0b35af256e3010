"""Values of Arrow as those of Python, and those as JSON with their types, so that they come back as what they were.

Python knows the years from 1 to 9999, and Parquet many more: a day or a moment beyond them is its text.
"""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa

from mason.pipeline.types.time_text import any_year_text, is_day_or_moment


def python_rows(rows: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """Return rows as `to_pylist` does, far days and moments as text."""
    try:
        found: list[dict[str, Any]] = rows.to_pylist()
    except (OverflowError, ValueError):
        names, columns = rows.schema.names, map(python_values, rows.columns)
        found = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    return found


def python_values(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return values as `to_pylist` does, far days and moments as text."""
    try:
        found: list[Any] = values.to_pylist()
    except (OverflowError, ValueError):
        found = list(map(python_value, values))
    return found


def python_value(value: pa.Scalar) -> Any:
    """Return a value as `as_py` does, far days and moments as text."""
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        if is_day_or_moment(value.type):
            return any_year_text(value)
        if pa.types.is_dictionary(value.type):
            return python_value(value.value)
        if pa.types.is_struct(value.type):
            return {name: python_value(each) for name, each in value.items()}
        if pa.types.is_map(value.type):
            keys, items = value.values.flatten()
            return list(zip(python_values(keys), python_values(items), strict=True))
        if pa.types.is_nested(value.type):
            return python_values(value.values)
        raise


def first_far(values: pa.Array) -> Any:
    """Return the first value of which something is so far away that Python has no word for it; None without one."""
    for each in values:
        try:
            each.as_py()
        except (OverflowError, ValueError):
            return python_value(each)
    return None


_TYPE, _VALUE = "$type", "value"

_WRITE: Mapping[type, tuple[str, Callable[[Any], Any]]] = {
    Decimal: ("decimal", str),
    dt.datetime: ("datetime", dt.datetime.isoformat),
    dt.date: ("date", dt.date.isoformat),
    dt.time: ("time", dt.time.isoformat),
    dt.timedelta: ("seconds", lambda value: [value.days, value.seconds, value.microseconds]),
    bytes: ("bytes", lambda value: base64.b64encode(value).decode()),
}
_READ: Mapping[str, Callable[[Any], Any]] = {
    "decimal": Decimal,
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "seconds": lambda value: dt.timedelta(*value),
    "bytes": base64.b64decode,
    "tuple": lambda value: tuple(map(from_typed, value)),
    "mapping": lambda value: {from_typed(key): from_typed(each) for key, each in value},
}


def to_typed(value: Any) -> Any:
    """Return a value as JSON can write it; what JSON has no word for says its type."""
    if isinstance(value, list):
        return [to_typed(each) for each in value]
    if isinstance(value, tuple):
        return {_TYPE: "tuple", _VALUE: [to_typed(each) for each in value]}
    if isinstance(value, Mapping):
        if _TYPE in value or not all(isinstance(key, str) for key in value):
            return {_TYPE: "mapping", _VALUE: [[to_typed(key), to_typed(each)] for key, each in value.items()]}
        return {key: to_typed(each) for key, each in value.items()}
    name, write = _WRITE.get(type(value), ("", None))
    return {_TYPE: name, _VALUE: write(value)} if write else value


def from_typed(value: Any) -> Any:
    """Return the value that `to_typed` has written."""
    if isinstance(value, list):
        return [from_typed(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if _TYPE in value:
        return _READ[value[_TYPE]](value[_VALUE])
    return {key: from_typed(each) for key, each in value.items()}
