"""What a workbook of Excel has that its reader does not tell: cells with errors, and how much it unpacks to."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from mason.errors import UnreadableFile
from mason.pipeline.formats.sheets.extent import find_far_cell
from mason.pipeline.formats.sheets.xml import BROKEN, SHEETS, SheetXml, read_archive, sheet_places
from mason.pipeline.storage.archives import find_bomb

_FORMULA = re.compile(  # what has none of a value behind it
    rb"""<(?:\w+:)?c\b([^>]*)>\s*<(?:\w+:)?f\b(?:[^>]*/>|[^>]*[^/>]>[^<]*</(?:\w+:)?f>|>[^<]*</(?:\w+:)?f>)\s*"""
    rb"""(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"""
)
_PLACE = re.compile(rb"""\br=["']([A-Z]+[0-9]+)["']""").search
_GIVES_TEXT = re.compile(rb"""\bt=["']str["']""").search


def cell_name(row: int, column: int) -> str:
    """Return what Excel calls a cell, by its numbers from 0: A1, AB7."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row + 1}"


def check_workbook(name: str, source: Any) -> io.BytesIO:
    """Return the content of a workbook.

    Raises:
        UnreadableFile: it is none, or would unpack to far too much.
    """
    content = io.BytesIO(source.read())
    try:
        with zipfile.ZipFile(content) as archive:
            bomb = find_bomb(archive.infolist()) or find_far_cell(archive)
    except BROKEN as error:
        is_old = content.getvalue()[:4] == b"\xd0\xcf\x11\xe0"
        why = "it is protected by a password, or older than xlsx" if is_old else f"not a complete xlsx file: {error}"
        raise UnreadableFile(name, f"{why}.") from error
    if bomb:
        raise UnreadableFile(name, bomb)
    return content


def count_errors(name: str, content: io.BytesIO, sheets: Sequence[str]) -> list[str]:
    """Return what is to be said of cells that their reader takes for empty: errors such as #N/A, unsaved formulas.

    Raises:
        UnreadableFile: it is damaged.
    """
    return read_archive(name, content, lambda archive: _count_errors(archive, sheets))


def _count_errors(archive: zipfile.ZipFile, sheets: Sequence[str]) -> list[str]:
    places = sheet_places(archive)
    if not places.keys() >= set(sheets):  # nobody says which is which
        places = {each.filename: each.filename for each in archive.infolist() if each.filename.startswith(SHEETS)}
        sheets = list(places)
    return [note for sheet in sheets for note in _tell(sheet, archive.read(places[sheet]))]


def _tell(sheet: str, text: bytes) -> Iterator[str]:
    yield from _tell_errors(sheet, text)
    yield from _tell_unsaved(sheet, text)


def _tell_errors(sheet: str, text: bytes) -> Iterator[str]:
    cells = SheetXml(lambda: text).errors
    if not cells:
        return
    kinds = ", ".join(said or "without a name" for said, _ in Counter(cells.values()).most_common())
    is_one = len(cells) == 1
    count, are = ("a cell holds an error", "is") if is_one else (f"{len(cells):,} cells hold errors", "are")
    yield f'sheet "{sheet}": {count} ({kinds}; the first is {cell_name(*next(iter(cells)))}), and {are} null'


def _tell_unsaved(sheet: str, text: bytes) -> Iterator[str]:
    """Say which formulas have no value: programs that write workbooks need not calculate. Empty text is a value."""
    cells = [cell for cell in _FORMULA.findall(text) if not _GIVES_TEXT(cell)]
    if not cells:
        return
    first = place[1].decode() if (place := _PLACE(cells[0])) else "without a place"
    is_one = len(cells) == 1
    count = "a cell holds a formula" if is_one else f"{len(cells):,} cells hold formulas"
    where = f" (the first is {first}), and are null" if not is_one else f" ({first}), and is null"
    why = "what wrote the file calculated nothing (opening and saving it in Excel or LibreOffice does)"
    yield f'sheet "{sheet}": {count} without a saved value{where}: {why}'
