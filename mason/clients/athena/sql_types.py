"""The types of SQL expressions, and what they are in Arrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from sqlglot import exp

_TYPE = exp.DataType.Type
_SCALARS = {
    _TYPE.BOOLEAN: pa.bool_(),
    _TYPE.TINYINT: pa.int8(),
    _TYPE.SMALLINT: pa.int16(),
    _TYPE.INT: pa.int32(),
    _TYPE.BIGINT: pa.int64(),
    _TYPE.FLOAT: pa.float32(),
    _TYPE.DOUBLE: pa.float64(),
    _TYPE.VARCHAR: pa.string(),
    _TYPE.TEXT: pa.string(),
    _TYPE.CHAR: pa.string(),
    _TYPE.BINARY: pa.binary(),
    _TYPE.VARBINARY: pa.binary(),
    _TYPE.DATE: pa.date32(),
    _TYPE.TIMESTAMP: pa.timestamp("us"),
    _TYPE.TIMESTAMPNTZ: pa.timestamp("us"),
    _TYPE.TIMESTAMPTZ: pa.timestamp("us", "UTC"),
    _TYPE.TIMESTAMPLTZ: pa.timestamp("us", "UTC"),
}


def cast_to(value: Any, kind: Any) -> Any:
    """Return a cast; unlike sqlglot's own function also of a cast to other digits of the same type."""
    wanted = exp.DataType.build(kind)
    cast = exp.Cast(this=value, to=wanted.copy())
    cast.type = wanted
    return cast


def arrow_type(kind: Any) -> pa.DataType | None:
    """Return a type of sqlglot as Arrow's; nothing where it is not known in full."""
    if kind is None:
        return None
    if kind.is_type(_TYPE.DECIMAL):
        return pa.decimal128(*decimal_digits(kind)) if len(kind.expressions) == 2 else None
    if kind.is_type(_TYPE.ARRAY, _TYPE.LIST):
        return _list(kind)
    if kind.is_type(_TYPE.MAP):
        parts = [arrow_type(each) for each in kind.expressions]
        return pa.map_(*parts) if len(parts) == 2 and None not in parts else None
    if kind.is_type(_TYPE.STRUCT):
        return _struct(kind)
    return _SCALARS.get(kind.this)


def decimal_digits(kind: Any) -> tuple[int, int]:
    """Return the digits of a decimal, and how many of them stand after the point."""
    digits, scale = (int(each.name) for each in kind.expressions)
    return digits, scale


def _list(kind: Any) -> pa.DataType | None:
    element = arrow_type(kind.expressions[0]) if kind.expressions else None
    return pa.list_(element) if element is not None else None


def _struct(kind: Any) -> pa.DataType | None:
    fields = [(each.name, arrow_type(each.args.get("kind"))) for each in kind.expressions]
    return pa.struct(fields) if fields and all(inner is not None for _, inner in fields) else None
