"""Columns of text that look like dates, times or numbers in another spelling: which schema would read them so."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.types.value_patterns import fit_pattern

LEAST_VALUES = 2
_MOST_VALUES = 1_000
_LONGEST = 40
_DAYS = (
    *("dd.MM.yyyy", "d.M.yyyy", "dd.MM.yy", "yyyy.MM.dd", "yyyy/MM/dd"),
    *("dd/MM/yyyy", "MM/dd/yyyy", "d/M/yyyy", "M/d/yyyy", "dd/MM/yy", "MM/dd/yy", "dd-MM-yyyy", "MM-dd-yyyy"),
    *(
        "dd-MMM-yyyy",
        "d-MMM-yyyy",
        "dd-MMM-yy",
        "dd MMM yyyy",
        "d MMM yyyy",
        "d MMMM yyyy",
        "MMM d, yyyy",
        "MMMM d, yyyy",
    ),
)
_CLOCKS = ("HH:mm:ss", "HH:mm", "H:mm:ss", "H:mm", "hh:mm:ss a", "hh:mm a", "h:mm:ss a", "h:mm a")
_NUMBERS = ("de", "en", "fr", "ch", "1234,56", "1234.56")
_SIGN = r"(?:[€$£¥₹₽₩%]|EUR|USD|GBP|CHF|JPY|[A-Z]?kr|zł|Kč)"
_NUMBER = re.compile(
    rf"-?(?P<before>{_SIGN}[ \u00a0]?)?(?P<number>[0-9](?:[0-9.,'’ \u00a0\u202f]*[0-9])?)(?P<behind>[ \u00a0]?{_SIGN})?"
).fullmatch
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_DAY = re.compile(
    rf"[0-9]{{1,4}}[./ -](?:[0-9]{{1,2}}|{_MONTH})[./ -][0-9]{{2,4}}(?: .*)?|{_MONTH} [0-9].*", re.IGNORECASE
).fullmatch
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: [AaPp][Mm])?").fullmatch
_MARK = re.compile(r"[0-9][.,'’ \u00a0\u202f][0-9]").search
_MAY_BE_THOUSANDS = re.compile(r"0|-?[1-9][0-9]{0,2}(?:\.[0-9]{3})?").fullmatch
_PLAIN_NAME = re.compile(r"[^\W\d]\w*").fullmatch


@dataclass(frozen=True)
class PatternHint:
    """The type and the pattern that all values of a text fit, and others that they fit as well."""

    type: str
    pattern: str
    others: tuple[str, ...] = ()

    def declare(self, column: str) -> str:
        """Return the declaration of a column, as a schema has it."""
        return f"{_name(column)} {self.type} '{self.pattern.replace(chr(39), 2 * chr(39))}'"


def find_hint(values: Sequence[str], nulls: Collection[str]) -> PatternHint | None:
    """Return how values that are text could be read, if all of them are written alike.

    The first of them tells whether that is worth a look: most text is not.
    """
    present = list(islice((value for value in values if value and value not in nulls), _MOST_VALUES))
    if len(present) < LEAST_VALUES or len(present[0]) > _LONGEST:
        return None
    if _CLOCK(present[0]):
        return _first_fitting([("time", pattern, pa.time64("us")) for pattern in _CLOCKS], present)
    if _DAY(present[0]):
        with_clock = ":" in present[0]
        days = [f"{day} {clock}" for day in _DAYS for clock in _CLOCKS] if with_clock else _DAYS
        kind, target = ("timestamp", pa.timestamp("us")) if with_clock else ("date", pa.date32())
        found = _first_fitting([(kind, pattern, target) for pattern in days], present)
        if found:
            return found
    number = _NUMBER(present[0])
    return _number_hint(number, present) if number else None


def find_thousands(values: Sequence[str], nulls: Collection[str]) -> str | None:
    """Return the first number with a point, if each point among numbers could mark thousands as well as decimals.

    "" stands for no points at all, None for values that tell: 0.125, 1.5 or 1000 are not written with such marks.
    """
    present = [value for value in values if value and value not in nulls]
    if not all(map(_MAY_BE_THOUSANDS, present)):
        return None
    return next((value for value in present if "." in value), "")


def describe_thousands(
    found: Mapping[str, Mapping[str, str]], columns: Mapping[str, Collection[str]], settled: Collection[str] = ()
) -> list[str]:
    """Return what is to be said of numbers that are a thousand times as large in another spelling.

    `found` is what each delimited file says of its columns, `columns` are those that it has. A value in one file tells
    it of all.
    """
    names = dict.fromkeys(name for each in found.values() for name, value in each.items() if value)
    notes = []
    for name in names:
        values = [each.get(name) for file, each in found.items() if name in columns[file]]
        if name in settled or None in values:
            continue
        value = next(filter(None, values))
        doubt = f"each of its points could mark thousands as well ({value} could be {value.replace('.', '')})"
        cure = f"{_name(name)} decimal(18,3), or for thousands {_name(name)} bigint 'de'"
        notes.append(f'Column "{name}" is read with decimals, but {doubt}: no value tells. A schema does: {cure}.')
    return notes


def describe_hints(hints: Mapping[str, Mapping[str, PatternHint]], columns: Mapping[str, Collection[str]]) -> list[str]:
    """Return the sentence that offers a schema, by the hints and the columns of each file.

    A column is in it if all files that have it suggest the same.
    """
    united: dict[str, PatternHint] = {}
    for found in hints.values():
        united = {**found, **united}
    agreed = {
        name: hint
        for name, hint in united.items()
        if all(hints.get(file, {}).get(name) == hint for file, names in columns.items() if name in names)
    }
    if not agreed:
        return []
    line = ", ".join(hint.declare(name) for name, hint in agreed.items())
    doubts = [f'"{name}" could be {" or ".join(hint.others)} as well' for name, hint in agreed.items() if hint.others]
    doubt = f" ({'; '.join(doubts)}: no value tells)" if doubts else ""
    are = f"{len(agreed):,} columns are text that looks" if len(agreed) > 1 else "A column is text that looks"
    return [f"{are} like dates, times or numbers; a merge with this schema reads it so: {line}{doubt}."]


def _first_fitting(candidates: Sequence[tuple[str, str, pa.DataType]], values: Sequence[str]) -> PatternHint | None:
    """The first pattern that all values fit; others, by which they would be something else, are told."""
    first, text = pa.array(values[:1]), pa.array(values)
    fitting = [each for each in candidates if fit_pattern(first, each[1], each[2]).bad is None]
    read = [(each, fitted.values) for each in fitting if (fitted := fit_pattern(text, each[1], each[2])).bad is None]
    if not read:
        return None
    (kind, pattern, _), chosen = read[0]
    others = tuple(f"{each[0]} '{each[1]}'" for each, other in read[1:] if not _same(chosen, other))
    return PatternHint(kind, pattern, others[:1])


def _same(one: pa.Array, other: pa.Array) -> bool:
    return one.type == other.type and bool(pc.all(pc.equal(one, other)).as_py())


def _number_hint(number: re.Match[str], values: Sequence[str]) -> PatternHint | None:
    signs = (number["before"] or "", number["behind"] or "")
    if not any(signs) and not any(map(_MARK, values)):
        return None  # digits alone are text for another reason
    return _first_fitting(list(_number_types(signs, values)), values)


def _number_types(signs: tuple[str, str], values: Sequence[str]) -> Iterator[tuple[str, str, pa.DataType]]:
    """The type for each way in which numbers are written: integers where none has a fraction."""
    marked = any(map(_MARK, values))
    for word in _NUMBERS if marked else ("en", *_NUMBERS):
        pattern = word.join(signs)
        mark = "," if word in ("de", "fr", "1234,56") else "."
        scale = max(len(_digits(value.rpartition(mark)[2])) if mark in value else 0 for value in values)
        digits = max(len(_digits(value)) for value in values) + scale
        if digits > 38:
            continue
        if not scale:
            yield "bigint", pattern, pa.int64()
        else:
            precision = 18 if digits <= 18 else 38
            yield f"decimal({precision},{scale})", pattern, pa.decimal128(precision, scale)


def _name(column: str) -> str:
    """A column's name, as a schema has it."""
    return column if _PLAIN_NAME(column) else '"' + column.replace('"', '""') + '"'


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())
