"""Whether the first record of a delimited text names its columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from itertools import islice

from mason.pipeline.formats.delimited.header_words import are_usual_names, contrast_with_values, vary_in_case_alike
from mason.pipeline.formats.delimited.records import QUOTED_EMPTY
from mason.pipeline.types.column_types import NOTHING, TEXT
from mason.pipeline.types.text_types import classify

_YEARS = range(1700, 2200)
_SURE_KEY = 10
_LEAST_COUNTED = 4
_FEW = 20
_NO_VALUE = frozenset(["na", "n/a", "nan", "inf", "infinity", "null", "none", "-", "--", ".", "?", "\\n"])
_BITS = frozenset("01")
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_ISO_DATE = r"[0-9]{4}[-/.][0-9]{1,2}(?:[-/.][0-9]{1,2}(?:[ T][0-9:.]+)?)?"
_DATE = re.compile(_ISO_DATE + r"|[0-9]{1,2}([-/.])[0-9]{1,2}\1[0-9]{2,4}")
_INTERVAL = re.compile(r"[<>≤≥] ?\d+|\d+ ?(?:[-–] ?\d+|[+%])|\d{1,2}:\d{2}(?::\d{2})?")
_RUNS = (re.compile(r"[^\W\d_]+"), re.compile(r"[0-9]+"))


class Header(StrEnum):
    """How sure it is that the first record names the columns, or that it does not."""

    GIVEN = "given"
    SURE = "sure"
    LIKELY = "likely"
    DOUBTFUL = "doubtful"
    """It is taken for one, and could be data as well: that is told."""
    NONE_DOUBTFUL = "none, doubtful"
    NONE_LIKELY = "none, likely"
    NONE = "none"

    @property
    def is_there(self) -> bool:
        return self in (Header.SURE, Header.LIKELY, Header.DOUBTFUL)

    @property
    def is_doubtful(self) -> bool:
        return self in (Header.DOUBTFUL, Header.NONE_DOUBTFUL)


def judge_header(rows: Sequence[Sequence[str]]) -> Header:
    """Say whether the first record names the columns.

    A name is not a number, date or boolean, and has letters where it has digits; a year may be one above other values,
    and a date, a boolean or a range (`18-24`) above numbers; an empty cell says nothing, nor does `inf`, which may be
    short for inflation.

    Names that stand above numbers, dates or booleans are surely names, and so is whatever stands beside the empty name
    of a column of row names, as R and pandas write it.

    Where all is text, the first record is none if its cells are not distinct, occur again below, or look like what
    stands below them, as `DE-001` above `DE-002` does. It is a likely one if columns are usually called so, or if it is
    written in another case than what stands below; else it is in doubt. A single record of words is a header without
    rows, because a table without names is rarer than an empty one.

    A record that comes again as a whole among others, as in files that were put one behind the other, is a header if it
    is one above those others.
    """
    first, below = list(rows[0]), rows[1:]
    others = [row for row in below if row != first] if first in below else below
    if others and len(others) < len(below):
        return _judge_repeated(first, below, others)
    return _judge(first, below)


def _judge_repeated(first: Sequence[str], below: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> Header:
    guess = _judge(first, others)
    if guess is Header.SURE:
        return guess
    if len(first) == 1 or not guess.is_there:
        alone = _judge(first, below)
        return Header.NONE_DOUBTFUL if guess is Header.LIKELY and not alone.is_there else alone
    are_distinct = len(set(map(tuple, others))) == len(others)
    return guess if are_distinct or guess is Header.LIKELY else Header.NONE_DOUBTFUL


def _judge(first: Sequence[str], below: Sequence[Sequence[str]]) -> Header:
    columns = list(map(list, zip(*_alike(below, len(first)), strict=True)))[: len(first)]
    columns += [[]] * (len(first) - len(columns))
    cells = [(cell, column) for cell, column in zip(first, columns, strict=True) if says_something(cell)]
    if _names_rows(first, columns):
        return Header.SURE
    if not any(map(_LETTER.search, first)) or not _may_be_names(cells):
        return _judge_series(first, columns)
    if any(classify(column) not in (TEXT, NOTHING) for _, column in cells):  # years above what is no year, too
        return Header.SURE
    if len(cells) * 2 < len(first) and len(list(filter(any, columns))) > len(cells):
        return Header.NONE_DOUBTFUL  # most columns would have no name
    return _judge_text(cells)


def _judge_series(first: Sequence[str], columns: Sequence[Sequence[str]]) -> Header:
    """What names would not be may be one behind the other all the same: `week,1,2,3`, `,2020,2021`.

    It is told where the first cell could be the name of the column of labels, or none, and the others are a series of
    numbers, years or dates that does not go on below.
    """
    label, others = first[0].strip(), [cell.strip() for cell in first[1:]]
    if label and not _is_name(label):
        return _judge_series_alone([label, *others], columns)
    if len(others) < 2 or not _is_series(others):
        return Header.NONE
    values = [value for column in columns[1:] for value in column if value]
    if not values or not _LETTER.search("".join(columns[0])):
        return Header.NONE
    below = [column[0].strip() for column in columns[1:] if column]
    goes_on = _is_series(below) and _kind_of_series(below) == _kind_of_series(others)
    return Header.NONE_DOUBTFUL if goes_on else Header.DOUBTFUL


def _judge_series_alone(cells: Sequence[str], columns: Sequence[Sequence[str]]) -> Header:
    """A series without the name of a column of labels before it: `0,1,2` of pandas, `2024,2025`, days above numbers."""
    values = [value.strip() for column in columns for value in column if says_something(value)]
    if len(cells) < 2 or not values:
        return Header.NONE
    if all(map(_is_date, cells)):
        return Header.DOUBTFUL if len(set(cells)) == len(cells) and all(map(_is_amount, values)) else Header.NONE
    if not _is_series(cells):
        return Header.NONE
    are_years = all(map(_is_year, cells))
    if (are_years or int(cells[0]) < 2) and any(
        filled and all(map(_LETTER.search, filled)) for filled in map(_fill, columns)
    ):
        return Header.DOUBTFUL
    if are_years and not any(map(_is_year, values)):
        return Header.DOUBTFUL if len(cells) > 2 else Header.NONE_DOUBTFUL
    below = [column[0].strip() for column in columns if column]
    is_counted = int(cells[0]) == 0 and len(cells) >= _LEAST_COUNTED and not _is_series(below)
    return Header.NONE_DOUBTFUL if is_counted else Header.NONE


def _fill(column: Sequence[str]) -> Sequence[str]:
    return list(filter(says_something, column))


def _kind_of_series(cells: Sequence[str]) -> str:
    return "years" if all(map(_is_year, cells)) else "dates" if all(map(_is_date, cells)) else "numbers"


def _is_series(cells: Sequence[str]) -> bool:
    """Say whether cells are whole numbers that follow on each other, or years or dates in their order."""
    if all(cell.isascii() and cell.isdigit() for cell in cells):
        numbers = list(map(int, cells))
        return numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return all(map(_is_date, cells)) and list(cells) == sorted(set(cells))


def _alike(rows: Sequence[Sequence[str]], width: int) -> Sequence[Sequence[str]]:
    """The records with as many fields as most have, or as the first: a broken one says nothing of the columns."""
    widths = list(map(len, rows))
    if len(set(widths)) < 2:
        return rows
    counts = Counter(widths)
    usual = max(counts, key=lambda each: (counts[each], each == width))
    return [row for row in rows if len(row) == usual]


def _judge_text(cells: Sequence[tuple[str, Sequence[str]]]) -> Header:
    """Nothing but text stands below the cells, if anything does."""
    names = [cell for cell, _ in cells]
    if any(_are_nearly_numbers(column) for _, column in cells):
        return Header.LIKELY
    are_names = are_usual_names(names) or contrast_with_values(cells)
    again = sum(_occurs_again(cell, column) for cell, column in cells)
    if again and are_names:
        return Header.DOUBTFUL if again * 2 < len(cells) else Header.NONE_DOUBTFUL
    if not again and len(set(names)) < len(names) and are_usual_names(names):
        return Header.DOUBTFUL  # `name,city,name`: what is there twice is told with what numbers it
    alike = sum(_looks_like(cell, column) for cell, column in cells)
    if not again and 0 < alike * 2 < len(cells) and are_names and len(set(names)) == len(names):
        return Header.DOUBTFUL
    if again or alike or len(set(names)) < len(names):
        return Header.NONE_LIKELY
    if vary_in_case_alike(cells):
        return Header.DOUBTFUL if are_names else Header.NONE_DOUBTFUL
    return Header.LIKELY if are_names else Header.DOUBTFUL


def _names_rows(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Say whether the first column has no name, and tells rows apart: `"","2-9","10-19"` of R, `,0,1,2` of pandas."""
    names, labels = first[1:], columns[0] if columns else []
    if len(labels) < 2 or not all(labels) or len(set(labels)) < len(labels):
        return False
    if first[0] == QUOTED_EMPTY:
        are_there = bool(names) and all(names) and QUOTED_EMPTY not in names and len(set(names)) == len(names)
        return are_there and _may_stand_above(names, columns)
    numbers = [str(number) for number in range(max(len(names), len(labels)))]
    return (
        not first[0]
        and names == numbers[: len(names)]
        and list(labels) == numbers[: len(labels)]
        and len(names) + len(labels) > 3
    )


