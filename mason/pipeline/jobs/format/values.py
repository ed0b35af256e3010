"""Values of a condition: how those of two types are compared and calculated with, as Spark SQL does it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.types.column_types import INSTANT, NAIVE
from mason.pipeline.types.number_types import MAX_PRECISION

Values: TypeAlias = pa.Array | pa.Scalar

_MIRRORED = {"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}


class Unequal(Exception):
    """Raised when values cannot be compared, calculated with or cast."""


def number(text: str) -> pa.Scalar:
    """Return the number that a literal without an exponent says: an integer, or a decimal."""
    if text.isdigit() and int(text) < 2**63:
        return pa.scalar(int(text))
    value = Decimal(text)
    if len(value.as_tuple().digits) > MAX_PRECISION:
        raise Unequal(f"{text} has more than {MAX_PRECISION} digits")
    return pa.scalar(value)


def plain(found: pa.Array) -> pa.Array:
    """Return a column in one of the few types that a condition knows: all integers are of 64 bits."""
    if found.type == pa.uint64():
        return found.cast(pa.decimal128(20, 0))
    if pa.types.is_integer(found.type):
        return found.cast(pa.int64())
    if pa.types.is_floating(found.type):
        return found.cast(pa.float64())
    return found


def negate(found: Values) -> Values:
    if not _is_number(found.type):
        raise Unequal(f"{found.type} has no sign")
    if isinstance(found, pa.Scalar):
        value = found.as_py()
        return pa.scalar(None if value is None else -value, found.type)
    return pc.negate_checked(found)


def compare_values(how: str, one: Values, other: Values) -> Values:
    """Compare two values. `same` is equality that takes null for a value.

    Raises:
        Unequal: their types have nothing in common.
    """
    one, other = _alike(one, other)
    if pa.types.is_nested(one.type):
        raise Unequal(f"values of the type {one.type} cannot be compared")
    if how == "same":
        both, neither = _both(pc.is_valid, one, other), _both(pc.is_null, one, other)
        return pc.or_(pc.and_(both, pc.fill_null(_equal(one, other), False)), neither)
    if how in ("equal", "not_equal"):
        found = _equal(one, other)
        return pc.invert(found) if how == "not_equal" else found
    if not pa.types.is_floating(one.type):
        return pc.call_function(how, [one, other])
    if how in ("less", "less_equal"):
        return compare_values(_MIRRORED[how], other, one)
    larger = pc.or_kleene(pc.greater(one, other), pc.and_(pc.is_nan(one), pc.invert(pc.is_nan(other))))
    return larger if how == "greater" else pc.or_kleene(larger, _equal(one, other))


def calculate(how: str, one: Values, other: Values) -> Values:
    """Add, subtract, multiply or divide two numbers; a division gives a double.

    Raises:
        Unequal: they are no numbers, or the divisor is zero.
    """
    for each in (one, other):
        if not _is_number(each.type) and not pa.types.is_null(each.type):
            raise Unequal(f"{each.type} is not a number to calculate with")
    if how == "multiply_checked" and (pa.types.is_decimal(one.type) or pa.types.is_decimal(other.type)):
        one, other = _wide(one), _wide(other)  # a common scale would only take room from the product
    else:
        one, other = _alike(one, other)
    if how != "divide":
        return pc.call_function(how, [one, other])
    one, other = one.cast(pa.float64()), other.cast(pa.float64())
    if pc.any(pc.equal(_array(other), 0)).as_py():
        raise Unequal("a number is divided by zero")
    return pc.divide(one, other)


def cast(found: Values, target: pa.DataType) -> Values:
    """Cast a value.

    Raises:
        Unequal: its type cannot be cast to the other, or one of the values cannot.
    """
    kind = found.type
    if pa.types.is_nested(kind) or pa.types.is_nested(target):
        raise Unequal(f"{kind} cannot be cast to {target}")
    if pa.types.is_string(target) and not _is_written_alike(kind):
        raise Unequal(f"{kind} cannot be cast to text, since engines write it differently")
    if pa.types.is_floating(kind) and pa.types.is_integer(target):
        found = pc.trunc(found)
    plainly = pa.types.is_string(kind) or pa.types.is_string(target) or pa.types.is_null(kind)
    if not plainly and pa.types.is_temporal(kind) != pa.types.is_temporal(target):
        raise Unequal(f"{kind} cannot be cast to {target}")
    return plain(found.cast(target))


def _is_written_alike(kind: pa.DataType) -> bool:
    known = pa.types
    return bool(
        known.is_string(kind)
        or known.is_integer(kind)
        or known.is_boolean(kind)
        or known.is_date(kind)
        or known.is_null(kind)
        or known.is_decimal(kind)
    )


def _alike(one: Values, other: Values) -> tuple[Values, Values]:
    """Two values in the type that they have in common."""
    if one.type == other.type:
        return one, other
    common = _common(one, other)
    return _as(one, common), _as(other, common)


def _as(found: Values, target: pa.DataType) -> Values:
    if target == INSTANT and pa.types.is_string(found.type) and not _shows_zone(found.as_py()):
        return found.cast(NAIVE).cast(INSTANT)  # the clock is UTC's by default
    return found.cast(target)


def _shows_zone(text: str) -> bool:
    return text.endswith("Z") or any(mark in text[len("2026-01-31") :] for mark in "+-")


def _wide(found: Values) -> Values:
    if pa.types.is_decimal(found.type):
        return found.cast(pa.decimal256(found.type.precision, found.type.scale))
    return found if pa.types.is_floating(found.type) else found.cast(pa.decimal256(19, 0))


def _common(one: Values, other: Values) -> pa.DataType:
    types = [one.type, other.type]
    real = [each for each in types if not pa.types.is_null(each)]
    if len(real) < 2:
        return real[0] if real else pa.bool_()
    if all(map(_is_number, types)):
        return _common_number(types)
    for value, target in ((one, other.type), (other, one.type)):
        # A text in quotes stands for a day or a time where it is held against one.
        if isinstance(value, pa.Scalar) and pa.types.is_string(value.type) and pa.types.is_temporal(target):
            return _moment_type(value.as_py(), target)
    if all(pa.types.is_date(each) or pa.types.is_timestamp(each) for each in types):
        if NAIVE in types and INSTANT in types:
            literal = next((each for each in (one, other) if isinstance(each, pa.Scalar)), None)
            if literal is None:
                raise Unequal("a time with a zone cannot be compared with one that has none")
            return next(each.type for each in (one, other) if each is not literal)
        return INSTANT if INSTANT in types else NAIVE
    raise Unequal(f"{_describe_type(types[0])} cannot be compared with {_describe_type(types[1])}")


def _common_number(types: list[pa.DataType]) -> pa.DataType:
    if any(map(pa.types.is_floating, types)):
        return pa.float64()
    scale = max(each.scale if pa.types.is_decimal(each) else 0 for each in types)
    whole = max(each.precision - each.scale if pa.types.is_decimal(each) else 19 for each in types)
    return pa.decimal256(whole + scale, scale)


def _moment_type(text: str, target: pa.DataType) -> pa.DataType:
    """A text with a clock in it is more than a day, even where it is held against one."""
    if pa.types.is_date(target) and len(text) > len("2026-01-31"):
        return NAIVE
    return target


def _equal(one: Values, other: Values) -> Values:
    found = pc.equal(one, other)
    if pa.types.is_floating(one.type):
        return pc.or_kleene(found, pc.and_(pc.is_nan(one), pc.is_nan(other)))
    return found


def _both(ask: Any, one: Values, other: Values) -> Values:
    return pc.and_(ask(one), ask(other))


def _array(found: Values) -> pa.Array:
    return pa.array([found.as_py()], found.type) if isinstance(found, pa.Scalar) else found


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _describe_type(kind: pa.DataType) -> str:
    return "text" if pa.types.is_string(kind) else str(kind)
