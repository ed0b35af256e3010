"""Records that nearly all have a field more or less than the header has names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mason.pipeline.formats.delimited.dialect import Ragged
from mason.pipeline.formats.delimited.headers import column_names
from mason.pipeline.formats.delimited.reading import CsvReading
from mason.pipeline.formats.delimited.records import QUOTED_EMPTY

_NEARLY_ALL = 0.95
_MANY = 20
_NAMES_ROWS = (
    "its records have one field more than its header: the first column, which has no name, is called col_0; "
    "if a delimiter stands inside values instead, give the quote or escape around it, or mend the file"
)


@dataclass(frozen=True)
class Shape:
    """The names of the columns, and how the records differ from them."""

    names: Sequence[str]
    surplus: bool = False
    ragged: Ragged = Ragged.QUARANTINE
    notes: Sequence[str] = ()


def great_majority(values: Sequence[Any]) -> Any:
    """Return the value that nearly all are: 95 of 100, and in less than 20 all but one; None if there is none."""
    if not values:
        return None
    value, times = Counter(values).most_common(1)[0]
    few = len(values) - 1 if len(values) > 2 else len(values)
    return value if times >= (len(values) * _NEARLY_ALL if len(values) >= _MANY else few) else None


def find_shape(rows: Sequence[Sequence[str]], *, header: bool, first_quoted: bool = False) -> Shape:
    """Return the columns of some records.

    Where nearly all differ in the same way from the header, that is how it is meant; the others are set aside.
    `first_quoted`: the first field of each record is in quotes. So R writes the names of rows, which are distinct, and
    then they may stand before a single column, too.
    """
    first, below = rows[0], rows[1:] if header else rows
    names = column_names(first, header=header)
    widths = list(map(len, below))
    are_alike = len(set(widths)) == 1
    width = widths[0] if are_alike else great_majority(widths)
    if width in (None, len(names)) or not header:
        return Shape(names)
    if len(names) == 1:
        names_rows = first_quoted and are_alike and width == 2 and len({row[0] for row in below}) == len(below)
        return Shape(["col_0", *names], notes=[_NAMES_ROWS]) if names_rows else Shape(names)
    if width == len(names) + 1 and great_majority([len(row) == width and not row[-1] for row in below]):
        return Shape(names, surplus=True, notes=["its records end with a delimiter that its header does not have"])
    if width == len(names) + 1 and great_majority([row[-1] == QUOTED_EMPTY for row in below]) is True:
        last = f"col_{len(names)}"
        told = f"its records have one field more than its header: the last one, empty text in quotes, is called {last}"
        return Shape([*names, last], notes=[told])
    if not are_alike and (width == 1 or (len(below) < _MANY and len(names) in widths)):
        return Shape(names)  # lines of words say nothing of fields, and one of few records is as the header says
    if width == len(names) + 1 and len(below) > 1:
        return Shape(["col_0", *names], notes=[_NAMES_ROWS])
    if width == len(names) - 1 and not first[-1]:
        return Shape(names[:-1], notes=["its header ends with a delimiter that its records do not have"])
    if width == len(names) - 1 and len(below) > 1:
        note = f'its records have one field less than its header: "{names[-1]}" is null'
        return Shape(names, ragged=Ragged.LAST_IS_NULL, notes=[note])
    return Shape(names)


def mend_row(reading: CsvReading, width: int) -> Callable[[list[str]], list[str]] | None:
    """Return what gives a record of the sample as many fields as there are columns; None if nothing has to."""
    if not reading.surplus and reading.ragged not in (Ragged.PAD, Ragged.CUT, Ragged.LAST_IS_NULL):
        return None

    def mend(row: list[str]) -> list[str]:
        if reading.surplus and len(row) == width + 1 and not row[-1]:
            return row[:-1]
        if reading.ragged is Ragged.CUT and len(row) > width:
            return row[:width]
        if reading.ragged is Ragged.LAST_IS_NULL and len(row) == width - 1:
            return [*row, ""]
        if reading.ragged in (Ragged.PAD, Ragged.CUT):
            return [*row, *[""] * (width - len(row))]
        return row

    return mend
