"""Functions of dates and moments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.refusal import does_not_fit, unlike_spark
from mason.pipeline.sql.local.values import Typed, call, convert_value, describe_type, number, plain_cast, text

if TYPE_CHECKING:
    from mason.pipeline.sql.local.expressions import Expressions

_I, _L, _DATE = st.INT, st.LONG, st.DATE
_PARTS_OF_DATES = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "day": "day",
    "dayofmonth": "day",
    "dayofyear": "dayofyear",
    "weekofyear": "weekofyear",
}
_PARTS = {  # the words of extract and date_part
    **dict.fromkeys(("year", "y", "years", "yr", "yrs"), "year"),
    **dict.fromkeys(("quarter", "qtr"), "quarter"),
    **dict.fromkeys(("month", "mon", "mons", "months"), "month"),
    **dict.fromkeys(("week", "w", "weeks"), "weekofyear"),
    **dict.fromkeys(("day", "d", "days"), "day"),
    **dict.fromkeys(("dayofweek", "dow"), "dayofweek"),
    **dict.fromkeys(("doy",), "dayofyear"),
    **dict.fromkeys(("hour", "h", "hours", "hr", "hrs"), "hour"),
    **dict.fromkeys(("minute", "m", "min", "mins", "minutes"), "minute"),
    **dict.fromkeys(("second", "s", "sec", "seconds", "secs"), "seconds"),
}
_UNITS = {
    **dict.fromkeys(("year", "yyyy", "yy"), "year"),
    "quarter": "quarter",
    **dict.fromkeys(("month", "mon", "mm"), "month"),
    "week": "week",
}
_UNITS_OF_MOMENTS = {
    **_UNITS,
    **dict.fromkeys(("day", "dd"), "day"),
    **{each: each for each in ("hour", "minute", "second")},
}
_PATTERNS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_LETTERS = re.compile(r"([A-Za-z])\1*|'")


def plain(make: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the functions whose arguments have fixed types."""
    return {
        **{name: make(theirs, [_DATE], _I) for name, theirs in _PARTS_OF_DATES.items()},
        "dayofweek": make("spark_dayofweek", [_DATE], _I),
        "weekday": make("spark_weekday", [_DATE], _I),
        "dayname": make("strftime", [_DATE, st.TEXT], st.TEXT, [text("%a")]),
        "monthname": make("strftime", [_DATE, st.TEXT], st.TEXT, [text("%b")]),
        "last_day": make("last_day", [_DATE], _DATE),
        "add_months": make("spark_add_months", [_DATE, _I], _DATE),
        "make_date": make("make_date", [_L, _L, _L], _DATE),
        "unix_date": make("spark_days", [_DATE], _I),
        "date_from_unix_date": make("spark_day", [_I], _DATE),
        "unix_seconds": make("spark_seconds", [st.INSTANT], _L),
        "unix_millis": make("spark_millis", [st.INSTANT], _L),
        "unix_micros": make("epoch_us", [st.INSTANT], _L),
        "timestamp_seconds": make("spark_moment", [_L, _L], st.INSTANT, [number(1_000_000)]),
        "timestamp_millis": make("spark_moment", [_L, _L], st.INSTANT, [number(1000)]),
        "timestamp_micros": make("spark_moment", [_L, _L], st.INSTANT, [number(1)]),
        **dict.fromkeys(("current_date", "curdate"), make("current_date", [], _DATE)),
        **dict.fromkeys(("current_timestamp", "now"), make("now", [], st.INSTANT)),
    }


def _part(name: str) -> Callable[[Sequence[Any], Expressions], Typed]:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        (value,) = (_moment(within.type_expression(each)) for each in arguments)
        return Typed(plain_cast(call(name, value), _I), _I)

    return build


def _moment(value: Typed) -> Any:
    """A value as a moment that DuckDB takes apart: one in UTC where it has a zone."""
    if value.kind == st.INSTANT:
        return plain_cast(value.node, st.NAIVE)
    return value.node if value.kind == st.NAIVE else plain_cast(convert_value(value, st.INSTANT), st.NAIVE)


def _date_part(arguments: Sequence[Any], within: Expressions) -> Typed:
    word, value = arguments
    name = _PARTS.get(word.name.lower()) if isinstance(word, exp.Literal) else None
    if name is None:
        raise unlike_spark(f'part "{word.name}" of a moment')
    if name == "seconds":
        return Typed(call("spark_second_part", _moment(within.type_expression(value))), pa.decimal128(8, 6))
    return within.type_expression(exp.Anonymous(this=name, expressions=[value]))


