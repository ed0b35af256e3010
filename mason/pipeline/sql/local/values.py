"""An expression in the words of DuckDB with its type in Spark: literals, and casts between types as Spark does them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.engine_types import duckdb_type
from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.refusal import does_not_fit, unlike_spark
from mason.pipeline.sql.spark_dialect import mark_cast


@dataclass(frozen=True)
class Typed:
    """An expression, and the type that it has in Spark."""

    node: Any
    kind: pa.DataType


def call(name: str, *arguments: Any) -> Any:
    """Return the call of a function of DuckDB."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def text(value: str) -> Any:
    return exp.Literal.string(value)


def number(value: int) -> Any:
    return exp.Literal.number(value)


def huge(value: int) -> Any:
    """Return a number of more digits than a literal has."""
    return exp.Cast(this=text(str(value)), to=exp.DataType.build("HUGEINT", dialect="duckdb"))


def plain_cast(node: Any, kind: pa.DataType) -> Any:
    """Return a cast as DuckDB does it."""
    return exp.Cast(this=node, to=_data_type(kind))


def build_stated_cast(node: Any, kind: pa.DataType) -> Any:
    """Return a cast that stands for one in the statement."""
    return mark_cast(plain_cast(node, kind))


def _data_type(kind: pa.DataType) -> Any:
    return exp.DataType.build(duckdb_type(kind), dialect="duckdb")


def describe_type(kind: pa.DataType) -> str:
    """Return what a type is called in a message."""
    return "null" if kind == st.NOTHING else duckdb_type(kind).lower()


def convert_value(value: Typed, kind: pa.DataType) -> Any:
    """Return the node of a value as another type.

    Raises:
        BadQuery: Spark does not cast so, or the local engine would do it otherwise.
    """
    if value.kind == kind:
        return value.node
    if value.kind == st.NOTHING:
        return plain_cast(value.node, kind)
    if kind == st.TEXT:
        return _as_text(value)
    if st.is_number(kind):
        return _as_number(value, kind)
    if kind == st.BOOL and value.kind == st.TEXT:
        return call("spark_flag", value.node)
    if kind == st.BOOL and st.is_number(value.kind):
        return exp.NEQ(this=value.node, expression=number(0))
    if kind in (st.DATE, st.NAIVE, st.INSTANT):
        return _as_time(value, kind)
    if kind == st.BINARY and value.kind == st.TEXT:
        return call("encode", value.node)
    if _widens(value.kind, kind):
        return plain_cast(value.node, kind)
    raise _no_cast(value.kind, kind)


def try_convert(value: Typed, kind: pa.DataType) -> Any:
    """Return the node of `try_cast`: null where a cast would be an error.

    Raises:
        BadQuery: Spark does not cast so, or the local engine would do it otherwise.
    """
    if value.kind == st.TEXT and kind != st.TEXT:
        return _try_convert_text(value.node, kind)
    cast = convert_value(value, kind)
    return exp.TryCast(this=cast.this, to=cast.args["to"]) if type(cast) is exp.Cast else cast


def _try_convert_text(node: Any, kind: pa.DataType) -> Any:
    if kind == st.BOOL:
        return call("spark_try_flag", node)
    if st.is_number(kind):
        return exp.TryCast(this=call(f"spark_try_{_digits(kind)}", node), to=_data_type(kind))
    if kind == st.DATE:
        return exp.TryCast(this=call("spark_try_date", node), to=_data_type(kind))
    raise unlike_spark(f"try_cast of a text to {describe_type(kind)}")


def _digits(kind: pa.DataType) -> str:
    """What a text must be to be cast to a number."""
    if st.is_integer(kind):
        return "whole"
    return "float" if st.is_floating(kind) else "number"


