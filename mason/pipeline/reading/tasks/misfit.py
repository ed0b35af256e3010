"""Finds the first value of a column that the type of its sample does not hold."""

from __future__ import annotations

import pyarrow as pa

from mason.pipeline.formats.odd_values import Misfit, render_value
from mason.pipeline.formats.sources import Source
from mason.pipeline.reading.tasks.batches import Batch, json_text
from mason.pipeline.reading.tasks.task import FileInTask


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
    told = value if isinstance(value, str) else json_text(value)
    return Misfit(file.name, _place(file, batch, first), f'"{render_value(told)}"', str(expected))


def _place(file: FileInTask, batch: Batch, index: int) -> str:
    """A range does not know how many records stand before it, but at which byte it begins."""
    place = batch.place(index) if batch.place else None
    if place is None:
        return "a record"
    if place.where:
        return place.where
    return f"record {place.record:,}" if file.is_whole else f"the record at byte {place.offset:,}"
