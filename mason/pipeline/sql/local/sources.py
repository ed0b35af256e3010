"""Rows that are made: by LATERAL VIEW from lists and maps, by range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.expressions import Expressions
from mason.pipeline.sql.local.refusal import does_not_fit, unlike_spark
from mason.pipeline.sql.local.scope import Columns, Scope
from mason.pipeline.sql.local.values import Typed, call, describe_type, number, plain_cast


def lateral_join(lateral: Any, scope: Scope, make: Expressions) -> Any:
    """Return LATERAL VIEW as a join, and make its columns known."""
    maker = lateral.this
    if type(maker) not in (exp.Explode, exp.Posexplode):
        raise unlike_spark(f'"{maker.sql(dialect="spark")[:60]}" as rows')
    with_place = isinstance(maker, exp.Posexplode)
    values = _explode_value(make.type_expression(maker.this), with_place)
    usual = [*["pos"][:with_place], *(["col"] if len(values) == 1 + with_place else ["key", "value"])]
    names = lateral.alias_column_names or usual
    if len(names) != len(values):
        raise does_not_fit(f"LATERAL VIEW makes {len(values)} columns here, and names {len(names)}")
    scope.sources[lateral.alias.lower() or f"\0{len(scope.sources)}"] = [
        (name, value.kind) for name, value in zip(names, values, strict=True)
    ]
    columns = [exp.alias_(each.node, name, quoted=True) for name, each in zip(names, values, strict=True)]
    rows = exp.Subquery(this=exp.Select(expressions=columns))
    alias = exp.TableAlias(this=exp.to_identifier(lateral.alias or f"view_{len(scope.sources)}"))
    inner = exp.Lateral(this=rows, alias=alias)
    if lateral.args.get("outer"):
        return exp.Join(this=inner, side="LEFT", on=exp.Boolean(this=True))
    return exp.Join(this=inner, kind="CROSS")


def _explode_value(value: Typed, with_place: bool) -> Sequence[Typed]:
    place = [Typed(plain_cast(call("unnest", _places(value)), st.INT), st.INT)] if with_place else []
    if st.is_list(value.kind):
        return [*place, Typed(call("unnest", value.node), value.kind.value_type)]
    if not st.is_map(value.kind):
        raise does_not_fit(f"A {describe_type(value.kind)} does not explode")
    keys, items = (call("unnest", call(name, value.node.copy())) for name in ("map_keys", "map_values"))
    return [*place, Typed(keys, value.kind.key_type), Typed(items, value.kind.item_type)]


def _places(value: Typed) -> Any:
    counted = call("cardinality" if st.is_map(value.kind) else "len", value.node.copy())
    return call("range", plain_cast(counted, st.LONG))


def range_rows(node: Any, make: Expressions) -> tuple[str, Columns]:
    """Make `range(…)` a query of DuckDB, and return its name and its column."""
    function = node.this
    if function.name.lower() != "range" or not 1 <= len(function.expressions) <= 3:
        raise unlike_spark(f'"{function.name}" as a table')
    nodes = [make.as_kind(each, st.LONG) for each in function.expressions]
    bounds = nodes if len(nodes) > 1 else [number(0), *nodes]
    rows = exp.Select(expressions=[exp.alias_(call("unnest", call("range", *bounds)), "id", quoted=True)])
    name = node.alias or "range"
    columns: list[tuple[str, pa.DataType]] = [(names[0] if (names := node.alias_column_names) else "id", st.LONG)]
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name))
    node.replace(exp.Subquery(this=rows, alias=alias))
    return name, columns
