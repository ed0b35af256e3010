"""Records that may be headers and are told: more lines of the one above, or that of another table in the same file."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mason.pipeline.formats.delimited.header_words import are_usual_names, style_of
from mason.pipeline.formats.delimited.headers import may_be_name, says_something
from mason.pipeline.types.column_types import NOTHING, TEXT
from mason.pipeline.types.text_types import classify

_LEAST = 2
_MOST_LINES = 4
_SHOWN = 60
_OTHER_TABLE = "the header of another table"


def describe_other_headers(
    rows: Sequence[Sequence[str]], numbers: Sequence[int], nulls: Collection[str], *, header: bool
) -> list[str]:
    """What is said of the first record that may be a header, and is read as a record.

    `numbers` are those of the records, the first of which is the header, if there is one.
    """
    found = (
        _find_lines_of_header(rows, nulls) or _find_named_like(rows, nulls)
        if header
        else _find_header_below(rows, nulls)
    )
    if not found:
        return []
    index, what = found
    return [f'its record {numbers[index]:,}, "{_shorten(rows[index])}", looks like {what}, and is read as a record']


def _find_lines_of_header(rows: Sequence[Sequence[str]], nulls: Collection[str]) -> tuple[int, str] | None:
    """The last of the lines below the header that name columns as well: `(id),(name)`, or names below groups."""
    last = 1 if _has_names_and_more(rows) else 0
    for index in range(1, min(_MOST_LINES, len(rows))):
        cells = list(filter(says_something, rows[index]))
        if not all(map(may_be_name, cells)):
            break
        if _stands_above_numbers(rows[index], rows[index + 1 :], nulls):
            last = index
    return (last, "another line of the header") if last else None


def _find_header_below(rows: Sequence[Sequence[str]], nulls: Collection[str]) -> tuple[int, str] | None:
    """The header behind first records that are none, and were taken for data."""
    for index in range(1, min(_MOST_LINES, len(rows))):
        if _stands_above_numbers(rows[index], rows[index + 1 :], nulls):
            return index, "a header"
    return (1, "a header") if _has_usual_names(rows) else None


def _shorten(row: Sequence[str]) -> str:
    return ",".join(row)[:_SHOWN]


def _has_names_and_more(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the record below the header has all of its names again, and more: `(id),(name)`."""
    if len(rows) < _LEAST or len(rows[0]) < _LEAST or len(rows[0]) != len(rows[1]):
        return False
    return all(name and name in cell for name, cell in zip(rows[0], rows[1], strict=True)) and rows[0] != rows[1]


def _stands_above_numbers(row: Sequence[str], below: Sequence[Sequence[str]], nulls: Collection[str]) -> bool:
    """Say whether a record of names, or empty cells, has one above a column of numbers, dates or booleans."""
    named = [index for index, cell in enumerate(row) if says_something(cell) and cell not in nulls]
    if len(named) * 2 <= len(row) or not all(may_be_name(row[index]) for index in named):
        return False
    alike = [each for each in below if len(each) == len(row)]
    columns = ([each[index] for each in alike if says_something(each[index])] for index in named)
    return any(len(column) >= _LEAST and classify(column, nulls) not in (TEXT, NOTHING) for column in columns)


def _has_usual_names(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the record below the first one, and no other, is of words that columns are usually called by."""
    if len(rows) <= _LEAST:
        return False
    names = list(rows[1])
    if (
        len(names) != len(rows[0])
        or len(names) < _LEAST
        or len(set(names)) < len(names)
        or not all(map(may_be_name, names))
    ):
        return False
    return are_usual_names(names) and not any(set(names) & set(row) for row in rows[_LEAST:])


def _find_named_like(rows: Sequence[Sequence[str]], nulls: Collection[str]) -> tuple[int, str] | None:
    """A record of names as it begins another table: names of the header, or usual ones above numbers as others are."""
    first = list(rows[0])
    if len(first) < _LEAST:
        return None
    names = {name for name in first if may_be_name(name)}
    folded = frozenset(map(_fold, names))
    usual = _Usual(first)
    for index, row in enumerate(rows[1:], 1):
        again = sum(map(names.__contains__, row))
        if again >= _LEAST and again * 2 > len(row) and row != first and len(names.intersection(row)) == again:
            return index, _OTHER_TABLE
        if len(row) != len(first) or row == first or not (usual.fits(row) or not folded.isdisjoint(map(_fold, row))):
            continue
        if len(set(row)) == len(row) and all(map(may_be_name, row)) and _begins_table(rows, index, folded, nulls):
            return index, _OTHER_TABLE
    return None


def _begins_table(rows: Sequence[Sequence[str]], index: int, folded: frozenset[str], nulls: Collection[str]) -> bool:
    """Say whether a record of names that differ is a header by what it says, or by the numbers above and below it."""
    row = rows[index]
    if folded.issuperset(map(_fold, row)):
        return True
    shared = any(_fold(cell) in folded for cell in row)
    above, below = rows[1:index], rows[index + 1 :]
    if (shared or are_usual_names(row)) and any(
        _are_numbers(above, column, nulls) and _are_numbers(below, column, nulls) for column in range(len(row))
    ):
        return True
    others = [each for each in (*above, *below) if each != row and len(each) == len(row)]
    return (
        all(are_usual_names([cell]) for cell in row)
        and len(others) >= _MOST_LINES
        and not any(_Usual(rows[0]).fits(each) and all(are_usual_names([cell]) for cell in each) for each in others)
        and not any(set(row) & set(each) for each in others)
    )


def _are_numbers(rows: Sequence[Sequence[str]], column: int, nulls: Collection[str]) -> bool:
    values = [row[column] for row in rows if len(row) > column and says_something(row[column])]
    return bool(values) and classify(values, nulls) not in (TEXT, NOTHING)


def _fold(name: str) -> str:
    return name.strip().casefold()


class _Usual:
    """Whether a record may be words for columns at all: written as the header is, asked of every record of a sample."""

    def __init__(self, header: Sequence[str]) -> None:
        self._styles = set(map(style_of, header))

    def fits(self, row: Sequence[str]) -> bool:
        return style_of(row[0]) in self._styles and are_usual_names(row)
