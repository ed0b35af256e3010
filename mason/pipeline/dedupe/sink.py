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
from mason.pipeline.sql.query import FILE_COLUMN, ROW_COLUMN

NAME = "mason.pipeline.dedupe.sink:dividing_sink"


def dividing_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> DividingSink:
    """Write the rows that stay; and those that go, if there is a folder for them.

    `positions` is the folder with the rows that go, in one folder for the number of each file; `files` are the numbers.
    """
    staying = table_sink(place, schema, options)
    folder = options["removed"]
    going = table_sink(replace(place, folder=folder), schema, {}) if folder else None
    return DividingSink(place.filesystem, options["positions"], options["files"], staying, going)


class DividingSink:
    """Two sinks, and the rows that belong to the second."""

    def __init__(
        self,
        filesystem: pafs.FileSystem,
        positions: str,
        numbers: Mapping[str, int],
        staying: Sink,
        going: Sink | None,
    ) -> None:
        self._filesystem, self._positions, self._numbers = filesystem, positions, numbers
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
            self._file, self._rows = file, self._rows_of(self._numbers[file])
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

    def _rows_of(self, number: int) -> npt.NDArray[np.int64]:
        """The rows of a file that go, in order."""
        folder = pafs.FileSelector(f"{self._positions}/{FILE_COLUMN}={number}", allow_not_found=True)
        files = [info.path for info in self._filesystem.get_file_info(folder)]
        read = [pq.read_table(file, filesystem=self._filesystem, partitioning=None)[ROW_COLUMN] for file in files]
        return np.sort(np.concatenate([np.empty(0, np.int64), *(each.to_numpy() for each in read)]))
