"""Values into a type that the user gave: what does not fit is told value by value, since nothing wider may be chosen.

The rules are laxer than those by which Mason chooses a type itself: who asks for an integer gets 7 for "007".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.types.zones import text_instants

_NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = rf"{_DAY}([ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]{{1,6}})?)?)?"
_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_ZONE = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
_TRUE = ("true", "t", "yes", "y", "1")
_FALSE = ("false", "f", "no", "n", "0")

Convert = Callable[[Any], pa.Array]


@dataclass(frozen=True)
class Fitted:
    """Values in a type; those that are `bad` do not fit it, and are null."""

    values: pa.Array
    bad: pa.Array | None = None


def fit_given_text(values: pa.Array, target: pa.DataType, timezone: str) -> Fitted:
    """Return text as values of the type."""
    if pa.types.is_string(target):
        return Fitted(values)
    trimmed = pc.utf8_trim_whitespace(values)
    pattern = _pattern(target, timezone)
    likely = pc.fill_null(pc.match_substring_regex(trimmed, f"(?i)^({pattern})$"), False)
    candidates = pc.if_else(likely, trimmed, pa.scalar(None, pa.string()))
    return _with_bad(values, _piecewise(candidates, lambda part: _convert(part, target, timezone), target))


def fit_given_values(values: Sequence[Any], convert: Convert, target: pa.DataType) -> Fitted:
    """Return values of a typed format in the type; `convert` takes a part of them."""
    fitted = _piecewise(values, convert, target)
    missing = values.is_null() if isinstance(values, pa.Array) else pa.array([value is None for value in values])
    bad = pc.and_(pc.is_null(fitted), pc.invert(missing))
    return Fitted(fitted, bad if pc.any(bad).as_py() else None)


def unite_fitted(parts: Sequence[Fitted]) -> Fitted:
    """Return the values of parts of a column: in each row at most one of them has one, or one that is bad."""
    masks = [each.bad for each in parts if each.bad is not None]
    return Fitted(pc.coalesce(*(each.values for each in parts)), reduce(pc.or_, masks) if masks else None)


def _with_bad(before: pa.Array, after: pa.Array) -> Fitted:
    if before.null_count == after.null_count:
        return Fitted(after)
    return Fitted(after, pc.and_(pc.is_null(after), pc.is_valid(before)))


def _piecewise(values: Any, convert: Convert, target: pa.DataType) -> pa.Array:
    """Convert values; where some cannot be, find them by halving, and leave null in their place."""
    return pa.concat_arrays(_pieces(values, convert, target))


def _pieces(values: Any, convert: Convert, target: pa.DataType) -> list[pa.Array]:
    try:
        return [convert(values)]
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        if len(values) <= 1:
            return [pa.nulls(len(values), target)]
    middle = len(values) // 2
    return [*_pieces(values[:middle], convert, target), *_pieces(values[middle:], convert, target)]


def _pattern(target: pa.DataType, timezone: str) -> str:
    if pa.types.is_integer(target):
        return "[+-]?[0-9]+"
    if pa.types.is_floating(target):
        return rf"{_NUMBER}(e[+-]?[0-9]+)?|[+-]?(nan|inf|infinity)"
    if pa.types.is_decimal(target):
        return _NUMBER
    if pa.types.is_boolean(target):
        return "|".join((*_TRUE, *_FALSE))
    if pa.types.is_date(target):
        return _DAY
    if pa.types.is_timestamp(target):
        return f"{_TIME}({_ZONE}{'?' if timezone else ''})" if target.tz else _TIME
    return _CLOCK if pa.types.is_time(target) else ".*"


def _convert(values: pa.Array, target: pa.DataType, timezone: str) -> pa.Array:
    if pa.types.is_boolean(target):
        return _booleans(values)
    if pa.types.is_timestamp(target) and target.tz and timezone:
        return text_instants(values, timezone)
    if pa.types.is_timestamp(target) or pa.types.is_date(target) or pa.types.is_binary(target):
        return values.cast(target)
    if pa.types.is_time(target):  # Arrow reads no time of day, but one of a day
        return pc.binary_join_element_wise("1970-01-01", values, " ").cast(pa.timestamp("us")).cast(target)
    if pa.types.is_nested(target):
        raise pa.ArrowInvalid("text is nothing nested")
    converted = pc.replace_substring_regex(values, r"^\+", "").cast(target)
    if pa.types.is_floating(target):
        _check_size(values, converted)
    return converted


def _check_size(values: pa.Array, converted: pa.Array) -> None:
    """Arrow makes infinity of 1e400: only what says infinity may be it."""
    named = pc.match_substring_regex(values, "(?i)^[+-]?inf")
    if pc.any(pc.and_(pc.is_inf(converted), pc.invert(named))).as_py():
        raise pa.ArrowInvalid("it is too large")


def _booleans(values: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_valid(values), pc.is_in(pc.utf8_lower(values), value_set=pa.array(_TRUE)), None)


WORDS: Mapping[int, str] = {
    pa.int64().id: "a bigint",
    pa.int32().id: "an int",
    pa.int16().id: "a smallint",
    pa.int8().id: "a tinyint",
    pa.float64().id: "a double",
    pa.float32().id: "a float",
    pa.bool_().id: "a boolean",
    pa.date32().id: "a date",
    pa.time64("us").id: "a time",
}


def describe_type(target: pa.DataType) -> str:
    """Return a type as a message says it."""
    return WORDS.get(target.id, f"a {target}")