def _date_diff(arguments: Sequence[Any], within: Expressions) -> Typed:
    later, earlier = (within.as_kind(each, _DATE) for each in arguments)
    return Typed(plain_cast(call("date_diff", text("day"), earlier, later), _I), _I)


def _date_add(sign: type) -> Callable[[Sequence[Any], Expressions], Typed]:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        date, days = arguments
        count = within.type_expression(days)
        if not st.is_integer(count.kind) or count.kind == _L:
            raise does_not_fit(f"Days are counted by an int, not by {describe_type(count.kind)}")
        node = sign(this=within.as_kind(date, _DATE), expression=plain_cast(count.node, _I))
        return Typed(plain_cast(node, _DATE), _DATE)

    return build


def _trunc(arguments: Sequence[Any], within: Expressions) -> Typed:
    date, word = arguments
    unit = _unit(word, _UNITS)
    return Typed(plain_cast(call("date_trunc", text(unit), within.as_kind(date, _DATE)), _DATE), _DATE)


def _date_trunc(arguments: Sequence[Any], within: Expressions) -> Typed:
    word, moment = arguments
    unit, value = _unit(word, _UNITS_OF_MOMENTS), _moment(within.type_expression(moment))
    return Typed(plain_cast(call("date_trunc", text(unit), value), st.INSTANT), st.INSTANT)


def _unit(word: Any, units: Mapping[str, str]) -> str:
    unit = units.get(word.name.lower()) if isinstance(word, exp.Literal) else None
    if unit is None:
        raise unlike_spark(f'unit "{word.name}" of dates')
    return unit


def _unix_timestamp(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = (within.type_expression(each) for each in arguments)
    if value.kind not in (_DATE, st.NAIVE, st.INSTANT):
        raise unlike_spark(f'"unix_timestamp" of {describe_type(value.kind)}')
    return Typed(call("spark_cut_seconds", convert_value(value, st.INSTANT)), _L)


def _from_unixtime(arguments: Sequence[Any], within: Expressions) -> Typed:
    seconds, *pattern = arguments
    form = pattern_of(pattern[0])[0] if pattern else "%Y-%m-%d %H:%M:%S"
    moment = plain_cast(call("spark_moment", within.as_kind(seconds, _L), number(1_000_000)), st.NAIVE)
    return Typed(call("strftime", moment, text(form)), st.TEXT)


def _date_format(arguments: Sequence[Any], within: Expressions) -> Typed:
    moment, pattern = arguments
    return Typed(call("strftime", _moment(within.type_expression(moment)), text(pattern_of(pattern)[0])), st.TEXT)


def _parse_as(kind: pa.DataType) -> Callable[[Sequence[Any], Expressions], Typed]:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        value, *pattern = arguments
        if not pattern:
            return Typed(within.as_kind(value, kind), kind)
        if within.type_expression(value.copy()).kind != st.TEXT:
            raise unlike_spark("pattern for what is not text")
        theirs, shape = pattern_of(pattern[0])
        parsed = call("spark_parsed", within.as_kind(value, st.TEXT), text(shape), text(theirs))
        return Typed(plain_cast(parsed, kind), kind)

    return build


def pattern_of(pattern: Any) -> tuple[str, str]:
    """Return a pattern of Spark as DuckDB has it, and the regular expression of the texts that it reads.

    Raises:
        BadQuery: it has letters whose meaning differs between the two.
    """
    words = [each.group() for each in _LETTERS.finditer(pattern.name)] if isinstance(pattern, exp.Literal) else [""]
    if any(word not in _PATTERNS for word in words) or "%" in pattern.name:
        raise unlike_spark(f'pattern "{pattern.name}"', f", only {', '.join(_PATTERNS)}")
    theirs = _LETTERS.sub(lambda found: _PATTERNS[found.group()], pattern.name)
    shape = _LETTERS.sub(lambda found: f"[0-9]{{{len(found.group())}}}", re.sub(r"[.]", r"\\.", pattern.name))
    return theirs, shape


SPECIAL: Mapping[str, Callable[[Sequence[Any], Expressions], Typed]] = {
    **{name: _part(name) for name in ("hour", "minute", "second")},
    "date_part": _date_part,
    "datepart": _date_part,
    "datediff": _date_diff,
    "date_diff": _date_diff,
    **dict.fromkeys(("date_add", "dateadd"), _date_add(exp.Add)),
    "date_sub": _date_add(exp.Sub),
    "trunc": _trunc,
    "date_trunc": _date_trunc,
    "unix_timestamp": _unix_timestamp,
    "from_unixtime": _from_unixtime,
    "date_format": _date_format,
    "to_date": _parse_as(_DATE),
    "to_timestamp": _parse_as(st.INSTANT),
}
