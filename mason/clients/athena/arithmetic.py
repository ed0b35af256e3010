"""Arithmetic as Spark does it, on an engine that has other rules for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from mason.clients.athena.sql_types import cast_to, decimal_digits

_TYPE = exp.DataType.Type
_MOST_DIGITS = 38
_LEAST_SCALE = 6
_INTEGERS = {_TYPE.TINYINT: 3, _TYPE.SMALLINT: 5, _TYPE.INT: 10, _TYPE.BIGINT: 20}
"""The digits that Spark counts for an integer beside a decimal."""


def keep_decimals(tree: Any) -> None:
    """Give sums and means the types that they have in Spark; Athena's mean of decimals would lose digits."""
    for call in list(tree.find_all(exp.Sum, exp.Avg)):
        argument = call.this.expressions[0] if isinstance(call.this, exp.Distinct) else call.this
        if argument.is_type(_TYPE.FLOAT):
            argument.replace(cast_to(argument.copy(), "DOUBLE"))
        elif _is_exact(argument):
            digits, scale = decimal_digits(argument.type)
            if isinstance(call, exp.Avg):
                argument.replace(cast_to(argument.copy(), _decimal(digits + 4, scale + 4)))
                wanted = _decimal(digits + 4, scale + 4)
            else:
                wanted = _decimal(digits + 10, scale)
            whole = _whole_call(call)
            whole.replace(cast_to(whole.copy(), wanted))


def keep_quotients(tree: Any) -> None:
    """Divide decimals to as many digits as Spark does, and let a division of doubles by zero be an error."""
    for division in list(tree.find_all(exp.IntDiv)):
        if all(side.is_type(*_INTEGERS) for side in _sides(division)):  # as Athena divides integers anyway
            plain = exp.Div(this=division.this.copy(), expression=division.expression.copy(), typed=True)
            division.replace(cast_to(plain, "BIGINT"))
    for division in reversed(list(tree.find_all(exp.Div))):  # the inner ones first: theirs are the digits of the outer
        if division.args.get("typed"):
            continue
        digits = [_digits(each) for each in (division.left, division.right)]
        exact = [each is not None and not _is_double(side) for each, side in zip(digits, _sides(division), strict=True)]
        if all(exact) and any(_is_exact(side) or _is_fraction(side) for side in _sides(division)):
            _divide_exactly(division, *digits)
        elif not _is_zero_an_error(division):
            division.set("expression", _not_zero(division.expression))


def _whole_call(call: Any) -> Any:
    """The call of a function with what belongs to it: OVER (…), FILTER (…)."""
    while isinstance(call.parent, exp.Window | exp.Filter) and call.parent.this is call:
        call = call.parent
    return call


def _divide_exactly(division: Any, dividend: Any, divisor: Any) -> None:
    scale = max(_LEAST_SCALE, dividend[1] + divisor[0] + 1)
    digits = dividend[0] - dividend[1] + divisor[1] + scale
    if digits > _MOST_DIGITS:
        scale = max(_MOST_DIGITS - (digits - scale), min(scale, _LEAST_SCALE))
    finer = cast_to(division.left.copy(), _decimal(dividend[0] - dividend[1] + scale, scale))
    whole = exp.Div(this=finer, expression=division.right.copy(), typed=True)
    division.replace(cast_to(whole, _decimal(digits, scale)))


def _sides(division: Any) -> Iterator[Any]:
    yield division.left.unnest()
    yield division.right.unnest()


def _digits(side: Any) -> tuple[int, int] | None:
    """The digits that Spark counts for a side of a division; nothing where they are not known."""
    plain = side.unnest()
    if isinstance(plain, exp.Literal) and not plain.is_string:
        whole, _, fraction = plain.name.partition(".")
        return (len(whole.lstrip("0")) + len(fraction) or 1, len(fraction)) if plain.name[-1:].isdigit() else None
    if _is_exact(plain):
        return decimal_digits(plain.type)
    return (_INTEGERS[plain.type.this], 0) if plain.type is not None and plain.type.this in _INTEGERS else None


def _is_exact(node: Any) -> bool:
    return bool(node.is_type(_TYPE.DECIMAL)) and len(node.type.expressions) == 2


def _is_fraction(node: Any) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and "." in node.name


def _is_double(node: Any) -> bool:
    return bool(node.is_type(_TYPE.DOUBLE, _TYPE.FLOAT)) and not _is_fraction(node)


def _is_zero_an_error(division: Any) -> bool:
    """Whether Athena itself raises, or the divisor cannot be zero."""
    left, right = _sides(division)
    if isinstance(right, exp.Literal) and right.name.strip("0.") != "":
        return True
    sides = (left, right)
    return any(side.is_type(_TYPE.DECIMAL) for side in sides) and not any(_is_double(side) for side in sides)


def _not_zero(divisor: Any) -> Any:
    """A divisor that is an error where it is zero: that text is not a number, and stands in Athena's message."""
    error = cast_to(exp.Literal.string("Division by zero"), "DOUBLE")
    guarded = exp.paren(exp.case().when(exp.paren(divisor.copy()).eq(0), error).else_(divisor.copy()))
    guarded.type = exp.DataType.build("DOUBLE")
    return guarded


def _decimal(digits: int, scale: int) -> str:
    return f"DECIMAL({min(digits, _MOST_DIGITS)}, {min(scale, _MOST_DIGITS)})"
