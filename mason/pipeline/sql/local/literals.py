"""Numbers and texts that stand in a statement, with the types that Spark gives them."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.values import Typed, plain_cast, text


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
