"""Where the table of a sheet begins, and what names its columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mason.pipeline.formats.delimited.headers import Header
from mason.pipeline.formats.sheets.cells import cell_name
from mason.pipeline.formats.sheets.titles import Row, count_titles, describe_rows_before, is_there, judge_row
from mason.pipeline.formats.sheets.values import Cells, texts_of

_LOOKED_AT = 50
_SHOWN = 60


@dataclass(frozen=True)
class SheetsAsked:
    """What the user says of sheets; what is empty or None is detected.

    `sheet` is the name of one, or `*` for all. `nulls` are words that mean null.
    """

    sheet: str = ""
    read_headers: bool | None = None
    skip_rows: int | None = None
    nulls: Collection[str] = ()


@dataclass(frozen=True, kw_only=True)
class Head:
    """Where the records of a sheet begin, and what their columns are called; "" where nothing says."""

    first_row: int
    names: Sequence[str]
    guess: Header
    header: tuple[str, ...] = ()
    """The cells of the header, where there is one."""
    doubt: str = ""

    @classmethod
    def of(cls, cells: Cells, asked: SheetsAsked, notes: list[str]) -> Head | None:
        rows = _first_rows(cells, asked.skip_rows or 0)
        if not rows:
            return None
        titles = count_titles(rows, notes) if asked.skip_rows is None else 0
        if titles:
            title = " ".join(str(cell) for _, row in rows[:titles] for cell in row if is_there(cell))[:_SHOWN]
            notes.append(
                f'its first {"row is" if titles == 1 else f"{titles} rows are"} a title, and skipped: "{title}"'
            )
        elif asked.skip_rows is None and asked.read_headers is None:
            notes += describe_rows_before(rows)
        (number, first), below = rows[titles], [row for _, row in rows[titles + 1 :]]
        guess = judge_row(first, below)
        if asked.read_headers is not None:
            guess = Header.GIVEN
        doubt = _describe_doubt(guess, number, first)
        if asked.read_headers or (asked.read_headers is None and guess.is_there):
            names = [name_of_cell(cell) for cell in first]
            notes += _tell_nameless(cells, number, names)
            return cls(first_row=number + 1, names=names, guess=guess, header=tuple(names), doubt=doubt)
        return cls(first_row=number, names=[""] * cells.sheet.width, guess=guess, doubt=doubt)


def name_of_cell(cell: Any) -> str:
    """Return what a cell of a header calls its column; "" if it says nothing."""
    if not is_there(cell) or isinstance(cell, _Error):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell if isinstance(cell, str) else str(texts_of([cell])[0])


def _first_rows(cells: Cells, before: int) -> list[Row]:
    """The first rows that are not empty. What names columns may be an error, as the formula for a year may give it."""
    numbered = enumerate(islice(cells.sheet.iter_rows(), before, None), before)
    rows = list(islice((each for each in numbered if any(map(is_there, each[1]))), _LOOKED_AT))
    return [(number, _with_errors(cells, number, row)) for number, row in rows] if cells.xml.errors else rows


class _Error(str):
    """What an error says, in the place of a name."""


def _with_errors(cells: Cells, number: int, row: Sequence[Any]) -> Sequence[Any]:
    """A row of text with its errors; beside values they are none."""
    if not all(isinstance(cell, str) for cell in row if is_there(cell)):
        return row
    found = {place: cells.xml.errors.get((number, cells.first_column + place)) for place in range(len(row))}
    return [cell if found[place] is None else _Error(found[place] or "#") for place, cell in enumerate(row)]


def _tell_nameless(cells: Cells, number: int, names: Sequence[str]) -> list[str]:
    """Say of columns whose names are errors what they are called."""
    if not cells.xml.errors:
        return []
    cells_of_names = [(place, (number, cells.first_column + place)) for place in range(len(names))]
    return [
        f'cell {cell_name(*cell)} of its header holds an error: the column is called "col_{place}"'
        for place, cell in cells_of_names
        if cell in cells.xml.errors
    ]


def _describe_doubt(guess: Header, number: int, first: Sequence[Any]) -> str:
    if not guess.is_doubtful:
        return ""
    line = ", ".join(str(cell) for cell in first if is_there(cell))
    clipped = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
    taken, other = ("the header", "data") if guess.is_there else ("data", "the header")
    row = "its first row" if not number else f"its row {number + 1:,}"
    return f'{row}, "{clipped}", was taken for {taken}, and could be {other}; parse_headers: true or false settles it'
