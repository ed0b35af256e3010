"""Which type the text of a column has: only one from which the text, or at least its value, comes back the same.

| text | type |
|---|---|
| `0`, `-17` | int64; beyond it decimal128(38, 0), beyond 38 digits text |
| `1.50`, `2.25`: one scale | decimal128(18, 2), beyond 18 digits decimal128(38, 2): the same text comes back |
| `1.5`, `2.25`, `3`: several scales, up to 4 | decimal128(18, 2): the same number comes back |
| `0.1`, `0.12345`: several scales, larger | double if it gives each number back, else decimal: the number comes back |
| `true`, `False`, `TRUE` … | bool; `0`, `1`, `yes`, `no` are not |
| `2024-02-29` | date32, if the calendar has that day |
| `2024-02-29 10:00`, `…T10:00:00.123` | timestamp[us]; with more than six decimals text, as it would lose them |
| `…T10:00:00Z`, `… 10:00:00+02:00` | timestamp[us, tz=UTC]: the same instant comes back, in UTC |
| `00501`, `+5`, `-0`, `1e5`, `1_000`, `.5`, `5.`, ` 5`, `NaN`, `inf` | text: a number would come back differently |

An empty field is null; so are the words that the user names. A quoted empty field is text.

Values of delimited text that are taken as they are written, or not quite: what a user may not expect is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache, reduce

import pyarrow as pa

from mason.pipeline.types.column_types import INSTANT, NAIVE, NOTHING, TEXT, Evidence, decide, merge
from mason.pipeline.types.number_types import EXACT_IN_DOUBLE, MAX_PRECISION, SHORT_DECIMAL, Digits

_BOOLEANS = frozenset(["true", "false", "True", "False", "TRUE", "FALSE"])
_INTEGER = re.compile(r"0|-?[1-9][0-9]*").fullmatch
_FRACTION = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+").fullmatch
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch
_NAIVE_PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_NAIVE = re.compile(_NAIVE_PATTERN).fullmatch
_ZONED = re.compile(_NAIVE_PATTERN + r"(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)").fullmatch

BOOLEANS = Evidence(frozenset([pa.bool_()]))
DATES = Evidence(frozenset([pa.date32()]))
NAIVE_TIMES = Evidence(frozenset([NAIVE]))
INSTANTS = Evidence(frozenset([INSTANT]))
SHORT_INTEGERS = Evidence(frozenset([Digits(EXACT_IN_DOUBLE, 0)]))


def classify(values: Sequence[str], nulls: Collection[str] = ()) -> Evidence:
    """Return what the text of a column says of its type; empty values and the words in `nulls` are null."""
    present = [value for value in values if value and value not in nulls] if nulls else list(filter(None, values))
    if not present:
        return NOTHING
    return _classify_alike(present) or _classify_each(present)


def integer(number: int) -> Evidence:
    """Return what one integer says of its column's type."""
    if -(2**63) <= number < 2**63:
        return _digits(min(len(str(abs(number))), 19), 0, fit_double=abs(number) <= 2**53)
    return _digits(max(len(str(abs(number))), 20), 0, fit_double=False)


def _classify_alike(present: list[str]) -> Evidence | None:
    """All values by the kind of the first: nearly every column is of one kind, and this is the fast way to see it."""
    first = present[0]
    if first in _BOOLEANS:
        return BOOLEANS if _BOOLEANS.issuperset(present) else None
    for matches, evidence_of in _KINDS:
        if matches(first):
            return evidence_of(present) if all(map(matches, present)) else None
    return TEXT


def _classify_each(present: list[str]) -> Evidence:
    """All values one by one, until one is text: then the column is."""
    seen = NOTHING
    for value in present:
        kind = _classify_alike([value]) or TEXT
        if kind is TEXT:
            return TEXT
        seen = seen if kind.scalars <= seen.scalars else merge(seen, kind)
    return seen


def _integers(present: list[str]) -> Evidence:
    longest = max(map(len, present))
    if longest <= EXACT_IN_DOUBLE:
        return SHORT_INTEGERS
    if longest > MAX_PRECISION + 1:
        return TEXT
    return reduce(merge, map(integer, map(int, present)))


def _fractions(present: list[str]) -> Evidence:
    if max(map(len, present)) <= EXACT_IN_DOUBLE + 1:
        scales = {len(value) - value.index(".") - 1 for value in present}
        return reduce(merge, (_digits(1, scale, fit_double=True) for scale in scales))
    return reduce(merge, map(_fraction, present))


def _fraction(value: str) -> Evidence:
    whole, scale = map(len, value.lstrip("-").split("."))
    same = whole + scale <= EXACT_IN_DOUBLE or Decimal(repr(float(value))) == Decimal(value)
    return _digits(whole, scale, fit_double=same)


@cache
def _digits(whole: int, scale: int, *, fit_double: bool) -> Evidence:
    """Round the precision up to 15 or 18 digits: then files do not differ by the length of their longest number."""
    if whole + scale > MAX_PRECISION:
        return TEXT
    room = EXACT_IN_DOUBLE if whole + scale <= EXACT_IN_DOUBLE else SHORT_DECIMAL
    return Evidence(frozenset([Digits(max(whole, room - scale), scale, fit_double)]))


def _dates(present: list[str]) -> Evidence:
    return DATES if _parses(date.fromisoformat, present) else TEXT


def _naive_times(present: list[str]) -> Evidence:
    return NAIVE_TIMES if _parses(datetime.fromisoformat, present) else TEXT


def _instants(present: list[str]) -> Evidence:
    return INSTANTS if _parses(datetime.fromisoformat, present) else TEXT


def _parses(parse: Callable[[str], object], present: list[str]) -> bool:
    """The pattern is right, but is there such a day?"""
    try:
        for value in set(present):
            parse(value)
    except ValueError:
        return False
    return True


_KINDS: Sequence[tuple[Callable[[str], object], Callable[[list[str]], Evidence]]] = (
    (_INTEGER, _integers),
    (_FRACTION, _fractions),
    (_DATE, _dates),
    (_NAIVE, _naive_times),
    (_ZONED, _instants),
)


_LEAST_VALUES = 2
_MINUS_ZEROS = frozenset("-0." + "0" * digits for digits in range(1, 19))


def describe_odd_spellings(columns: Sequence[Sequence[str]], seen: Sequence[Evidence], quote: str) -> dict[int, str]:
    """Return what is to be said of columns, by their numbers, that look otherwise in a table, or may be expected to."""
    notes = {}
    for number, (values, evidence) in enumerate(zip(columns, seen, strict=True)):
        if evidence is TEXT and quote != "'" and _are_wrapped(values):
            notes[number] = """has values in ' quotes, which are part of them (quote:"'" takes them off)"""
        elif _has_decimals(evidence) and not _MINUS_ZEROS.isdisjoint(values) and pa.types.is_decimal(decide(evidence)):
            notes[number] = "has -0.0, which is 0.0 in a decimal (the type double keeps the sign)"
    return notes


def _has_decimals(evidence: Evidence) -> bool:
    return any(isinstance(each, Digits) and each.scale for each in evidence.scalars)


def _are_wrapped(values: Sequence[str]) -> bool:
    if not any(value[:1] == "'" for value in values[:_LEAST_VALUES]):
        return False
    present = list(filter(None, values))
    return len(present) >= _LEAST_VALUES and all(len(value) > 1 and value[0] == "'" == value[-1] for value in present)
