"""Whether the first record of a delimited text names its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from mason.pipeline.csv_records import QUOTED_EMPTY
from mason.pipeline.text_types import classify
from mason.pipeline.types import NOTHING, TEXT

_YEARS = range(1700, 2200)
_SURE_KEY = 10
_NO_VALUE = frozenset(["na", "n/a", "nan", "null", "none", "-", "--", ".", "?", "\\n"])
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_RUNS = (re.compile(r"[^\W\d_]+"), re.compile(r"[0-9]+"))


class Header(StrEnum):
    """How sure it is that the first record names the columns, or that it does not."""

    GIVEN = "given"
    SURE = "sure"
    LIKELY = "likely"
    NONE_LIKELY = "none, likely"
    NONE = "none"

    @property
    def is_there(self) -> bool:
        return self in (Header.SURE, Header.LIKELY)


def judge_header(rows: Sequence[Sequence[str]]) -> Header:
    """Say whether the first record names the columns.

    A name is no number, date or boolean, and has letters where it has digits; a year may be one above what is no year;
    an empty cell says nothing. Names that stand above numbers, dates or booleans are surely names, and so is whatever
    stands beside the empty name of a column of row names, as R and pandas write it. Where all is text,
    they are likely ones if they are distinct, none occurs again below, and they do not look like what stands below
    them, as `DE-001` above `DE-002` does. A single record of words is a header without rows, because a table without
    names is rarer than an empty one.
    """
    first, below = rows[0], rows[1:]
    columns = [[row[index] for row in below if index < len(row)] for index in range(len(first))]
    cells = [
        (cell, column)
        for cell, column in zip(first, columns, strict=True)
        if cell and cell != QUOTED_EMPTY and cell.strip().lower() not in _NO_VALUE
    ]
    if _names_rows(first, columns):
        return Header.SURE
    if not any(map(_LETTER.search, first)) or not all(_may_be_name(cell, column) for cell, column in cells):
        return Header.NONE
    if any(classify(column) not in (TEXT, NOTHING) for _, column in cells):  # years above what is no year, too
        return Header.SURE
    if any(_occurs_again(cell, column) for cell, column in cells):
        return Header.NONE_LIKELY
    distinct = len({cell for cell, _ in cells}) == len(cells)
    if not distinct or any(_looks_like(cell, column) for cell, column in cells):
        return Header.NONE_LIKELY
    return Header.LIKELY


def _names_rows(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Say whether the first column has no name, and tells rows apart: `"","2-9","10-19"` of R, `,0,1,2` of pandas."""
    names, labels = first[1:], columns[0] if columns else []
    if len(labels) < 2 or not all(labels) or len(set(labels)) < len(labels):
        return False
    if first[0] == QUOTED_EMPTY:
        return bool(names) and all(names) and QUOTED_EMPTY not in names and len(set(names)) == len(names)
    numbers = [str(number) for number in range(max(len(names), len(labels)))]
    return not first[0] and names == numbers[: len(names)] and list(labels) == numbers[: len(labels)] and len(names) > 1


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the first record names the columns."""
    return judge_header(rows).is_there


def column_names(first: Sequence[str], *, header: bool) -> list[str]:
    """Return the names of the columns: the header's, and `col_0`, `col_1` … where there is none."""
    if not header:
        return [f"col_{index}" for index in range(len(first))]
    return [cell if cell and cell != QUOTED_EMPTY else f"col_{index}" for index, cell in enumerate(first)]


def _may_be_name(cell: str, column: Sequence[str]) -> bool:
    present = list(filter(None, column))
    return _is_name(cell) or (_is_year(cell) and not (present and all(map(_is_year, present))))


def _occurs_again(cell: str, column: Sequence[str]) -> bool:
    """Say whether a cell is a value below it, too; not where these are a key: `ID` is Indonesia among countries."""
    return cell in column and not (len(column) >= _SURE_KEY and len(set(column)) == len(column))


def _is_name(cell: str) -> bool:
    is_of_digits = _DIGIT.search(cell) and not _LETTER.search(cell)
    return not is_of_digits and not _is_number(cell) and classify([cell]) is TEXT


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_year(cell: str) -> bool:
    return len(cell) == 4 and cell.isascii() and cell.isdigit() and int(cell) in _YEARS


def _looks_like(cell: str, column: Sequence[str]) -> bool:
    """Say whether a cell is written like all values below it, with digits or signs at the same places."""
    values = [each for each in column if each and each.strip().lower() not in _NO_VALUE]
    shape = _shape(cell)
    return bool(values) and shape.strip("a _") != "" and all(_shape(each) == shape for each in values)


def _shape(text: str) -> str:
    letters, digits = _RUNS
    return digits.sub("9", letters.sub("a", text))
