"""What a text in a check means for a column: a value of the column's own type."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from mason.pipeline.jobs.check.checks import BadCheck

MOST_INTEGER = 2**63 - 1


def value_of(text: str, field: pa.Field) -> pa.Scalar:
    """Return the value that a text stands for in a column.

    Raises:
        BadCheck: the column can hold no such value, or its type is none that values are given of.
    """
    kind = field.type
    try:
        return pa.scalar(_value(text, kind), kind)
    except (ValueError, TypeError, OverflowError, InvalidOperation, pa.ArrowException):
        raise BadCheck(f'"{text}" is not a value of "{field.name}", which is {describe_type(kind)}.') from None


def number_of(text: str, field: pa.Field) -> Decimal:
    """Return the number that a text says.

    Raises:
        BadCheck: it says none.
    """
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise BadCheck(f'"{text}" is not a number, and "{field.name}" is {describe_type(field.type)}.') from None
    if number.is_nan():
        raise BadCheck("NaN is not a limit: no number is below or above it.")
    return number


def describe_type(kind: pa.DataType) -> str:
    return "text" if pa.types.is_string(kind) else str(kind)


def _value(text: str, kind: pa.DataType) -> Any:
    known = pa.types
    if known.is_string(kind):
        return text
    if known.is_boolean(kind):
        return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else _refuse_literal()
    if known.is_integer(kind):
        return int(text)
    if known.is_floating(kind):
        return float(text) + 0.0  # there is but one zero
    if known.is_decimal(kind):
        return Decimal(text)
    if known.is_date(kind):
        return date.fromisoformat(text)
    if known.is_timestamp(kind):
        return _moment(text, kind)
    return _refuse_literal()


def _moment(text: str, kind: pa.TimestampType) -> datetime:
    moment = datetime.fromisoformat(text)
    if kind.tz and moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)  # the clock is UTC's by default
    if not kind.tz and moment.tzinfo is not None:
        raise ValueError("a zone where the column has none")
    return moment


def _refuse_literal() -> Any:
    raise ValueError("no such value")
