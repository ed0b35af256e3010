"""Sheets of Excel workbooks (xlsx, xlsm): which of them are read, what names their columns have, and their rows.

A cell has a type of its own: number, text, boolean, date. A number without a fraction is an integer, since Excel knows
no other; a formula is the value that was saved with it. The plan looks at every row and decides on the layout, by which
tasks read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import reduce
from itertools import islice
from typing import Any

import pyarrow as pa

from mason.errors import MissingDependency, UnreadableFile
from mason.pipeline.cell_source import CellSource
from mason.pipeline.csv_headers import Header
from mason.pipeline.file_schema import FileSchema, unique_names
from mason.pipeline.odd_values import OddValue, are_few
from mason.pipeline.sheet_cells import cell_name, check_workbook, count_errors
from mason.pipeline.sheet_parts import SheetPart
from mason.pipeline.sheet_titles import count_titles, describe_rows_before, is_there, judge_row
from mason.pipeline.sources import ArrowSource
from mason.pipeline.text_types import integer
from mason.pipeline.types import NOTHING, TEXT, Evidence, decide, evidence_of, merge, storable

ALL = "*"
_LOOKED_AT = 50
_TEXTS_KEPT = 1_000
_EXACT = 2**53
_TYPES: Mapping[type, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    date: pa.date32(),
    datetime: pa.timestamp("us"),
    time: pa.time64("us"),
    timedelta: pa.duration("us"),
    str: pa.string(),
}
_WIDER = {frozenset([int, float]): float, frozenset([date, datetime]): datetime}


@dataclass(frozen=True)
class SheetsAsked:
    """What the user says of sheets; what is empty or None is detected.

    `sheet` is the name of one, or `*` for all. `nulls` are words that mean null.
    """

    sheet: str = ""
    read_headers: bool | None = None
    skip_rows: int | None = None
    nulls: Collection[str] = ()


@dataclass(frozen=True)
class _Look:
    """A sheet that may be read, and what all its rows show."""

    part: SheetPart
    columns: Mapping[str, Evidence]
    guess: Header
    notes: Sequence[str]
    odd: Mapping[str, OddValue]


def read_workbook(name: str, source: Any, asked: SheetsAsked) -> FileSchema | None:
    """Return the columns of a workbook's sheets, or None if they are empty.

    By default the first visible sheet with data is read, and those with the same columns; others are named in a
    warning.

    Raises:
        UnreadableFile: it is no workbook, or has no such sheet.
        MissingDependency: the package that reads them is not installed.
    """
    content = check_workbook(name, source)
    with _opened(name, content) as book:
        wanted, hidden = _sheets_to_look_at(name, book, asked.sheet)
        looks = [look for sheet in wanted if (look := _look(book.get_sheet_by_name(sheet), asked)) is not None]
        hidden = [sheet for sheet in hidden if book.get_sheet_by_name(sheet).height]
    if not looks:
        return None
    first = looks[0]
    chosen = [look for look in looks if asked.sheet == ALL or set(look.columns) == set(first.columns)]
    left_out = [look.part.sheet for look in looks if look not in chosen]
    warnings = [note for look in chosen for note in look.notes]
    warnings += count_errors(name, content, [look.part.sheet for look in chosen])
    warnings += _tell_left_out(left_out, "has other columns", "have other columns")
    warnings += _tell_left_out(hidden, "is hidden", "are hidden")
    columns: dict[str, Evidence] = {}
    for look in chosen:
        columns |= {each: merge(columns.get(each, NOTHING), seen) for each, seen in look.columns.items()}
    rows = sum(look.part.rows for look in chosen)
    parts = tuple(look.part for look in chosen)
    odd = {name: each for look in reversed(chosen) for name, each in look.odd.items()}
    return FileSchema(
        "xlsx",
        columns,
        rows,
        stated_rows=rows,
        warnings=warnings,
        guess=first.guess,
        sheets=parts,
        odd_values=odd,
    )


@dataclass(frozen=True)
class SheetRows:
    """Some rows of a sheet: their numbers as Excel has them, and by column their values in the types that they have."""

    sheet: str
    numbers: Sequence[int]
    columns: Mapping[str, ArrowSource]


def read_rows(
    name: str, source: Any, parts: Sequence[SheetPart], nulls: Collection[str], rows: int
) -> Iterator[SheetRows]:
    """Yield some rows at a time.

    Raises:
        UnreadableFile: it is no workbook, or lacks a sheet.
    """
    words = frozenset(nulls)
    with _opened(name, check_workbook(name, source)) as book:
        for part in parts:
            found = _records(book.get_sheet_by_name(part.sheet), part.first_row)
            left = part.rows
            while some := list(islice(found, rows)):
                left -= len(some)
                columns = {column: [_value(row, place, words) for _, row in some] for place, column in part.columns}
                sources = {column: _source(values) for column, values in columns.items()}
                yield SheetRows(part.sheet, [number for number, _ in some], sources)
            if left:
                raise UnreadableFile(name, f'sheet "{part.sheet}" has not the {part.rows:,} rows that the plan saw.')


@contextmanager
def _opened(name: str, source: Any) -> Iterator[Any]:
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise MissingDependency(
            "Reading xlsx needs python-calamine.", hint="Install it: pip install 'mason-data[excel]'"
        ) from error
    try:
        source.seek(0)
        with calamine.CalamineWorkbook.from_filelike(source) as book:
            yield book
    except calamine.PasswordError as error:
        raise UnreadableFile(name, "it is protected by a password.") from error
    except (calamine.CalamineError, ValueError, OverflowError) as error:
        raise UnreadableFile(name, f"not a complete xlsx file: {_first_line(error)}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Rust: by its name, for no module has it
            raise
        raise UnreadableFile(name, f"not a complete xlsx file: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _sheets_to_look_at(name: str, book: Any, asked: str) -> tuple[list[str], list[str]]:
    """The sheets that may be read, and those that are hidden; who names a sheet gets it, hidden or not."""
    sheets = [each for each in book.sheets_metadata if str(each.typ).endswith("WorkSheet")]
    if asked and asked != ALL:
        if asked not in [each.name for each in sheets]:
            known = ", ".join(f'"{each.name}"' for each in sheets[:5])
            raise UnreadableFile(name, f'it has no sheet "{asked}".', hint=f"It has {known or 'none'}.")
        return [asked], []
    visible = [each.name for each in sheets if str(each.visible).endswith(".Visible")]
    return visible, [each.name for each in sheets if each.name not in visible]


def _tell_left_out(sheets: Sequence[str], one: str, several: str) -> list[str]:
    if not sheets:
        return []
    named = ", ".join(f'"{each}"' for each in sheets[:5]) + (f" and {len(sheets) - 5:,} more" if sheets[5:] else "")
    is_one = len(sheets) == 1
    told = f"sheet {named} {one} and is" if is_one else f"sheets {named} {several} and are"
    return [f"{told} left out (the parameter sheet names one to be read, or * for all that are visible)"]


def _look(sheet: Any, asked: SheetsAsked) -> _Look | None:
    """Look at every row of a sheet; None if it has none."""
    notes: list[str] = []
    head = _Head.of(sheet, asked, notes)
    if head is None:
        return None
    words = frozenset(asked.nulls)
    kinds: list[set[type]] = [set() for _ in range(sheet.width)]
    ends: list[list[int]] = [[] for _ in range(sheet.width)]
    rows = 0
    texts = [_Texts() for _ in range(sheet.width)]
    for number, row in _records(sheet, head.first_row):
        rows += 1
        for place in range(len(row)):
            value = _value(row, place, words)
            if value is not None:
                kinds[place].add(type(value))
                texts[place].take(value, number)
                if type(value) is int:
                    seen = (*ends[place], value)
                    ends[place] = [min(seen), max(seen)]
    # A column without a name and without a value is an empty one beside the table.
    used = [place for place in range(sheet.width) if head.names[place] or kinds[place]]
    names = unique_names([head.names[place] or f"col_{place}" for place in used], notes)
    columns = {each: _evidence(kinds[place], ends[place]) for place, each in zip(used, names, strict=True)}
    part = SheetPart(sheet.name, head.first_row, tuple(zip(used, names, strict=True)), rows)
    notes += _tell_merged(sheet)
    prefix = f'sheet "{sheet.name}": '
    odd = {
        each: found
        for place, each in zip(used, names, strict=True)
        if len(kinds[place]) > 1
        and (found := texts[place].odd(_evidence(kinds[place] - {str}, ends[place]), sheet.name))
    }
    return _Look(part, columns, head.guess, [prefix + note for note in notes], odd)


class _Texts:
    """The text among the cells of a column."""

    def __init__(self) -> None:
        self._values = self._count = self._first = 0
        self._texts: dict[str, None] = {}

    def take(self, value: Any, number: int) -> None:
        self._values += 1
        if type(value) is str:
            self._count += 1
            self._first = self._first or number
            if len(self._texts) < _TEXTS_KEPT:
                self._texts[value] = None

    def odd(self, others: Evidence, sheet: str) -> OddValue | None:
        """Return for which text the column is text, if it is little among many values of another kind."""
        kind = storable(decide(others))
        if not are_few(self._count, self._values) or kind == "string":
            return None
        place = f'row {self._first:,} of sheet "{sheet}"'
        return OddValue(next(iter(self._texts)), self._first, self._count, str(kind), tuple(self._texts), place)


@dataclass(frozen=True)
class _Head:
    """Where the records of a sheet begin, and what their columns are called; "" where nothing says."""

    first_row: int
    names: Sequence[str]
    guess: Header

    @classmethod
    def of(cls, sheet: Any, asked: SheetsAsked, notes: list[str]) -> _Head | None:
        before = asked.skip_rows or 0
        numbered = enumerate(islice(sheet.iter_rows(), before, None), before)
        rows = list(islice((each for each in numbered if any(map(is_there, each[1]))), _LOOKED_AT))
        if not rows:
            return None
        titles = count_titles(rows) if asked.skip_rows is None else 0
        if titles:
            told = " ".join(str(cell) for _, row in rows[:titles] for cell in row if is_there(cell))[:60]
            notes.append(
                f'its first {"row is" if titles == 1 else f"{titles} rows are"} a title, and skipped: "{told}"'
            )
        elif asked.skip_rows is None and asked.read_headers is None:
            notes += describe_rows_before(rows)
        (number, first), below = rows[titles], [row for _, row in rows[titles + 1 :]]
        guess = judge_row(first, below)
        if asked.read_headers is not None:
            guess = Header.GIVEN
        if asked.read_headers or (asked.read_headers is None and guess.is_there):
            return cls(number + 1, [_as_name(cell) for cell in first], guess)
        return cls(number, [""] * sheet.width, guess)


def _as_name(cell: Any) -> str:
    if not is_there(cell):
        return ""
    value = _plain(cell)
    return value if isinstance(value, str) else str(_texts([value])[0])


def _tell_merged(sheet: Any) -> list[str]:
    ranges = sheet.merged_cell_ranges or []
    if not ranges:
        return []
    (start, end), *others = ranges
    more = f" and {len(others):,} more ranges" if others else ""
    return [f"cells {cell_name(*start)}:{cell_name(*end)}{more} are merged: the first has the value, others are empty"]


def _records(sheet: Any, first_row: int) -> Iterator[tuple[int, Sequence[Any]]]:
    """The rows from one on that are not empty, with their numbers as Excel has them."""
    rows = enumerate(islice(sheet.iter_rows(), first_row, None), first_row + 1)
    return ((number, row) for number, row in rows if any(map(is_there, row)))


def _value(row: Sequence[Any], place: int, nulls: Collection[str]) -> Any:
    cell = row[place] if place < len(row) else None
    return None if not is_there(cell) or (nulls and cell in nulls) else _plain(cell)


def _plain(cell: Any) -> Any:
    """A number without a fraction is an integer, as long as a double tells it from its neighbours."""
    return int(cell) if isinstance(cell, float) and abs(cell) <= _EXACT and cell == int(cell) else cell


def _evidence(kinds: Collection[type], ends: Collection[int]) -> Evidence:
    kind = _kind(kinds)
    if kind is None:
        return NOTHING
    if kind is int:
        return reduce(merge, map(integer, ends))
    return TEXT if kind is str else evidence_of(_TYPES[kind])


def _kind(kinds: Collection[type]) -> type | None:
    """The kind that holds values of several; text holds all. None for no values."""
    if len(kinds) <= 1:
        return next(iter(kinds), None)
    return _WIDER.get(frozenset(kinds), str)


def _source(values: Sequence[Any]) -> ArrowSource:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or _kind(kinds) is not str:
        return ArrowSource(_array(values))
    others = [_only(kind, values) for kind in sorted(kinds - {str}, key=str)]
    return CellSource(_texts(values), _only(str, values), others)


def _only(kind: type, values: Sequence[Any]) -> pa.Array:
    return pa.array([value if type(value) is kind else None for value in values], _TYPES[kind])


def _array(values: Sequence[Any]) -> pa.Array:
    kind = _kind({type(value) for value in values if value is not None})
    if kind is None:
        return pa.nulls(len(values))
    if kind is datetime:
        values = [datetime.combine(each, time()) if type(each) is date else each for each in values]
    return pa.array(values, _TYPES[kind])


def _texts(values: Sequence[Any]) -> pa.Array:
    """Values of several kinds as text, spelled as a column of their own kind would be."""
    return pa.array([_text(value) for value in values], pa.string())


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        return str(value)
    spelled: str = pa.scalar(value, _TYPES[type(value)]).cast(pa.string()).as_py()
    return spelled
