"""Avro's types as Arrow's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa

from mason.pipeline.types.column_types import widen

_PRIMITIVE = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
}
_LOGICAL = {
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("us", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "timestamp-nanos": pa.timestamp("ns", "UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
    "local-timestamp-nanos": pa.timestamp("ns"),
    "uuid": pa.string(),
}

_Made = TypeVar("_Made")

_ITSELF = pa.string()
_VALUE = "value"


@dataclass(frozen=True)
class AvroColumns:
    """The columns of an Avro file, and what there is to say of them."""

    schema: pa.Schema
    notes: Sequence[str] = ()
    are_fields: bool = True
    """Whether they are the fields of records; values that are no records are one column."""
    has_depth: bool = False
    """Whether records contain others of their own type, and these again, as deep as somebody likes."""


def find_columns(avro: Any) -> AvroColumns:
    """Return the columns of a file with this schema, which fastavro has parsed.

    A record that contains itself, which no column can, is JSON text there.

    Raises:
        ValueError: no table can hold what it describes.
    """
    within: set[str] = set()
    named = _Named(within)
    if not isinstance(avro, Mapping) or avro.get("type") != "record":
        schema = pa.schema([pa.field(_VALUE, _arrow_type(avro, named))])
        note = f'what it holds are no records: each value stands in the column "{_VALUE}"'
        return AvroColumns(schema, [note, *_notes(named, within)], are_fields=False, has_depth=bool(within))
    schema = pa.schema(named.define(avro["name"], lambda: _fields(avro, named)))
    if not len(schema):
        raise ValueError("its records have no fields")
    return AvroColumns(schema, _notes(named, within), has_depth=bool(within))


def _notes(named: _Named, within: Iterable[str]) -> list[str]:
    contain = [f'records of the type "{name}" contain others of it: these are JSON text' for name in sorted(within)]
    return [*contain, *dict.fromkeys(named.notes)]


class _Named:
    """The types that have a name, by it; and of which of them a part is the type itself."""

    def __init__(self, within: set[str]) -> None:
        self._types: dict[str, pa.DataType] = {}
        self._open: list[str] = []
        self._within = within
        self.notes: list[str] = []

    def define(self, name: str, make: Callable[[], _Made]) -> _Made:
        """Make a type, during which its name may occur."""
        self._open.append(name)
        made = make()
        self._open.pop()
        return made

    def keep(self, name: str, found: pa.DataType) -> None:
        self._types[name] = found

    def find(self, name: str) -> pa.DataType:
        if name in self._open:
            self._within.add(name)
            return _ITSELF
        if name not in self._types:
            raise ValueError(f'its type "{name}" is not defined')
        return self._types[name]


def _fields(record: Mapping[str, Any], named: _Named) -> list[pa.Field]:
    fields = []
    for each in record["fields"]:
        declared = each["type"]
        nullable = declared == "null" or (isinstance(declared, list) and "null" in declared)
        fields.append(pa.field(each["name"], _arrow_type(declared, named), nullable))
    return fields


def _arrow_type(avro: Any, named: _Named) -> pa.DataType:
    if isinstance(avro, list):
        return _union(avro, named)
    if isinstance(avro, str):
        return _PRIMITIVE[avro] if avro in _PRIMITIVE else named.find(avro)
    if "name" not in avro:
        return _complex_type(avro, named)
    found = named.define(avro["name"], lambda: _complex_type(avro, named))
    named.keep(avro["name"], found)
    return found


def _union(branches: Sequence[Any], named: _Named) -> pa.DataType:
    """A union is the type that holds all its branches."""
    types = [_arrow_type(branch, named) for branch in branches]
    real = [each for each in types if not pa.types.is_null(each)]
    if len(real) == 1:
        return real[0]
    united = widen(real)
    if pa.types.is_string(united) and any(pa.types.is_timestamp(each) and each.unit == "ns" for each in real):
        named.notes.append("it has times in nanoseconds beside text: they are the number of nanoseconds since 1970")
    return united


def _complex_type(avro: Mapping[str, Any], named: _Named) -> pa.DataType:
    kind = avro["type"]
    logical = avro.get("logicalType")
    if logical == "decimal" and avro["precision"] <= 38:
        return pa.decimal128(avro["precision"], avro.get("scale", 0))
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    if kind == "record":
        return pa.struct(_fields(avro, named))
    if kind == "array":
        if not _takes_bytes(avro["items"]):
            raise ValueError("it has lists of what takes no bytes, so that a few bytes may say any number of them")
        return pa.list_(_arrow_type(avro["items"], named))
    if kind == "map":
        return pa.map_(pa.string(), _arrow_type(avro["values"], named))
    if kind == "fixed":
        return pa.binary(avro["size"])
    return _arrow_type(kind, named)


def _takes_bytes(avro: Any) -> bool:
    """Say whether each value of a type takes a byte at least; a name stands for a type that was looked at before."""
    if isinstance(avro, str):
        return avro != "null"
    if isinstance(avro, list):
        return True  # which of its types it is
    if avro["type"] == "record":
        return any(_takes_bytes(each["type"]) for each in avro["fields"])
    if avro["type"] == "fixed":
        return bool(avro["size"])
    return _takes_bytes(avro["type"]) if avro["type"] not in ("array", "map", "enum") else True
