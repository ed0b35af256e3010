"""What can be said of a row by itself: for each such check a mask of the rows that fail it.

As in SQL, a check that has nothing to look at is not failed: a null is of no wrong value, in no wrong range and of no
wrong form. That it is there at all is what `not_null` is for. NaN is a value, and lies in no range. Patterns run in
RE2: what they cost grows with the text alone, whatever the expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.jobs.check.checks import BadCheck, Check
from mason.pipeline.jobs.check.literals import MOST_INTEGER, describe_type, number_of, value_of
from mason.pipeline.jobs.format import values


def whole_match(pattern: str) -> str:
    """Return the expression for texts that match from their first to their last character.

    Raises:
        BadCheck: it is none; the message says where.
    """
    try:
        pc.match_substring_regex(pa.array([""]), pattern=pattern)
    except pa.ArrowInvalid as error:
        place, reason = _place(pattern, str(error))
        message = f'the regular expression "{pattern}" cannot be understood at character {place}: {reason}.'
        raise BadCheck(message) from error
    return rf"\A(?:{pattern})\z"


def _place(pattern: str, said: str) -> tuple[int, str]:
    """Where an expression goes wrong, from 1, and how. RE2 names the piece, and Python, where it agrees, its place."""
    try:
        re.compile(pattern)
    except re.error as error:
        return (error.pos or 0) + 1, error.msg
    reason, _, piece = said.removeprefix("Invalid regular expression: ").partition(": ")
    return max(pattern.find(piece), 0) + 1, f"{reason}: {piece}"


FindFailing = Callable[[pa.RecordBatch], pa.Array]
"""Takes rows and says of each whether it fails; there are no nulls in what it says."""


def find_failing_rows(check: Check, schema: pa.Schema) -> FindFailing:
    """Return what finds the rows that fail a check.

    Raises:
        BadCheck: it cannot be asked of such columns.
    """
    return _MAKERS[check.kind](check, schema)


def any_of(masks: Sequence[pa.Array]) -> pa.Array:
    """Say of each row whether one of the masks has it."""
    return reduce(pc.or_, masks)


def _not_null(check: Check, schema: pa.Schema) -> FindFailing:
    return lambda rows: any_of([pc.is_null(rows.column(name)) for name in check.columns])


def _accept_check(check: Check, schema: pa.Schema) -> FindFailing:
    field = schema.field(check.column)
    accepted = pa.array([value_of(each, field).as_py() for each in check.values], field.type)

    def find(rows: pa.RecordBatch) -> pa.Array:
        found = rows.column(check.column)
        known = pc.is_in(_one_zero(found), value_set=accepted)
        return pc.invert(pc.or_(known, pc.is_null(found)))

    return find


def _one_zero(found: pa.Array) -> pa.Array:
    """Make the two zeros of floating numbers one: they are equal, but have other bits."""
    return pc.add(found, pa.scalar(0.0, found.type)) if pa.types.is_floating(found.type) else found


def _range(check: Check, schema: pa.Schema) -> FindFailing:
    field = schema.field(check.column)
    low = _limit(check.min, field, ROUND_CEILING)
    high = _limit(check.max, field, ROUND_FLOOR)
    if low is not None and high is not None and values.compare_values("greater", low, high).as_py():
        raise BadCheck(f"no value lies between min {check.min} and max {check.max}.")

    def find(rows: pa.RecordBatch) -> pa.Array:
        found = values.plain(rows.column(check.column))
        outside = []
        if low is not None:
            outside.append(values.compare_values("less", found, low))
        if high is not None:
            outside.append(values.compare_values("greater", found, high))
        if pa.types.is_floating(found.type):
            outside.append(pc.is_nan(found))
        return any_of([pc.fill_null(each, False) for each in outside])

    return find


def _limit(text: str, field: pa.Field, rounding: str) -> pa.Scalar | None:
    """A limit as the rows are compared with; between two integers the one that lies inside is as good."""
    if not text:
        return None
    kind = field.type
    if pa.types.is_integer(kind) and kind != pa.uint64():
        number = number_of(text, field)
        whole = int(number.to_integral_value(rounding)) if number.is_finite() else MOST_INTEGER + 1
        if abs(whole) > MOST_INTEGER:
            raise BadCheck(f'"{text}" is not a limit of "{field.name}", which is {describe_type(kind)}.')
        return pa.scalar(whole)
    if pa.types.is_floating(kind):
        return pa.scalar(float(number_of(text, field)))
    if pa.types.is_decimal(kind) or kind == pa.uint64():
        return _decimal(text, field)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return value_of(text, field)
    raise BadCheck(f'"{field.name}" is {describe_type(kind)}, and a range is one of numbers, days or times.')


def _decimal(text: str, field: pa.Field) -> pa.Scalar:
    kind = pa.decimal128(20, 0) if field.type == pa.uint64() else field.type
    try:
        limit = pa.scalar(number_of(text, field))
    except (pa.ArrowException, ValueError, OverflowError):
        raise BadCheck(f'"{text}" is not a limit of "{field.name}", which is {describe_type(field.type)}.') from None
    try:
        return limit.cast(kind)  # then the rows need not be cast
    except pa.ArrowInvalid:
        return limit


def _pattern(check: Check, schema: pa.Schema) -> FindFailing:
    field = schema.field(check.column)
    if not pa.types.is_string(field.type):
        raise BadCheck(f'"{field.name}" is {describe_type(field.type)}, and a regular expression is asked of text.')
    pattern = whole_match(check.pattern)

    def find(rows: pa.RecordBatch) -> pa.Array:
        matches = pc.match_substring_regex(rows.column(check.column), pattern=pattern)
        return pc.fill_null(pc.invert(matches), False)

    return find


_MAKERS: Mapping[str, Callable[[Check, pa.Schema], FindFailing]] = {
    "not_null": _not_null,
    "accepted_values": _accept_check,
    "range": _range,
    "regular_expression": _pattern,
}


def newest(found: pa.Array) -> int | None:
    """Return the newest of some moments in microseconds: days begin at midnight, clocks without a zone are UTC's."""
    latest: Any = pc.max(found)
    if not latest.is_valid:
        return None
    zone = found.type.tz if pa.types.is_timestamp(found.type) else None
    return int(latest.cast(pa.timestamp("us", zone), safe=False).value)
