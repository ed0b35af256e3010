"""What is read of a workbook's sheets, as data that goes along to tasks, and how far the cells of a sheet lie apart.

The reader of sheets makes room for every cell between the first and the last one. One cell at XFD1048576, which a slip
of the hand makes, would take it 500 GB, and the whole process with it.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_CELLS = 20_000_000
"""From here on a sheet may not have more than `MOST_TIMES` the room that its cells take."""
MOST_TIMES = 50
_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384
_SHEETS = "xl/worksheets/"
_CELL = re.compile(rb"""<(?:\w+:)?c\b[^>]*?\br=["']([A-Za-z]{1,16})([0-9]{1,20})["']""")
_ROW = re.compile(rb"""<(?:\w+:)?row\b[^>]*?\br=["']([0-9]{1,20})["']""")


def find_far_cell(archive: zipfile.ZipFile) -> str:
    """Return why a workbook is not read, if cells of a sheet lie too far apart; else nothing."""
    for each in archive.infolist():
        if each.filename.startswith(_SHEETS) and each.filename.endswith(".xml"):
            reason = _find_far_cell(archive.read(each))
            if reason:
                return f"{each.filename.removeprefix(_SHEETS)}: {reason}"
    return ""


def _find_far_cell(text: bytes) -> str:
    rows, columns, count = _Span(), _Span(), 0
    for match in _CELL.finditer(text):
        rows.add(int(match[2]))
        columns.add(_column_number(match[1]))
        count += 1
    for match in _ROW.finditer(text):  # of cells that do not say where they are
        rows.add(int(match[1]))
    if rows.last > _LAST_ROW or columns.last > _LAST_COLUMN:
        return "it has a cell beyond XFD1048576, the last one that Excel knows."
    room = rows.length * columns.length
    if room > MOST_CELLS and room > MOST_TIMES * count:
        return (
            f"{count:,} cells are so far apart that there is room for {room:,} between the first and the last; "
            f"delete what stands alone, down to row {rows.last:,} and out to column {columns.last:,}."
        )
    return ""


class _Span:
    """From which number to which others reach."""

    def __init__(self) -> None:
        self.first, self.last = 0, 0

    def add(self, number: int) -> None:
        self.first = min(self.first or number, number)
        self.last = max(self.last, number)

    @property
    def length(self) -> int:
        return self.last - self.first + 1 if self.last else 0


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


@dataclass(frozen=True, kw_only=True)
class SheetPart:
    """What is read of a sheet: the rows from `first_row` on that are not empty, and the columns by their places.

    `header` are the cells of its header, where it has one, which may stand again among the rows. `exact` are columns of
    numbers that are to be read digit by digit.
    """

    sheet: str
    first_row: int
    columns: tuple[tuple[int, str], ...]
    rows: int
    header: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> SheetPart:
        columns = tuple((place, name) for place, name in value["columns"])
        names = {each: tuple(value.get(each, ())) for each in ("header", "exact")}
        return cls(**{**value, "columns": columns, **names})
