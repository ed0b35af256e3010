"""Arithmetic as Spark does it: its types, its errors for zeros and overflows, decimals to their last digit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.refusal import does_not_fit, unlike_spark
from mason.pipeline.sql.local.values import Typed, call, convert_value, describe_type, huge, number, plain_cast
from mason.pipeline.sql.spark_dialect import is_cast

_DECIMALS: Mapping[type, Callable[[pa.DataType, pa.DataType], pa.DataType]] = {
    exp.Add: st.sum_of,
    exp.Sub: st.sum_of,
    exp.Mul: st.product_of,
    exp.Mod: st.remainder_of,
}
_SHORT = 18  # digits of the decimals that DuckDB has in 64 bits
_WHOLE_DAYS = {"DAY": "to_days", "WEEK": "to_weeks", "MONTH": "to_months", "YEAR": "to_years"}
_PARTS_OF_DAYS = {"HOUR": "to_hours", "MINUTE": "to_minutes", "SECOND": "to_seconds"}


def build_operation(operator: type, left: Typed, right: Typed) -> Typed:
    """Return the result of an operator.

    Raises:
        BadQuery: Spark has none for these types, or it has a type that the local engine does not.
    """
    if left.kind == st.DATE or right.kind == st.DATE:
        return _days(operator, left, right)
    kind = st.common(left.kind, right.kind)
    if kind == st.TEXT:
        kind = st.DOUBLE
    if kind == st.NOTHING:
        kind = st.DOUBLE
    if kind is None or not st.is_number(kind):
        raise _no_operator(left, right)
    if operator is exp.IntDiv:
        return _whole_division(left, right, kind)
    if st.is_decimal(kind):
        return _of_decimals(operator, _exact(left, kind), _exact(right, kind))
    if operator is exp.Div:
        kind = st.DOUBLE
    one, other = convert_value(left, kind), convert_value(right, kind)
    if operator in (exp.Div, exp.Mod):
        other = _divisor(other, right, one)
    node = operator(this=_wrap_node(one), expression=_wrap_node(other))
    return Typed(exp.Paren(this=node), kind)


def divide_decimals(left: Typed, right: Typed, kind: pa.DataType) -> Any:
    """Return the node of a quotient of decimals, rounded half up to the digits of a type."""
    shift = kind.scale + right.kind.scale - left.kind.scale
    over, under = call("spark_unscaled", left.node), call("spark_unscaled", right.node)
    if shift >= 0:
        over = exp.Mul(this=over, expression=huge(10**shift))
    else:
        under = exp.Mul(this=under, expression=huge(10**-shift))
    quotient = call("spark_quotient", exp.Paren(this=over), _divisor(exp.Paren(this=under), right, left.node))
    digits = call("spark_scaled", quotient, huge(10**kind.scale), number(kind.scale))
    return plain_cast(digits if kind.scale else quotient, kind)


def move_moment(node: Any, moment: Typed) -> Typed:
    """Return a date or a moment and an interval, added or subtracted."""
    interval = node.expression
    unit = interval.args["unit"].name.upper().rstrip("S") if isinstance(interval.args.get("unit"), exp.Var) else ""
    count = interval.this
    plain = count.this if isinstance(count, exp.Neg) else count
    is_count = isinstance(plain, exp.Literal) and plain.name.lstrip("-").isdigit()
    if not is_count or type(node) not in (exp.Add, exp.Sub):
        raise unlike_spark(f'"{interval.sql(dialect="spark")}"')
    maker = {**_WHOLE_DAYS, **_PARTS_OF_DAYS}.get(unit)
    if maker is None or moment.kind not in (st.DATE, st.NAIVE, st.INSTANT):
        raise unlike_spark(f'"{interval.sql(dialect="spark")}" beside {describe_type(moment.kind)}')
    kind = st.INSTANT if moment.kind == st.DATE and unit in _PARTS_OF_DAYS else moment.kind
    steps = -int(plain.name) if isinstance(count, exp.Neg) else int(plain.name)
    step = call(maker, number(steps) if steps >= 0 else exp.Neg(this=number(-steps)))
    whole = type(node)(this=convert_value(moment, kind), expression=step)
    return Typed(plain_cast(whole, kind), kind)


def _days(operator: type, left: Typed, right: Typed) -> Typed:
    days = right if left.kind == st.DATE else left
    if days.kind not in (st.BYTE, st.SHORT, st.INT) or operator not in (exp.Add, exp.Sub):
        raise unlike_spark(f"arithmetic of {describe_type(left.kind)} and {describe_type(right.kind)}")
    if operator is exp.Sub and left.kind != st.DATE:
        raise _no_operator(left, right)
    one, other = (plain_cast(each.node, st.INT) if each is days else each.node for each in (left, right))
    return Typed(exp.Paren(this=operator(this=one, expression=other)), st.DATE)


def _whole_division(left: Typed, right: Typed, kind: pa.DataType) -> Typed:
    if st.is_floating(kind):
        raise _no_operator(left, right)
    if st.is_decimal(kind):
        one, other = _exact(left, kind), _exact(right, kind)
        shift = other.kind.scale - one.kind.scale
        over = exp.Mul(this=call("spark_unscaled", one.node), expression=huge(10 ** max(shift, 0)))
        under = exp.Mul(this=call("spark_unscaled", other.node), expression=huge(10 ** max(-shift, 0)))
    else:
        over, under = convert_value(left, st.LONG), convert_value(right, st.LONG)
    node = exp.IntDiv(this=exp.Paren(this=over), expression=_divisor(exp.Paren(this=under), right, left.node))
    return Typed(plain_cast(node, st.LONG), st.LONG)


def _of_decimals(operator: type, left: Typed, right: Typed) -> Typed:
    if operator is exp.Div:
        kind = st.quotient_of(left.kind, right.kind)
        return Typed(divide_decimals(left, right, kind), kind)
    kind = _DECIMALS[operator](left.kind, right.kind)
    if left.kind.scale + right.kind.scale > st.MOST_DIGITS and operator is exp.Mul:
        raise unlike_spark(
            f"product of {describe_type(left.kind)} and {describe_type(right.kind)}", ": it has too many digits"
        )
    other = _divisor(right.node, right, left.node) if operator is exp.Mod else right.node
    if operator is exp.Mul:  # DuckDB would multiply short decimals into a short one, which may be too short
        digits = max(left.kind.precision, _SHORT + 1)
        left = Typed(plain_cast(left.node, pa.decimal128(digits, left.kind.scale)), left.kind)
    return Typed(plain_cast(operator(this=_wrap_node(left.node), expression=_wrap_node(other)), kind), kind)


def _exact(value: Typed, kind: pa.DataType) -> Typed:
    """A side of an operator as a decimal; an integer that stands in the statement has just its own digits."""
    if value.kind == st.NOTHING:
        return Typed(plain_cast(value.node, kind), kind)
    if st.is_decimal(value.kind):
        return value
    literal = _literal(value.node)
    exact = st.as_decimal(value.kind) if literal is None else st.literal_decimal(literal)
    return Typed(plain_cast(value.node, exact), exact)


def _divisor(node: Any, given: Typed, dividend: Any) -> Any:
    """A divisor that is an error where it is zero; a null is divided by anything."""
    literal = _literal(given.node)
    if literal is not None and literal.strip("0.") != "":
        return node
    return call("spark_divisor", node, dividend.copy())


def _literal(node: Any) -> str | None:
    """The digits of a number that stands in the statement; one that was cast is none to Spark, nor is `-(4)`."""
    while isinstance(node, exp.Paren | exp.Cast) and not is_cast(node):
        node = node.this
    node = node.this if isinstance(node, exp.Neg) else node
    while isinstance(node, exp.Cast) and not is_cast(node):
        node = node.this
    return str(node.name) if isinstance(node, exp.Literal) and not node.is_string else None


def _wrap_node(node: Any) -> Any:
    return exp.Paren(this=node) if isinstance(node, exp.Binary | exp.Neg) else node


def _no_operator(left: Typed, right: Typed) -> Exception:
    return does_not_fit(f"There is no arithmetic of {describe_type(left.kind)} and {describe_type(right.kind)}")
