"""Functions of many rows: aggregates, also of some rows alone, and over windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.arithmetic import divide_decimals
from mason.pipeline.sql.local.refusal import does_not_fit, unlike_spark
from mason.pipeline.sql.local.sameness import holds_floats, in_order
from mason.pipeline.sql.local.values import Typed, call, convert_value, describe_type, number, plain_cast

if TYPE_CHECKING:
    from mason.pipeline.sql.local.expressions import Expressions


@dataclass(frozen=True)
class Rows:
    """Which rows a function is about: all, those that a condition picks, those of a window."""

    condition: Any = None
    window: Any = None
    nulls: type | None = None
    """IGNORE NULLS, or what else is said of them."""

    def of(self, function: Any, condition: Any = None) -> Any:
        """Return the call of a function of DuckDB over these rows, or over those of them that a condition picks."""
        node = function
        if self.nulls is not None:
            node = self.nulls(this=_with_nulls(function))
        conditions = [each.copy() for each in (self.condition, condition) if each is not None]
        if conditions:
            node = exp.Filter(this=node, expression=exp.Where(this=exp.and_(*conditions, copy=False)))
        if self.window is None:
            return node
        window = self.window.copy()
        window.set("this", node)
        return window


def _with_nulls(function: Any) -> Any:
    """A function for which sqlglot knows where DuckDB says that nulls are passed over."""
    kind = _NEIGHBOURS.get(function.name)
    if kind is None:
        raise unlike_spark(f'"{function.name}" that passes over nulls')
    return kind(**dict(zip(("this", "offset", "default"), function.expressions, strict=False)))


_NEIGHBOURS = {"first_value": exp.FirstValue, "last_value": exp.LastValue, "lag": exp.Lag, "lead": exp.Lead}

Aggregate = Callable[[Sequence[Any], "Expressions", Rows], Typed]


def call_aggregate(name: str, arguments: Sequence[Any], within: Expressions, rows: Rows | None = None) -> Typed:
    """Return the call of a function of many rows.

    Raises:
        BadQuery: the local engine does not have it as Spark has.
    """
    made = _AGGREGATES.get(name)
    if made is None and rows is not None and rows.window is not None:
        made = _OVER_WINDOWS.get(name)
    if made is None:
        raise unlike_spark(f'function "{name}"')
    try:
        return made(arguments, within, rows or Rows())
    except ValueError as error:  # the arguments are others than it unpacks
        raise unlike_spark(f'"{name}" with {len(arguments)} arguments') from error


def is_aggregate(name: str) -> bool:
    """Say whether a function makes one value of many rows."""
    return name.lower() in _AGGREGATES


def of_some_rows(node: Any, within: Expressions) -> Typed:
    """Return an aggregate with FILTER."""
    name, arguments, nulls = _function(node.this)
    return call_aggregate(name, arguments, within, Rows(within.condition(node.expression.this), nulls=nulls))


def over_rows(node: Any, within: Expressions) -> Typed:
    """Return a function over a window."""
    inner = node.this
    if isinstance(inner, exp.Filter):
        raise does_not_fit("Spark has no FILTER in a function over a window")
    name, arguments, nulls = _function(inner)
    if any(isinstance(each, exp.Distinct) for each in arguments):
        raise does_not_fit("Spark has no DISTINCT in a function over a window")
    return call_aggregate(name, arguments, within, Rows(None, window_of(node, within), nulls))


def window_of(node: Any, within: Expressions) -> Any:
    """Return a window without its function, in the words of DuckDB."""
    window = node.copy()
    window.set("partition_by", [within.type_expression(each).node for each in window.args.get("partition_by") or []])
    for ordered in window.args["order"].expressions if window.args.get("order") else ():
        value = within.type_expression(ordered.this)
        ordered.set("this", in_order(value.node, value.kind))
    if window.find(exp.Interval):
        raise unlike_spark("window of an interval")
    return window


def within_group(node: Any, within: Expressions) -> Typed:
    """Return a percentile of ordered rows."""
    name, arguments, _ = _function(node.this)
    (ordered,) = node.expression.expressions
    if name != "percentile_cont" or ordered.args.get("desc"):
        raise unlike_spark(f'"{name}" within this order')
    return _percentile([ordered.this, *arguments], within, Rows())


def _function(node: Any) -> tuple[str, Sequence[Any], type | None]:
    nulls = type(node) if isinstance(node, exp.IgnoreNulls | exp.RespectNulls) else None
    plain = node.this if nulls else node
    if isinstance(plain, exp.Any):
        return "any", [plain.this.unnest()], nulls
    if not isinstance(plain, exp.Anonymous):
        raise unlike_spark(f'"{plain.sql(dialect="spark")}" over many rows')
    return plain.name.lower(), plain.expressions, nulls


def _one(arguments: Sequence[Any], within: Expressions) -> tuple[Typed, Callable[[Any], Any]]:
    """The only argument, and what puts DISTINCT before it again."""
    (argument,) = arguments
    if not isinstance(argument, exp.Distinct):
        return within.type_expression(argument), lambda node: node
    (inner,) = argument.expressions
    return within.type_expression(inner), lambda node: exp.Distinct(expressions=[node])


def _count(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
    if len(arguments) == 1 and isinstance(arguments[0], exp.Star):
        return Typed(rows.of(exp.Count(this=exp.Star())), st.LONG)
    distinct = isinstance(arguments[0], exp.Distinct)
    values = [within.type_expression(each) for each in (arguments[0].expressions if distinct else arguments)]
    (node, *others) = [each.node for each in values]
    if others:
        whole = exp.and_(*(exp.Not(this=exp.Is(this=each.copy(), expression=exp.Null())) for each in (node, *others)))
        node = exp.Case(ifs=[exp.If(this=whole, true=call("row", node, *others) if distinct else number(1))])
    return Typed(rows.of(exp.Count(this=exp.Distinct(expressions=[node]) if distinct else node)), st.LONG)


def _count_if(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
    (condition,) = arguments
    node = exp.Case(ifs=[exp.If(this=within.condition(condition), true=number(1))])
    return Typed(rows.of(exp.Count(this=node)), st.LONG)


def _number(value: Typed) -> Typed:
    """A value that can be added up."""
    if value.kind in (st.TEXT, st.NOTHING, st.FLOAT):
        return Typed(convert_value(value, st.DOUBLE), st.DOUBLE)
    if not st.is_number(value.kind):
        raise does_not_fit(f"A {describe_type(value.kind)} is not a number")
    return value


def _sum(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
    value, distinct = _one(arguments, within)
    exact = _number(value)
    kind = st.total_of(exact.kind)
    return Typed(plain_cast(rows.of(call("sum", distinct(exact.node))), kind), kind)


def _avg(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
    value, distinct = _one(arguments, within)
    exact = _number(value)
    kind = st.mean_of(exact.kind)
    if not st.is_decimal(kind):
        return Typed(rows.of(call("avg", distinct(exact.node))), kind)
    whole = st.total_of(exact.kind)
    total = Typed(plain_cast(rows.of(call("sum", distinct(exact.node))), whole), whole)
    count = rows.of(exp.Count(this=distinct(exact.node.copy())))
    return Typed(
        divide_decimals(total, Typed(plain_cast(count, pa.decimal128(20, 0)), pa.decimal128(20, 0)), kind), kind
    )


def _extreme(name: str) -> Aggregate:
    def build(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
        value, distinct = _one(arguments, within)
        if pa.types.is_nested(value.kind):
            raise unlike_spark(f'"{name}" of {describe_type(value.kind)}')
        return Typed(rows.of(call(name, distinct(value.node))), value.kind)

    return build


def _of_doubles(name: str) -> Aggregate:
    def build(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
        nodes = [within.as_kind(each, st.DOUBLE) for each in arguments]
        return Typed(plain_cast(rows.of(call(name, *nodes)), st.DOUBLE), st.DOUBLE)

    return build


def _percentile(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
    value, share = arguments
    shares = share.expressions if isinstance(share, exp.Anonymous) and share.name.lower() == "array" else [share]
    if any(not isinstance(each, exp.Literal) for each in shares):
        raise unlike_spark('"percentile" of a share that is not a number in the statement')
    node = within.as_kind(value, st.DOUBLE)
    several = shares[0] is not share
    wanted = exp.Array(expressions=[each.copy() for each in shares]) if several else share
    kind = pa.list_(st.DOUBLE) if several else st.DOUBLE
    return Typed(plain_cast(rows.of(call("quantile_cont", node, wanted)), kind), kind)


def _median(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
    (value,) = arguments
    return _percentile([value, exp.Literal.number("0.5")], within, rows)


def _collect(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
    value, distinct = _one(arguments, within)
    known = exp.Not(this=exp.Is(this=value.node.copy(), expression=exp.Null()))
    listed = rows.of(call("list", distinct(value.node)), known)
    kind = pa.list_(value.kind)
    return Typed(exp.Coalesce(this=listed, expressions=[plain_cast(exp.Array(expressions=[]), kind)]), kind)


def _collect_set(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
    (value,) = arguments
    if holds_floats(kind := within.type_expression(value.copy()).kind):
        raise unlike_spark(f'"collect_set" of {describe_type(kind)}, in which Spark has NaN several times')
    return _collect([exp.Distinct(expressions=[value])], within, rows)


def _string_agg(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
    value, separator = arguments
    nodes = [within.as_kind(each, st.TEXT) for each in (value, separator)]
    return Typed(rows.of(call("string_agg", *nodes)), st.TEXT)


def _of_flags(name: str) -> Aggregate:
    def build(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
        (value,) = arguments
        return Typed(rows.of(call(name, within.condition(value))), st.BOOL)

    return build


def _by(name: str) -> Aggregate:
    def build(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
        value, order = (within.type_expression(each) for each in arguments)
        if pa.types.is_nested(order.kind):
            raise unlike_spark(f'"{name}" in the order of {describe_type(order.kind)}')
        return Typed(rows.of(call(name, value.node, order.node)), value.kind)

    return build


def _of_bits(name: str) -> Aggregate:
    def build(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
        (value,) = (within.type_expression(each) for each in arguments)
        if not st.is_integer(value.kind):
            raise does_not_fit(f"A {describe_type(value.kind)} has no bits")
        return Typed(plain_cast(rows.of(call(name, value.node)), value.kind), value.kind)

    return build


def _some(name: str) -> Aggregate:
    """The first or the last value, null or not."""

    def build(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
        (value,) = (within.type_expression(each) for each in arguments)
        theirs = f"{name}_value" if rows.window is not None else name
        return Typed(rows.of(call(theirs, value.node)), value.kind)

    return build


def _rank(name: str, kind: pa.DataType) -> Aggregate:
    def build(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
        nodes = [within.as_kind(each, st.LONG) for each in arguments]
        return Typed(plain_cast(rows.of(call(name, *nodes)), kind), kind)

    return build


def _neighbour(name: str) -> Aggregate:
    def build(arguments: Sequence[Any], within: Expressions, rows: Rows) -> Typed:
        first, *rest = arguments
        value = within.type_expression(first)
        nodes = [within.as_kind(each, st.LONG) for each in rest[:1]]
        nodes += [within.as_kind(each, value.kind) for each in rest[1:]]
        return Typed(rows.of(call(name, value.node, *nodes)), value.kind)

    return build


_AGGREGATES: Mapping[str, Aggregate] = {
    "count": _count,
    "count_if": _count_if,
    "sum": _sum,
    **dict.fromkeys(("avg", "mean"), _avg),
    "min": _extreme("min"),
    "max": _extreme("max"),
    **dict.fromkeys(("stddev", "stddev_samp", "std"), _of_doubles("stddev_samp")),
    "stddev_pop": _of_doubles("stddev_pop"),
    **dict.fromkeys(("variance", "var_samp"), _of_doubles("var_samp")),
    "var_pop": _of_doubles("var_pop"),
    "corr": _of_doubles("corr"),
    "covar_pop": _of_doubles("covar_pop"),
    "covar_samp": _of_doubles("covar_samp"),
    "percentile": _percentile,
    "median": _median,
    **dict.fromkeys(("collect_list", "array_agg"), _collect),
    "collect_set": _collect_set,
    **dict.fromkeys(("string_agg", "listagg"), _string_agg),
    **dict.fromkeys(("bool_and", "every"), _of_flags("bool_and")),
    **dict.fromkeys(("bool_or", "some", "any"), _of_flags("bool_or")),
    "max_by": _by("arg_max_null"),
    "min_by": _by("arg_min_null"),
    **{name: _of_bits(name) for name in ("bit_and", "bit_or", "bit_xor")},
    **dict.fromkeys(("first", "first_value", "any_value"), _some("first")),
    **dict.fromkeys(("last", "last_value"), _some("last")),
}

_OVER_WINDOWS: Mapping[str, Aggregate] = {
    **{name: _rank(name, st.INT) for name in ("row_number", "rank", "dense_rank", "ntile")},
    **{name: _rank(name, st.DOUBLE) for name in ("percent_rank", "cume_dist")},
    **{name: _neighbour(name) for name in ("lag", "lead", "nth_value")},
}
