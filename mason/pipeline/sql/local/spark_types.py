"""The types of Spark SQL, as Arrow's: which one a cast names, which two values have in common, which arithmetic gives.

The rules are those of Spark 4, where `spark.sql.ansi.enabled` and `decimalOperations.allowPrecisionLoss` are on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.refusal import unlike_spark
from mason.pipeline.sql.spark_dialect import SparkAsWritten

NOTHING = pa.null()
BOOL = pa.bool_()
BYTE, SHORT, INT, LONG = pa.int8(), pa.int16(), pa.int32(), pa.int64()
FLOAT, DOUBLE = pa.float32(), pa.float64()
TEXT, BINARY = pa.string(), pa.binary()
DATE = pa.date32()
NAIVE, INSTANT = pa.timestamp("us"), pa.timestamp("us", "UTC")

INTEGERS = (BYTE, SHORT, INT, LONG)
MOST_DIGITS = 38
_LEAST_SCALE = 6
_DIGITS = {BYTE: 3, SHORT: 5, INT: 10, LONG: 20}


def is_decimal(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(kind))


def is_integer(kind: pa.DataType) -> bool:
    return kind in INTEGERS


def is_floating(kind: pa.DataType) -> bool:
    return kind in (FLOAT, DOUBLE)


def is_number(kind: pa.DataType) -> bool:
    return is_integer(kind) or is_floating(kind) or is_decimal(kind)


def is_moment(kind: pa.DataType) -> bool:
    return kind in (NAIVE, INSTANT)


def is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind))


def is_map(kind: pa.DataType) -> bool:
    return bool(pa.types.is_map(kind))


def is_struct(kind: pa.DataType) -> bool:
    return bool(pa.types.is_struct(kind))


def as_decimal(kind: pa.DataType) -> pa.DataType:
    """Return the decimal that holds every value of an integer."""
    return kind if is_decimal(kind) else pa.decimal128(_DIGITS[kind], 0)


def literal_decimal(text: str) -> pa.DataType:
    """Return the decimal that holds just the digits of a number that stands in the statement."""
    whole, _, fraction = text.lstrip("-").partition(".")
    return pa.decimal128(max(len(whole.lstrip("0")) + len(fraction), 1), len(fraction))


def widest(kinds: Iterable[pa.DataType]) -> pa.DataType | None:
    """Return the type that values of all these types have in common; None if there is none."""
    found = NOTHING
    for kind in kinds:
        both = common(found, kind)
        if both is None:
            return None
        found = both
    return found


def common(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return the type that values of two types have in common; None if there is none."""
    if one == other or other == NOTHING:
        return one
    if one == NOTHING:
        return other
    if TEXT in (one, other):
        return _beside_text(other if one == TEXT else one)
    if is_number(one) and is_number(other):
        return _common_number(one, other)
    if {one, other} <= {DATE, NAIVE, INSTANT}:
        return INSTANT if INSTANT in (one, other) else NAIVE
    return _common_nested(one, other)


def _beside_text(kind: pa.DataType) -> pa.DataType | None:
    if is_integer(kind):
        return LONG
    if is_number(kind):
        return DOUBLE
    return kind if kind in (DATE, NAIVE, INSTANT, BOOL, BINARY) else None


