"""What stands above the table in a sheet: titles, and rows of a word and its value that say what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mason.pipeline.formats.delimited.headers import Header, judge_header

_YEARS = range(1900, 2101)
_FEWEST_ROWS = 3

Row = tuple[int, Sequence[Any]]
"""The cells of a row that is not empty, with its number from 0."""


def is_there(cell: Any) -> bool:
    """Say whether a cell holds something."""
    return cell is not None and cell != ""


def judge_row(first: Sequence[Any], below: Sequence[Sequence[Any]]) -> Header:
    """Say whether a row names the columns of those below it.

    Text names columns, and so do years among text; numbers, dates and booleans are values. Where all is text, it is
    judged as in delimited text.
    """
    cells = list(filter(is_there, first))
    named = [cell for cell in cells if isinstance(cell, str)]
    years = [cell for cell in cells if isinstance(cell, float | int) and not isinstance(cell, bool) and cell in _YEARS]
    if not named or len(named) + len(years) < len(cells):
        return Header.NONE
    if any(is_there(cell) and not isinstance(cell, str) for row in below for cell in row):
        return Header.SURE
    return judge_header([[_text(cell) for cell in row] for row in (first, *below)])


def _text(cell: Any) -> str:
    """A text, or a year among names."""
    return "" if not is_there(cell) else cell if isinstance(cell, str) else str(int(cell))


def count_titles(rows: Sequence[Row], notes: list[str]) -> int:
    """Return how many of the first rows are titles: those of one cell, and such as are about the table below them.

    Rows of one cell that are more than all behind them are a table of one column, in which a note stands; that is told.
    """
    widest = max(_width(row) for row in rows)
    titles = 0
    while widest > 1 and _width(rows[titles]) == 1:
        titles += 1
    if titles > len(rows) - titles and not _is_parted(rows, titles):
        number = rows[titles][0]
        notes.append(f"its first {titles} rows have one cell each: if they are a title, give skip_rows: {number}")
        titles = 0
    return max(titles, _count_rows_about_table(rows, widest))


def describe_rows_before(rows: Sequence[Row]) -> list[str]:
    """Return what is to be said of rows that are as wide as the table behind an empty row, and may be about it."""
    count = next((place for place in range(1, len(rows)) if _is_parted(rows, place)), 0)
    widest = max(_width(row) for row in rows)
    is_larger = len(rows) - count > max(count, _FEWEST_ROWS - 1)
    if not count or not is_larger or not _names_columns(rows, count, widest):
        return []
    before = {cell for _, row in rows[:count] for cell in row if is_there(cell)}
    if not before.isdisjoint(filter(is_there, rows[count][1])):
        return []
    number = rows[count][0]
    above = "the row above it is" if count == 1 else f"the {count} rows above it are"
    return [f"row {number + 1} may be the header of the table: if {above} no part of that, give skip_rows: {number}"]


def _count_rows_about_table(rows: Sequence[Row], widest: int) -> int:
    """How many rows say something of the table, each in fewer cells than its header has."""
    left = min(next(place for place, cell in enumerate(row) if is_there(cell)) for _, row in rows)
    count = next(place for place, row in enumerate(rows) if _width(row) == widest)
    begin_with_words = all(isinstance(row[left], str) and row[left] for _, row in rows[:count])
    if not count or not begin_with_words or not _names_columns(rows, count, widest):
        return 0
    # One row alone may be a header that lacks a name.
    is_about = count > 1 or _is_parted(rows, count) or _width(rows[0]) * 2 <= widest
    return count if is_about else 0


def _names_columns(rows: Sequence[Row], place: int, widest: int) -> bool:
    """Say whether a row is a header beyond doubt: a name for each column, and below one of them no text at all."""
    cells = [cell for cell in rows[place][1] if is_there(cell)]
    below = [row for _, row in rows[place + 1 :]]
    if len(set(cells)) < widest or judge_row(rows[place][1], below) is not Header.SURE:
        return False
    columns = ([row[column] for row in below if is_there(row[column])] for column in range(len(rows[place][1])))
    return any(column and not any(isinstance(cell, str) for cell in column) for column in columns)


def _is_parted(rows: Sequence[Row], place: int) -> bool:
    """Say whether an empty row stands before this one."""
    return rows[place][0] > rows[place - 1][0] + 1


def _width(row: Row) -> int:
    return sum(map(is_there, row[1]))
