"""The rows of a task as flat tables, each in a Parquet file of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from mason.pipeline.formats.writers.table_writer import TableWriter
from mason.pipeline.jobs.explode.shape import FlatTable, Form, flat_tables
from mason.pipeline.jobs.explode.unnest import Tally, unnest
from mason.pipeline.reading.tasks.sinks import SinkPlace, SinkSpec
from mason.pipeline.types.evidence_json import encode

_MOST_HELD = 128 * 1024 * 1024


def explode_spec(form: Form, firsts: Sequence[int]) -> SinkSpec:
    """Return the sink as data. `firsts` are the numbers of the first rows of the tasks."""
    return SinkSpec(f"{__name__}:explode_sink", {"form": form.to_dict(), "firsts": list(firsts)})


def explode_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> ExplodeSink:
    """Write the rows into a file for each flat table, in the folder of that table."""
    task = int(place.name.split("-")[-2])
    firsts = options["firsts"]
    return ExplodeSink(place, schema, Form.of(options["form"]), firsts[task] if task < len(firsts) else 0)


def _writer(place: SinkPlace, table: FlatTable) -> TableWriter:
    file, rising = f"{table.folder}/{place.name}.parquet", table.keys[:1]
    return TableWriter(place.filesystem, place.folder, file, table.schema, rising)


class ExplodeSink:
    """Takes rows apart as they come. What must be counted is counted in the arrays that come in."""

    def __init__(self, place: SinkPlace, schema: pa.Schema, form: Form, first: int) -> None:
        self._tables = flat_tables(schema, form)
        self._writers = [_writer(place, table) for table in self._tables]
        self._first, self._rows = first, 0
        self._tally = Tally()
        self._stack = ExitStack()

    @property
    def files(self) -> Sequence[str]:
        return [path for writer in self._writers for path in writer.files]

    def write(self, rows: pa.RecordBatch) -> None:
        for number, flat in unnest(self._tables, rows, self._first + self._rows, self._tally):
            self._writers[number].write(flat)
        self._rows += rows.num_rows
        while sum(writer.held for writer in self._writers) > _MOST_HELD:
            max(self._writers, key=lambda writer: writer.held).flush()

    def result(self) -> Mapping[str, Any]:
        tally = self._tally
        return {
            "first": self._first,
            "rows": self._rows,
            "elements": {self._tables[number].name: count for number, count in tally.elements.items()},
            "kept": [[list(path), count] for path, count in tally.kept.items()],
            "seen": [[list(path), encode(seen)] for path, seen in tally.seen.items()],
        }

    def __enter__(self) -> ExplodeSink:
        for writer in self._writers:
            self._stack.enter_context(writer)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)