def _as_text(value: Typed) -> Any:
    if value.kind == st.INSTANT:
        return plain_cast(plain_cast(value.node, st.NAIVE), st.TEXT)
    if value.kind == st.BINARY:
        return call("decode", value.node)
    if st.is_floating(value.kind):
        return call("spark_float_text", value.node)
    if pa.types.is_nested(value.kind):
        raise _no_cast(value.kind, st.TEXT)
    return plain_cast(value.node, st.TEXT)


def _as_number(value: Typed, kind: pa.DataType) -> Any:
    if value.kind == st.TEXT:
        return plain_cast(call(f"spark_{_digits(kind)}", value.node), kind)
    if value.kind == st.INSTANT and kind == st.LONG:
        return call("spark_seconds", value.node)
    if value.kind == st.BOOL:
        return plain_cast(plain_cast(value.node, st.INT), kind)
    if not st.is_number(value.kind):
        raise _no_cast(value.kind, kind)
    if st.is_integer(kind) and not st.is_integer(value.kind):
        return plain_cast(call("trunc", value.node), kind)
    if st.is_decimal(kind) and st.is_floating(value.kind):  # by its digits: 1.005 is a little less than that
        return plain_cast(plain_cast(call("spark_finite", plain_cast(value.node, st.DOUBLE)), st.TEXT), kind)
    return plain_cast(value.node, kind)


def _as_time(value: Typed, kind: pa.DataType) -> Any:
    if value.kind == st.TEXT:
        name = {st.DATE: "spark_date", st.NAIVE: "spark_naive", st.INSTANT: "spark_instant"}[kind]
        return call(name, value.node)
    if kind == st.DATE and value.kind == st.INSTANT:
        return plain_cast(plain_cast(value.node, st.NAIVE), st.DATE)
    if value.kind in (st.DATE, st.NAIVE, st.INSTANT):
        return plain_cast(value.node, kind)
    if kind == st.INSTANT and st.is_integer(value.kind):
        return call("spark_moment", plain_cast(value.node, st.LONG), number(1_000_000))
    raise _no_cast(value.kind, kind)


def _widens(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether a nested value becomes another by making its numbers wider."""
    if one in (other, st.NOTHING):
        return True
    if st.is_list(one) and st.is_list(other):
        return _widens(one.value_type, other.value_type)
    if st.is_map(one) and st.is_map(other):
        return _widens(one.key_type, other.key_type) and _widens(one.item_type, other.item_type)
    if st.is_struct(one) and st.is_struct(other) and one.num_fields == other.num_fields:
        return all(_widens(mine.type, theirs.type) for mine, theirs in zip(one, other, strict=True))
    return st.is_number(one) and st.is_number(other) and st.common(one, other) == other


def _no_cast(one: pa.DataType, other: pa.DataType) -> Exception:
    if pa.types.is_nested(one) or pa.types.is_nested(other):
        return unlike_spark(f"cast of {describe_type(one)} to {describe_type(other)}")
    return does_not_fit(f"A {describe_type(one)} cannot be cast to {describe_type(other)}")


def literal(node: Any, *, is_negative: bool = False) -> Typed:
    """Return a literal; a sign before a number belongs to it: -2147483648 is an int, and 2147483648 is none."""
    if node.is_string:
        return Typed(node, st.TEXT)
    signed = exp.Neg(this=node.copy()) if is_negative else node
    if node.is_int:
        return _whole(-int(node.name) if is_negative else int(node.name), signed)
    kind = st.DOUBLE if "e" in node.name.lower() else st.literal_decimal(node.name)
    return Typed(plain_cast(signed, kind), kind)


def _whole(value: int, node: Any) -> Typed:
    if -(2**31) < value < 2**31:
        return Typed(node, st.INT)
    if value == -(2**31):  # to DuckDB it is a long that is made negative
        return Typed(plain_cast(node, st.INT), st.INT)
    if -(2**63) <= value < 2**63:
        return Typed(plain_cast(node, st.LONG), st.LONG)
    kind = st.literal_decimal(str(value))
    return Typed(plain_cast(text(str(value)), kind), kind)
