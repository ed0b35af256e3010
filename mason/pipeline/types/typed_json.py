"""Values of Python as JSON and back, with their types: what a driver elsewhere shows comes back as what it was."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

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
