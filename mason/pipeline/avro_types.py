"""Avro's types as Arrow's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from mason.pipeline.types import widen

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

Named = dict[str, pa.DataType]


def arrow_schema(avro: Any) -> pa.Schema:
    """Return the Arrow schema of an Avro record.

    Raises:
        ValueError: the schema is not a record's, or contains itself, which no table column can.
    """
    if not isinstance(avro, Mapping) or avro.get("type") != "record":
        raise ValueError("its schema is not a record")
    return pa.schema(_fields(avro, {}))


def _fields(record: Mapping[str, Any], named: Named) -> list[pa.Field]:
    fields = []
    for each in record["fields"]:
        declared = each["type"]
        nullable = declared == "null" or (isinstance(declared, list) and "null" in declared)
        fields.append(pa.field(each["name"], _arrow_type(declared, named), nullable))
    return fields


def _arrow_type(avro: Any, named: Named) -> pa.DataType:
    if isinstance(avro, list):
        return _union(avro, named)
    if isinstance(avro, str):
        if avro not in _PRIMITIVE and avro not in named:
            raise ValueError(f'its type "{avro}" contains itself or is not defined')
        return _PRIMITIVE[avro] if avro in _PRIMITIVE else named[avro]
    found = _complex_type(avro, named)
    if "name" in avro:
        named[avro["name"]] = found
    return found


def _union(branches: Sequence[Any], named: Named) -> pa.DataType:
    """A union is the type that holds all its branches."""
    types = [_arrow_type(branch, named) for branch in branches]
    real = [each for each in types if not pa.types.is_null(each)]
    return real[0] if len(real) == 1 else widen(real)


def _complex_type(avro: Mapping[str, Any], named: Named) -> pa.DataType:
    kind = avro["type"]
    logical = avro.get("logicalType")
    if logical == "decimal" and avro["precision"] <= 38:
        return pa.decimal128(avro["precision"], avro.get("scale", 0))
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    if kind == "record":
        return pa.struct(_fields(avro, named))
    if kind == "array":
        return pa.list_(_arrow_type(avro["items"], named))
    if kind == "map":
        return pa.map_(pa.string(), _arrow_type(avro["values"], named))
    if kind == "fixed":
        return pa.binary(avro["size"])
    return _arrow_type(kind, named)