def _may_stand_above(names: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Say whether what stands beside an empty text may be names: values, as `"","79796"` has them, are none.

    Numbers are some where they grow from column to column, above rows that have words or numbers in turn for names.
    """
    values = [(name, columns[n]) for n, name in enumerate(names, 1) if is_number(name) or classify([name]) is not TEXT]
    if not values or _may_be_names(values):
        return True
    if len(names) == 1 or not all(name.isascii() and name.isdigit() for name in names):
        return False
    numbers, labels = list(map(int, names)), columns[0]
    are_in_turn = any(list(labels) == [str(start + n) for n in range(len(labels))] for start in (0, 1))
    return numbers == sorted(numbers) and (are_in_turn or all(map(_LETTER.search, labels)))


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the first record names the columns."""
    return judge_header(rows).is_there


def may_be_name(cell: str) -> bool:
    """Say whether a cell, whatever stands below it, may be the name of a column."""
    return _is_name(cell.strip())


def says_something(cell: str) -> bool:
    """Say whether a cell is neither empty nor a word for null."""
    return bool(cell) and cell != QUOTED_EMPTY and cell.strip().lower() not in _NO_VALUE


def column_names(first: Sequence[str], *, header: bool) -> list[str]:
    """Return the names of the columns: the header's, and `col_0`, `col_1` … where there is none."""
    if not header:
        return [f"col_{index}" for index in range(len(first))]
    cells = [without_mark(first[0]), *first[1:]] if first else []
    return [cell if cell and cell != QUOTED_EMPTY else f"col_{index}" for index, cell in enumerate(cells)]


def without_mark(cell: str) -> str:
    """Return a first cell without byte order marks, which come along where files are put one behind the other."""
    return cell.lstrip("\ufeff")


def _may_be_names(cells: Sequence[tuple[str, Sequence[str]]]) -> bool:
    others = [(cell, list(filter(None, column))) for cell, column in cells if not _is_name(cell)]
    if not others:
        return True
    dates = [column for cell, column in others if _is_date(cell) or _is_boolean(cell)]
    has_numbers_below = any(dates) and all(_is_amount(value) for column in dates for value in column)
    return all(
        (_is_year(cell) and not (column and all(map(_is_year, column))))
        or (has_numbers_below and (_is_date(cell) or (_is_boolean(cell) and not set(column) <= _BITS)))
        or (bool(column) and _is_interval(cell) and all(map(is_number, column)))
        for cell, column in others
    )


def _occurs_again(cell: str, column: Sequence[str]) -> bool:
    """Say whether a cell is a value below it, too; not where these are a key: `ID` is Indonesia among countries."""
    return cell in column and not (len(column) >= _SURE_KEY and len(set(column)) == len(column))


def _is_name(cell: str) -> bool:
    return not _is_of_digits(cell) and not is_number(cell) and classify([cell]) is TEXT and "://" not in cell


def _is_of_digits(cell: str) -> bool:
    return bool(_DIGIT.search(cell)) and not _LETTER.search(cell)


def _is_boolean(cell: str) -> bool:
    return cell.strip().lower() in ("true", "false")


def _is_date(cell: str) -> bool:
    return _DATE.fullmatch(cell.strip()) is not None


def _is_interval(cell: str) -> bool:
    """Say whether a cell is a range, a share or a time of day, as names of numbers are: `18-24`, `10%`, `08:00`."""
    return _INTERVAL.fullmatch(cell.strip()) is not None


def _is_amount(cell: str) -> bool:
    return (_is_of_digits(cell) or is_number(cell)) and not _is_date(cell)


def _are_nearly_numbers(column: Sequence[str]) -> bool:
    """Say whether all of the first values, or all but one, have digits and no letters."""
    values = list(islice(filter(says_something, column), _FEW))
    others = len(list(islice((value for value in values if not _is_of_digits(value)), 2)))
    return (bool(values) and not others) or (len(values) > 2 and others < 2)


def is_number(cell: str) -> bool:
    """Say whether Python takes a text for a number."""
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
