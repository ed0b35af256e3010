"""Dates, moments of any year and lengths of time as text, and back.

Parquet holds years that neither Python nor Arrow has words for. Every 400 years the calendar is the same again, so a
far day is computed from a near one, and the years between them.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

_YEARS = 400
_DAYS = 146_097
_SECONDS = 24 * 60 * 60
_IN_A_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_BEGINS_WITH_YEAR = re.compile(r"(-?[0-9]{4,})(-.*)")
_LAST_YEAR = 32_767  # beyond, Arrow writes no date, or another year


def is_day_or_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def any_year_text(value: pa.Scalar) -> str:
    """Return a date or a moment of any year as Arrow writes it: 10183-09-21, -0221-09-04 12:30:00.000000."""
    cycles, rest = divmod(value.value, _cycle(value.type))
    near = pa.scalar(rest, _number_kind(value.type)).cast(value.type).cast(pa.string()).as_py()
    year = int(near[:4]) + cycles * _YEARS
    return f"{'-' * (year < 0)}{abs(year):04}{near[4:]}"


def times_of_text(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return text, as Arrow writes dates and moments, as these.

    Raises:
        pa.ArrowInvalid: some text is none.
    """
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:  # it writes more years than it reads
        near = [None if each is None else _near(each) for each in texts.to_pylist()]
    days = pa.array([each and each[0] for each in near], pa.string()).cast(kind).cast(_number_kind(kind))
    cycles = pa.array([each and each[1] for each in near], pa.int64())
    moved = pc.add_checked(days.cast(pa.int64()), pc.multiply_checked(cycles, _cycle(kind)))
    return moved.cast(_number_kind(kind)).cast(kind)


def check_written(values: pa.Array) -> pa.Array:
    """Return dates or moments if Arrow writes each of them as what it is.

    Raises:
        ValueError: it does not write some year.
    """
    for end in pc.min_max(values).values():
        text = any_year_text(end) if end.is_valid else ""
        found = _BEGINS_WITH_YEAR.fullmatch(text)
        if found and abs(int(found[1])) > _LAST_YEAR:
            raise ValueError(f"{text} is in a year that text does not hold; Parquet does.")
    return values


def _near(text: str) -> tuple[str, int]:
    """A text with a year that Arrow reads, and by how many times 400 years it is another one."""
    found = _BEGINS_WITH_YEAR.fullmatch(text)
    if not found:
        return text, 0
    cycles, year = divmod(int(found[1]) - 2000, _YEARS)
    return f"{year + 2000}{found[2]}", cycles


def _cycle(kind: pa.DataType) -> int:
    """How much larger the number of a day is after 400 years."""
    if pa.types.is_date32(kind):
        return _DAYS
    return _DAYS * _SECONDS * _IN_A_SECOND["ms" if pa.types.is_date64(kind) else kind.unit]


def _number_kind(kind: pa.DataType) -> pa.DataType:
    return pa.int32() if pa.types.is_date32(kind) else pa.int64()


_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def duration_texts(values: pa.Array) -> pa.Array:
    """Return lengths of time as hours, minutes and seconds, with as many decimals as there are."""
    per_second = _PER_SECOND[values.type.unit]
    counts = values.cast(pa.int64()).to_pylist()
    return pa.array([None if each is None else _text(each, per_second) for each in counts], pa.string())


def _text(count: int, per_second: int) -> str:
    seconds, rest = divmod(abs(count), per_second)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    decimals = f".{rest:0{len(str(per_second)) - 1}}".rstrip("0") if rest else ""
    return f"{'-' if count < 0 else ''}{hours:02}:{minute:02}:{second:02}{decimals}"
