"""Values as Spark groups them and puts them in order: one zero, and nulls first inside of lists and structs, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.values import call, number, plain_cast, text


def one_zero(node: Any, kind: pa.DataType, depth: int = 0) -> Any:
    """Return a value as a group has it: Spark makes 0.0 of -0.0, and DuckDB keeps what it met first.

    `depth` is the number of lists that the value is an element of.
    """
    if st.is_floating(kind):
        return exp.Add(this=exp.Paren(this=node.copy()), expression=plain_cast(number(0), kind))
    if not holds_floats(kind):
        return node
    if st.is_list(kind):
        return _each(node, depth, lambda element: one_zero(element, kind.value_type, depth + 1))
    fields = [(each.name, one_zero(_field(node, each.name), each.type, depth)) for each in kind]
    return _unless_null(node, _struct(fields))


def in_order(node: Any, kind: pa.DataType, depth: int = 0) -> Any:
    """Return what stands for a value where values are compared: DuckDB has nulls last inside of lists and structs."""
    if st.is_list(kind):
        return _each(node, depth, lambda element: _struct(_present_first(element, kind.value_type, depth + 1)))
    if not st.is_struct(kind):
        return node
    fields = [pair for each in kind for pair in _present_first(_field(node, each.name), each.type, depth)]
    return _unless_null(node, _struct([(f"c{place}", value) for place, (_, value) in enumerate(fields)]))


def is_same(node: Any, key: Any) -> bool:
    """Say whether an expression is the key that rows are grouped by; its column may be named without its table."""
    if not isinstance(node, exp.Column) or not isinstance(key, exp.Column):
        return bool(node == key)
    return node.name.lower() == key.name.lower() and (node.table == key.table or not (node.table and key.table))


def holds_floats(kind: pa.DataType) -> bool:
    """Say whether a value of this type may have a zero with a sign in it."""
    if st.is_list(kind):
        return holds_floats(kind.value_type)
    if st.is_struct(kind):
        return any(holds_floats(each.type) for each in kind)
    return bool(st.is_floating(kind))


def _present_first(node: Any, kind: pa.DataType, depth: int) -> list[tuple[str, Any]]:
    """Whether there is a value, and the value: false comes before true."""
    present = exp.Not(this=exp.Is(this=node.copy(), expression=exp.Null()))
    return [("present", present), ("value", in_order(node, kind, depth))]


def _each(node: Any, depth: int, make: Callable[[Any], Any]) -> Any:
    variable = exp.to_identifier(f"mason_element_{depth}")
    return call("list_transform", node.copy(), exp.Lambda(this=make(exp.Column(this=variable)), expressions=[variable]))


def _field(node: Any, name: str) -> Any:
    return call("struct_extract", node.copy(), text(name))


def _struct(fields: Sequence[tuple[str, Any]]) -> Any:
    return exp.Struct(
        expressions=[exp.PropertyEQ(this=exp.to_identifier(name), expression=node) for name, node in fields]
    )


def _unless_null(node: Any, other: Any) -> Any:
    missing = exp.Is(this=node.copy(), expression=exp.Null())
    return exp.Case(ifs=[exp.If(this=missing, true=exp.Null())], default=other)
