"""Divides the rows of a table into those that stay and those that go, by where they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.pipeline.sinks import Sink, SinkPlace, table_sink
from mason.pipeline.sql.query import ROW_COLUMN

NAME = "mason.pipeline.dedupe.sink:dividing_sink"


def dividing_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> DividingSink:
    """Write the rows that stay; and those that go, if there is a folder for them.

    `places` has, for each file of the table, the files that say which of its rows go.
    """
    staying = table_sink(place, schema, options)
    folder = options["removed"]
    going = table_sink(replace(place, folder=folder), schema, {}) if folder else None
    return DividingSink(place.filesystem, options["places"], staying, going)


class DividingSink:
    """Two sinks, and the rows that belong to the second."""

    def __init__(
        self,
        filesystem: pafs.FileSystem,
        places: Mapping[str, Sequence[str]],
        staying: Sink,
        going: Sink | None,
    ) -> None:
        self._filesystem, self._places = filesystem, places
        self._staying, self._going = staying, going
        self._stack = ExitStack()
        self._file = ""
        self._first = 0
        self._rows: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._removed = 0

    @property
    def files(self) -> Sequence[str]:
        return self._staying.files

    def stand_at(self, file: str, first: int) -> None:
        """Take note of where the next rows stand."""
        if file != self._file:
            self._file, self._rows = file, self._rows_of(file)
        self._first = first

    def write(self, rows: pa.RecordBatch) -> None:
        begin, end = np.searchsorted(self._rows, [self._first, self._first + rows.num_rows])
        going = self._rows[begin:end] - self._first
        if not len(going):
            self._staying.write(rows)
            return
        stays = np.ones(rows.num_rows, bool)
        stays[going] = False
        self._removed += len(going)
        self._staying.write(rows.filter(pa.array(stays)))
        if self._going:
            self._going.write(rows.take(pa.array(going)))

    def result(self) -> Mapping[str, Any]:
        return {"removed": self._removed, "removed_files": list(self._going.files) if self._going else []}

    def __enter__(self) -> DividingSink:
        self._stack.enter_context(self._staying)
        if self._going:
            self._stack.enter_context(self._going)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def _rows_of(self, file: str) -> npt.NDArray[np.int64]:
        """The rows of a file that go, in order."""
        files = self._places[file]
        read = [pq.read_table(each, filesystem=self._filesystem, partitioning=None)[ROW_COLUMN] for each in files]
        return np.sort(np.concatenate([np.empty(0, np.int64), *(each.to_numpy() for each in read)]))
