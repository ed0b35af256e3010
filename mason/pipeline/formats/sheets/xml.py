"""The cells of a sheet as its XML has them, where the reader of workbooks tells less.

It has every number as a double, makes a time of day of negative numbers that have the format of a date, and takes cells
with errors for empty ones.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar
from xml.etree import ElementTree

from mason.errors import UnreadableFile

SHEETS = "xl/worksheets/"
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ElementTree.ParseError),
    *(KeyError, OSError, ValueError, NotImplementedError, RuntimeError),
)
"""What is raised of archives and XML that are damaged."""
_ROW_OR_CELL = re.compile(
    rb"<(?:\w+:)?(?:row\b([^>]*)>|c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>))",
    re.DOTALL,
)
_NUMBER_OF_ROW = re.compile(rb"""\br=["']([0-9]{1,7})["']""").search
_PLACE = re.compile(rb"""\br=["']([A-Za-z]{1,3})([0-9]{1,7})["']""").search
_IS_ERROR = re.compile(rb"""\bt=["']e["']""").search
_HAS_FORMAT = re.compile(rb"""\bs=["']""").search
_VALUE = re.compile(rb"<(?:\w+:)?v\b[^>]*>\s*([^<]*?)\s*<").search
_FORMULA = re.compile(rb"<(?:\w+:)?f\b").search
_LONG = re.compile(rb"-?[0-9]{16,}(?:\.[0-9]+)?").fullmatch
_NEGATIVE = re.compile(rb"-[0-9.]+(?:[eE][+-]?[0-9]+)?").fullmatch

Found = TypeVar("Found")
Place = tuple[int, int]
"""The row and the column of a cell, from 0."""


@dataclass(frozen=True)
class RawCell:
    """A cell with its attributes and what stands in it."""

    place: Place
    attributes: bytes
    content: bytes

    @property
    def value(self) -> bytes:
        """The value; nothing where none was saved."""
        found = _VALUE(self.content)
        return found[1] if found else b""

    @property
    def is_error(self) -> bool:
        """Whether it holds an error; a formula that nobody calculated does not yet."""
        return bool(_IS_ERROR(self.attributes)) and bool(self.value or not _FORMULA(self.content))


def raw_cells(text: bytes) -> Iterator[RawCell]:
    """Yield the cells of a sheet. One that does not say where it stands is behind the one before it."""
    row, column = -1, -1
    for found in _ROW_OR_CELL.finditer(text):
        in_row, attributes, content = found.groups()
        if in_row is not None:
            number = _NUMBER_OF_ROW(in_row)
            row, column = int(number[1]) - 1 if number else row + 1, -1
            continue
        place = _PLACE(attributes)
        row, column = (int(place[2]) - 1, column_number(place[1]) - 1) if place else (row, column + 1)
        yield RawCell((row, column), attributes, content or b"")


def column_number(letters: bytes) -> int:
    """Return the number of a column from 1 on: A, B, …, AA."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


class SheetXml:
    """A sheet's XML, which is looked into only where somebody asks: most sheets have nothing of the kind."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read

    @cached_property
    def errors(self) -> Mapping[Place, str]:
        """The cells with errors, and what these say."""
        text = self._text
        if b'"e"' not in text and b"'e'" not in text:
            return {}
        return {each.place: each.value.decode("utf-8", "replace") for each in raw_cells(text) if each.is_error}

    @cached_property
    def numbers(self) -> Mapping[Place, str]:
        """The digits of numbers that a double may not hold, and of negative ones that have a format."""
        found = {}
        for each in raw_cells(self._text):
            value = each.value
            if _LONG(value) or (_NEGATIVE(value) and _HAS_FORMAT(each.attributes)):
                found[each.place] = value.decode()
        return found

    @cached_property
    def has_negatives(self) -> bool:
        """Whether there may be a negative number at all."""
        return re.search(rb">\s*-", self._text) is not None

    @cached_property
    def _text(self) -> bytes:
        return self._read()


def open_sheets(file: str, content: io.BytesIO) -> Callable[[str], SheetXml]:
    """Return what gives the XML of a sheet by its name; that of one that cannot be found is empty."""
    places = read_archive(file, content, sheet_places)

    def open_sheet(sheet: str) -> SheetXml:
        place = places.get(sheet)
        return SheetXml(lambda: read_archive(file, content, lambda archive: archive.read(place)) if place else b"")

    return open_sheet


def read_archive(file: str, content: io.BytesIO, read: Callable[[zipfile.ZipFile], Found]) -> Found:
    """Return what is read of the archive that a workbook is.

    Raises:
        UnreadableFile: it is damaged.
    """
    try:
        with zipfile.ZipFile(content) as archive:
            return read(archive)
    except BROKEN as error:
        raise UnreadableFile(file, f"not a complete xlsx file: {error}.") from error


def sheet_places(archive: zipfile.ZipFile) -> Mapping[str, str]:
    """Return where each sheet is in the archive, by its name; both dialects of the standard have these elements."""
    try:
        related = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    except BROKEN:
        return {}
    targets = {each.get("Id"): each.get("Target", "") for each in related}
    found = {}
    for each in book.iter():
        if each.tag.endswith("}sheet"):
            number = next((value for key, value in each.items() if key.endswith("}id")), "")
            place = posixpath.normpath(posixpath.join("/xl", targets.get(number, ""))).lstrip("/")
            if place in archive.namelist():
                found[each.get("name", "")] = place
    return found
