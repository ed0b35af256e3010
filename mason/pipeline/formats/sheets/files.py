"""Sheets of Excel workbooks (xlsx, xlsm): which of them are read, what names their columns have, and their rows.

A cell has a type of its own: number, text, boolean, date. A number without a fraction is an integer, since Excel knows
no other; a formula is the value that was saved with it. The plan looks at every row and decides on the layout, by which
tasks read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mason.errors import MissingDependency, UnreadableFile
from mason.pipeline.formats.delimited.headers import Header
from mason.pipeline.formats.file_schema import FileSchema, unique_names
from mason.pipeline.formats.odd_values import OddValue, are_few
from mason.pipeline.formats.sheets.cells import cell_name, check_workbook, count_errors
from mason.pipeline.formats.sheets.extent import SheetPart
from mason.pipeline.formats.sheets.head import Head, SheetsAsked, name_of_cell
from mason.pipeline.formats.sheets.values import Cells, evidence_of_cells, need_digits, source_of
from mason.pipeline.formats.sheets.xml import open_sheets
from mason.pipeline.formats.sources import Source
from mason.pipeline.types.column_types import NOTHING, Evidence, decide, merge, storable
from mason.pipeline.types.value_types import classify_values

ALL = "*"
_TEXTS_KEPT = 1_000


@dataclass(frozen=True, kw_only=True)
class _SheetFinding:
    """A sheet that may be read, and what all its rows show."""

    part: SheetPart
    columns: Mapping[str, Evidence]
    guess: Header
    notes: Sequence[str]
    doubt: str
    """What is to be said of its header, unless another sheet has the same."""
    odd: Mapping[str, OddValue]


def read_workbook(name: str, source: Any, asked: SheetsAsked) -> FileSchema | None:
    """Return the columns of a workbook's sheets, or None if they are empty.

    By default the first visible sheet with data is read, and those with the same columns; others are named in a
    warning.

    Raises:
        UnreadableFile: it is no workbook, has no such sheet, or two of one name.
        MissingDependency: the package that reads them is not installed.
    """
    content = check_workbook(name, source)
    with _open_workbook(name, content) as book:
        wanted, hidden = _sheets_to_look_at(name, book, asked.sheet)
        xml = open_sheets(name, content)
        found = (
            _inspect_sheet(
                Cells(sheet=book.get_sheet_by_name(each), xml=xml(each), nulls=frozenset(asked.nulls)), asked
            )
            for each in wanted
        )
        looks = [found_sheet for found_sheet in found if found_sheet is not None]
        hidden = [sheet for sheet in hidden if book.get_sheet_by_name(sheet).height]
    if not looks:
        return None
    first = looks[0]
    chosen = [
        found_sheet for found_sheet in looks if asked.sheet == ALL or set(found_sheet.columns) == set(first.columns)
    ]
    left_out = [found_sheet.part.sheet for found_sheet in looks if found_sheet not in chosen]
    begins = Counter(found_sheet.part.header for found_sheet in looks)
    doubts = {
        found_sheet.part.sheet: [found_sheet.doubt]
        for found_sheet in chosen
        if found_sheet.doubt and begins[found_sheet.part.header] == 1
    }
    warnings = [
        note for found_sheet in chosen for note in (*doubts.get(found_sheet.part.sheet, ()), *found_sheet.notes)
    ]
    warnings += count_errors(name, content, [found_sheet.part.sheet for found_sheet in chosen])
    warnings += _tell_left_out(left_out, "has other columns", "have other columns")
    warnings += _tell_left_out(hidden, "is hidden", "are hidden")
    columns: dict[str, Evidence] = {}
    for found_sheet in chosen:
        columns |= {each: merge(columns.get(each, NOTHING), seen) for each, seen in found_sheet.columns.items()}
    rows = sum(found_sheet.part.rows for found_sheet in chosen)
    parts = tuple(found_sheet.part for found_sheet in chosen)
    odd = {name: each for found_sheet in reversed(chosen) for name, each in found_sheet.odd.items()}
    return FileSchema(
        format="xlsx",
        columns=columns,
        rows=rows,
        stated_rows=rows,
        warnings=warnings,
        guess=first.guess,
        sheets=parts,
        odd_values=odd,
    )


@dataclass(frozen=True)
class SheetRows:
    """Some rows of a sheet: their numbers as Excel has them, and by column their values in the types that they have.

    `repeats` are those among them, counted from 0, that are the header once more.
    """

    sheet: str
    numbers: Sequence[int]
    columns: Mapping[str, Source]
    repeats: Sequence[int] = ()


def read_rows(
    name: str, source: Any, parts: Sequence[SheetPart], nulls: Collection[str], rows: int
) -> Iterator[SheetRows]:
    """Yield some rows at a time.

    Raises:
        UnreadableFile: it is no workbook, or lacks a sheet.
    """
    content = check_workbook(name, source)
    with _open_workbook(name, content) as book:
        xml = open_sheets(name, content)
        for part in parts:
            cells = Cells(sheet=book.get_sheet_by_name(part.sheet), xml=xml(part.sheet), nulls=frozenset(nulls))
            found = cells.records(part.first_row)
            left = part.rows
            while some := list(islice(found, rows)):
                left -= len(some)
                columns = {
                    column: [cells.value(number, row, place) for number, row in some] for place, column in part.columns
                }
                sources = {name: source_of(values, exact=name in part.exact) for name, values in columns.items()}
                repeats = [index for index, (_, row) in enumerate(some) if _repeats_header(row, part)]
                yield SheetRows(part.sheet, [number for number, _ in some], sources, repeats)
            if left:
                raise UnreadableFile(name, f'sheet "{part.sheet}" has not the {part.rows:,} rows that the plan saw.')


@contextmanager
def _open_workbook(name: str, source: Any) -> Iterator[Any]:
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
    twice = next((each for each, count in Counter(each.name for each in sheets).items() if count > 1), None)
    if twice is not None:
        raise UnreadableFile(name, f'two of its sheets are called "{twice}".', hint="Give one of them another name.")
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
    subject = f"sheet {named} {one} and is" if is_one else f"sheets {named} {several} and are"
    return [f"{subject} left out (the parameter sheet names one to be read, or * for all that are visible)"]


def _inspect_sheet(cells: Cells, asked: SheetsAsked) -> _SheetFinding | None:
    """Look at every row of a sheet; None if it has none."""
    notes: list[str] = []
    sheet = cells.sheet
    head = Head.of(cells, asked, notes)
    if head is None:
        return None
    header = SheetPart(sheet=sheet.name, first_row=head.first_row, columns=(), rows=0, header=head.header)
    seen = [_Column() for _ in range(sheet.width)]
    rows = 0
    for number, row in cells.records(head.first_row):
        rows += 1
        if not _repeats_header(row, header):
            for place in range(len(row)):
                seen[place].take(cells.value(number, row, place), number)
    # A column without a name and without a value is an empty one beside the table.
    used = [place for place in range(sheet.width) if head.names[place] or seen[place].kinds]
    names = unique_names([head.names[place] or f"col_{place}" for place in used], notes)
    placed = tuple(zip(used, names, strict=True))
    exact = {name: place for place, name in placed if need_digits(seen[place].kinds, seen[place].ends)}
    columns = {name: seen[place].evidence for place, name in placed}
    columns |= {name: _evidence_of_digits(cells, header, place) for name, place in exact.items()}
    part = SheetPart(
        sheet=sheet.name, first_row=head.first_row, columns=placed, rows=rows, header=head.header, exact=tuple(exact)
    )
    notes += [*_tell_negatives(cells), *_tell_rounded(cells), *_tell_merged(sheet)]
    prefix = f'sheet "{sheet.name}": '
    odd = {name: found for place, name in placed if (found := seen[place].odd_text(sheet.name))}
    doubt = prefix + head.doubt if head.doubt else ""
    return _SheetFinding(
        part=part, columns=columns, guess=head.guess, notes=[prefix + note for note in notes], doubt=doubt, odd=odd
    )


def _evidence_of_digits(cells: Cells, part: SheetPart, place: int) -> Evidence:
    """What the numbers of a column show one by one: few columns need that."""
    rows = ((number, row) for number, row in cells.records(part.first_row) if not _repeats_header(row, part))
    return classify_values([cells.value(number, row, place) for number, row in rows])


def _repeats_header(row: Sequence[Any], part: SheetPart) -> bool:
    """Say whether a row is the header once more; in one column it may be a value."""
    if sum(map(bool, part.header)) < 2:
        return False
    return all(name_of_cell(cell) == name for cell, name in zip(row, part.header, strict=True))


def _tell_negatives(cells: Cells) -> list[str]:
    count = len(cells.negatives)
    if not count:
        return []
    first = cell_name(*next(iter(cells.negatives)))
    which = f"cell {first} has" if count == 1 else f"{count:,} cells (the first is {first}) have"
    what = "is read as the number that it holds" if count == 1 else "are read as the numbers that they hold"
    return [f"{which} the format of a date or a time below zero, which does not exist, and {what}"]


def _tell_rounded(cells: Cells) -> list[str]:
    count = len(cells.rounded)
    if not count:
        return []
    first = cell_name(*next(iter(cells.rounded)))
    which = f"cell {first} holds a whole number" if count == 1 else f"{count:,} cells hold whole numbers"
    where = "" if count == 1 else f" (the first is {first})"
    return [f"{which} of more digits than what wrote the file has kept{where}: long keys have to be written as text"]


class _Column:
    """What the cells of a column are."""

    def __init__(self) -> None:
        self.kinds: set[type] = set()
        self.ends: list[int] = []
        self._texts = _Texts()

    def take(self, value: Any, number: int) -> None:
        if value is None:
            return
        self.kinds.add(type(value))
        self._texts.take(value, number)
        if type(value) is int:
            seen = (*self.ends, value)
            self.ends = [min(seen), max(seen)]

    @property
    def evidence(self) -> Evidence:
        return evidence_of_cells(self.kinds, self.ends)

    def odd_text(self, sheet: str) -> OddValue | None:
        if len(self.kinds) < 2:
            return None
        return self._texts.odd(evidence_of_cells(self.kinds - {str}, self.ends), sheet)


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
        return OddValue(
            value=next(iter(self._texts)),
            record=self._first,
            count=self._count,
            others=str(kind),
            values=tuple(self._texts),
            place=place,
        )


def _tell_merged(sheet: Any) -> list[str]:
    ranges = sheet.merged_cell_ranges or []
    if not ranges:
        return []
    (start, end), *others = ranges
    more = f" and {len(others):,} more ranges" if others else ""
    return [f"cells {cell_name(*start)}:{cell_name(*end)}{more} are merged: the first has the value, others are empty"]
