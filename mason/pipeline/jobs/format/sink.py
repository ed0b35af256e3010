"""What a task does with its rows: those that are wanted become files of the format, and are counted again in these.

A sample is drawn in two steps. First the rows of every task are counted. From the counts the driver draws how many rows
each task is to give, and each task draws which: the sample is one without replacement of all rows, though no task knows
the others' rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from mason.pipeline.formats.writers.output_format import output_format
from mason.pipeline.jobs.format.condition import Condition
from mason.pipeline.jobs.format.files import FileKind, Files
from mason.pipeline.reading.tasks.sinks import Sink, SinkPlace

_SEED = 20_260_131
"""Fixed, so that the same rows are drawn of the same table."""


def draw(counts: Sequence[int], size: int) -> Mapping[str, Any]:
    """Return how many rows each task has and gives, as JSON can hold it."""
    total = sum(counts)
    chosen = np.random.default_rng(_SEED).choice(total, min(size, total), replace=False, shuffle=False)
    tasks = np.searchsorted(np.cumsum(counts), chosen, side="right")
    return {"counts": list(counts), "takes": np.bincount(tasks, minlength=len(counts)).tolist()}


def rows_of_task(drawn: Mapping[str, Any], name: str) -> npt.NDArray[np.int64]:
    """Return the numbers, from 0 and sorted, of the rows that a task gives; its own is in the name of its files."""
    task = int(name.rsplit("-", 2)[1])
    count, take = drawn["counts"][task], drawn["takes"][task]
    chosen = np.random.default_rng([_SEED, task]).choice(count, take, replace=False, shuffle=False)
    rows: npt.NDArray[np.int64] = np.sort(chosen)
    return rows


FORMAT_SINK = "mason.pipeline.jobs.format.sink:format_sink"
COUNT_SINK = "mason.pipeline.jobs.format.sink:count_sink"


def format_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> Sink:
    """Write the rows that meet the condition, or a sample of them, in a format."""
    return FormatSink(place, schema, options)


def count_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> Sink:
    """Count the rows that meet the condition."""
    return CountSink(options)


class Filter:
    """Leaves out the rows for which a condition is not true, and counts them."""

    def __init__(self, text: str) -> None:
        self._condition = Condition.of(text) if text else None
        self.filtered = 0

    def of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        if self._condition is None:
            return rows
        taken = rows.filter(self._condition.mask(rows))
        self.filtered += rows.num_rows - taken.num_rows
        return taken


class CountSink:
    """Counts."""

    files: Sequence[str] = ()

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._filter = Filter(options["filter"])
        self._rows = 0

    def write(self, rows: pa.RecordBatch) -> None:
        self._rows += self._filter.of(rows).num_rows

    def result(self) -> Mapping[str, Any]:
        return {"rows": self._rows}

    def __enter__(self) -> CountSink:
        return self

    def __exit__(self, *raised: object) -> None:
        pass


class FormatSink:
    """Writes."""

    def __init__(self, place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> None:
        self._place = place
        self._filter = Filter(options["filter"])
        self._columns: Sequence[str] = options["columns"] or schema.names
        self._format = output_format(options["format"])
        kind = FileKind(self._format, options["compression"], options["file_size"])
        written = pa.schema([schema.field(name) for name in self._columns])
        where = (place.filesystem, place.folder, place.name)
        self._files = Files(*where, written, kind, options["partition_columns"])
        self._sample = rows_of_task(options["sample"], place.name) if options["sample"] else None
        self._met = self._taken = 0

    @property
    def files(self) -> Sequence[str]:
        return self._files.files

    def write(self, rows: pa.RecordBatch) -> None:
        rows = self._take_sample(self._filter.of(rows)).select(self._columns)
        self._taken += rows.num_rows
        self._files.write(rows)

    def result(self) -> Mapping[str, Any]:
        folder, count = self._place.folder, self._format.count
        return {
            "filtered": self._filter.filtered,
            "not_sampled": self._met - self._taken,
            "rows": {name: count(self._place.filesystem, f"{folder}/{name}") for name in self.files},
            "noted": dict(self._files.noted),
        }

    def __enter__(self) -> FormatSink:
        return self

    def __exit__(self, kind: object, *raised: object) -> None:
        if kind is None:
            self._files.close()
        else:
            self._files.give_up()

    def _take_sample(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        before, self._met = self._met, self._met + rows.num_rows
        if self._sample is None:
            return rows
        return rows.take(pa.array(_within(self._sample, before, self._met) - before))


def _within(chosen: npt.NDArray[np.int64], start: int, end: int) -> npt.NDArray[np.int64]:
    first, last = np.searchsorted(chosen, [start, end])
    return chosen[first:last]
