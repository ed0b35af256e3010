"""Some rows of a file on their way into a table, where they came from, and the first value that fits no column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from mason.pipeline.formats.json.values import dump
from mason.pipeline.formats.odd_values import Misfit, render_value
from mason.pipeline.formats.sources import Source, ValueSource
from mason.pipeline.reading.tasks.task import FileInTask
from mason.pipeline.tables.rejects import Reject


class CannotBeCut(Exception):
    """Raised when a quote stands where none belongs: the ranges of this file need not begin with a record."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True)
class Place:
    """Where a record stands: its number from 1, its first byte (-1 where unknown), and its text, if it has one."""

    record: int
    offset: int
    raw: str | None = None
    where: str = ""
    """The place in the words of its format, where that has some."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Some rows of a file by column, and the records that are no rows. `records` counts both."""

    columns: Mapping[str, Source]
    rows: int
    records: int
    rejects: Sequence[Reject] = ()
    place: Callable[[int], Place] | None = None
    """Says of a row where it stands in the file; asked only for rows that turn out to be bad."""
    finer: Mapping[str, int] = field(default_factory=dict)
    """How many times of a column have lost something finer than a microsecond when they were read."""
    cut: int = 0
    """How many rows had more fields in the file than there are columns."""
    notes: Sequence[str] = ()
    """What is to be said of the file, besides its records."""

    def describe(self, file: str, index: int) -> Reject:
        """Return a row as the record that it was, still without what is wrong with it."""
        place = self.place(index) if self.place else Place(-1, -1)
        raw = place.raw if place.raw is not None else self._as_json(index)
        return Reject(file, place.record, place.offset, "", "", raw)

    def where(self, index: int) -> str:
        """Return where a row stands in the words of its format; nothing where its number says it."""
        return self.place(index).where if self.place else ""

    def take(self, rows: Sequence[int]) -> Batch:
        """Return some of the rows; what is wrong with others has been told."""
        place = self.place
        columns = {name: source.take(rows) for name, source in self.columns.items()}
        placed = (lambda row: place(rows[row])) if place else None
        return replace(self, columns=columns, rows=len(rows), place=placed)

    def _as_json(self, index: int) -> str:
        values = {name: source.value(index) for name, source in self.columns.items()}
        return json_text(values)


def json_text(value: Any) -> str:
    """Return values as JSON that can be mended and read again; bytes that are no text stay what they are."""
    return dump(value, _plain)


def _plain(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def rows_batch(rows: Sequence[Mapping[Any, Any]], records: int, rejects: Sequence[Reject]) -> Batch:
    """Return records that name their own values, with those that are no rows."""
    names = dict.fromkeys(str(name) for row in rows for name in row)
    columns: dict[str, Source] = {name: ValueSource([row.get(name) for row in rows]) for name in names}
    return Batch(columns=columns, rows=len(rows), records=records, rejects=rejects)


def find_misfit(file: FileInTask, batch: Batch, source: Source, expected: pa.DataType, timezone: str) -> Misfit | None:
    """Return the first value of a column that does not fit; None if each does, and only all together do not."""
    first, end = 0, batch.rows
    while end - first > 1:
        middle = (first + end) // 2
        if source.take(range(first, middle)).fit(expected, timezone) is None:
            end = middle
        else:
            first = middle
    if source.take([first]).fit(expected, timezone) is not None:
        return None
    value = source.value(first)
    text = value if isinstance(value, str) else json_text(value)
    return Misfit(file.name, _place(file, batch, first), f'"{render_value(text)}"', str(expected))


def _place(file: FileInTask, batch: Batch, index: int) -> str:
    """A range does not know how many records stand before it, but at which byte it begins."""
    place = batch.place(index) if batch.place else None
    if place is None:
        return "a record"
    if place.where:
        return place.where
    return f"record {place.record:,}" if file.is_whole else f"the record at byte {place.offset:,}"
