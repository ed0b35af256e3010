"""The work of a task: it keeps no row, only what its sketches make of them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from mason.pipeline.jobs.summary.leaves import leaf_values, leaves_of
from mason.pipeline.jobs.summary.sketches.columns import column_sketch
from mason.pipeline.jobs.summary.sketches.sketch import Sizes
from mason.pipeline.reading.tasks.sinks import SinkPlace

SINK = "mason.pipeline.jobs.summary.sink:summary_sink"

_ROWS_AT_ONCE = 100_000
_BYTES_AT_ONCE = 128 * 1024 * 1024


class SummarySink:
    """Takes rows into a sketch for every column. Each call of a sketch costs something: small batches are united."""

    files: Sequence[str] = ()

    def __init__(self, schema: pa.Schema, sizes: Sizes, seed: int) -> None:
        self._schema = schema
        self._sketches = [column_sketch(leaf.type, sizes, seed) for leaf in leaves_of(schema)]
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0

    def write(self, rows: pa.RecordBatch) -> None:
        self._waiting.append(rows)
        self._rows += rows.num_rows
        if (
            sum(each.num_rows for each in self._waiting) >= _ROWS_AT_ONCE
            or sum(each.nbytes for each in self._waiting) >= _BYTES_AT_ONCE
        ):
            self._flush()

    def result(self) -> Mapping[str, Any]:
        return {"rows": self._rows, "columns": [sketch.to_dict() for sketch in self._sketches]}

    def __enter__(self) -> SummarySink:
        return self

    def __exit__(self, kind: object, *raised: object) -> None:
        if kind is None:
            self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for batch in pa.Table.from_batches(waiting, self._schema).combine_chunks().to_batches():
            for sketch, values in zip(self._sketches, leaf_values(batch), strict=True):
                sketch.add(values)


def summary_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> SummarySink:
    """Summarize the rows. What is left to chance depends on the task alone: the same files give the same summary."""
    task = place.name.split("-")[-2:-1]
    return SummarySink(schema, Sizes(**options), zlib.crc32("".join(task).encode()))