def _common_number(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if is_floating(one) or is_floating(other):
        return FLOAT if one == other == FLOAT else DOUBLE
    if is_integer(one) and is_integer(other):
        return max(one, other, key=lambda kind: kind.bit_width)
    first, second = as_decimal(one), as_decimal(other)
    scale = max(first.scale, second.scale)
    whole = max(first.precision - first.scale, second.precision - second.scale)
    return pa.decimal128(min(whole + scale, MOST_DIGITS), min(scale, max(MOST_DIGITS - whole, 0)))


def _common_nested(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    if is_list(one) and is_list(other):
        inner = common(one.value_type, other.value_type)
        return None if inner is None else pa.list_(inner)
    if is_map(one) and is_map(other):
        key, item = common(one.key_type, other.key_type), common(one.item_type, other.item_type)
        return None if key is None or item is None else pa.map_(key, item)
    if is_struct(one) and is_struct(other) and [each.name for each in one] == [each.name for each in other]:
        kinds = [common(mine.type, theirs.type) for mine, theirs in zip(one, other, strict=True)]
        return None if None in kinds else pa.struct(list(zip((each.name for each in one), kinds, strict=True)))
    return None


def sum_of(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return the decimal of a sum or a difference."""
    scale = max(one.scale, other.scale)
    return _fit_decimal(max(one.precision - one.scale, other.precision - other.scale) + scale + 1, scale)


def product_of(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return the decimal of a product."""
    return _fit_decimal(one.precision + other.precision + 1, one.scale + other.scale)


def quotient_of(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return the decimal of a quotient."""
    scale = max(_LEAST_SCALE, one.scale + other.precision + 1)
    return _fit_decimal(one.precision - one.scale + other.scale + scale, scale)


def remainder_of(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return the decimal of a remainder."""
    scale = max(one.scale, other.scale)
    return _fit_decimal(min(one.precision - one.scale, other.precision - other.scale) + scale, scale)


def round_decimal_type(kind: pa.DataType, scale: int) -> pa.DataType:
    """Return the decimal of a decimal that is rounded to so many digits after the point."""
    whole = kind.precision - kind.scale + 1
    if scale < 0:
        return pa.decimal128(min(max(whole, 1 - scale), MOST_DIGITS), 0)
    digits = min(kind.scale, scale)
    return pa.decimal128(min(whole + digits, MOST_DIGITS), digits)


def total_of(kind: pa.DataType) -> pa.DataType:
    """Return the type of the sum of many values."""
    if is_decimal(kind):
        return pa.decimal128(min(kind.precision + 10, MOST_DIGITS), kind.scale)
    return LONG if is_integer(kind) else DOUBLE


def mean_of(kind: pa.DataType) -> pa.DataType:
    """Return the type of the mean of many values."""
    if is_decimal(kind):
        return pa.decimal128(min(kind.precision + 4, MOST_DIGITS), min(kind.scale + 4, MOST_DIGITS))
    return DOUBLE


def _fit_decimal(digits: int, scale: int) -> pa.DataType:
    """The decimal of so many digits; where they are too many, those after the point go first, down to six."""
    if digits > MOST_DIGITS:
        scale = max(MOST_DIGITS - (digits - scale), min(scale, _LEAST_SCALE))
    return pa.decimal128(min(digits, MOST_DIGITS), scale)


_TYPE = exp.DataType.Type
_SCALARS = {
    _TYPE.BOOLEAN: st.BOOL,
    _TYPE.TINYINT: st.BYTE,
    _TYPE.SMALLINT: st.SHORT,
    _TYPE.INT: st.INT,
    _TYPE.BIGINT: st.LONG,
    _TYPE.FLOAT: st.FLOAT,
    _TYPE.DOUBLE: st.DOUBLE,
    _TYPE.TEXT: st.TEXT,
    _TYPE.BINARY: st.BINARY,
    _TYPE.DATE: st.DATE,
    _TYPE.TIMESTAMPNTZ: st.NAIVE,
    _TYPE.TIMESTAMPLTZ: st.INSTANT,
    _TYPE.TIMESTAMPTZ: st.INSTANT,
    _TYPE.TIMESTAMP: st.INSTANT,
}


def type_in_statement(kind: Any) -> pa.DataType:
    """Return a type that stands in a statement of Spark SQL.

    Raises:
        BadQuery: the local engine has no such type.
    """
    if kind.this == _TYPE.DECIMAL:
        digits, scale, *_ = [*(int(each.name) for each in kind.expressions), 0, 0]
        return pa.decimal128(digits or 10, scale if digits else 0)
    if kind.this == _TYPE.ARRAY and kind.expressions:
        return pa.list_(type_in_statement(kind.expressions[0]))
    if kind.this == _TYPE.MAP and len(kind.expressions) == 2:
        return pa.map_(*map(type_in_statement, kind.expressions))
    if kind.this == _TYPE.STRUCT:
        return pa.struct([(each.name, type_in_statement(each.args["kind"])) for each in kind.expressions])
    if kind.this in _SCALARS and not kind.expressions:
        return _SCALARS[kind.this]
    raise unlike_spark(f'type "{kind.sql(dialect=SparkAsWritten)}"')
