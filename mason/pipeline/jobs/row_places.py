"""Rows of a table's files that a job has found, by where they stand, for the sinks that meet them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.pipeline.sql.query import ROW_COLUMN


class RowPlaces:
    """Which rows of a table are meant. `places` has, for each of its files, the files that say which of its rows."""

    def __init__(self, filesystem: pafs.FileSystem, places: Mapping[str, Sequence[str]]) -> None:
        self._filesystem, self._places = filesystem, places
        self._file = ""
        self._first = 0
        self._rows: npt.NDArray[np.int64] = np.empty(0, np.int64)

    def begin_rows_at(self, file: str, first: int) -> None:
        """Take note of where the next rows stand."""
        if file != self._file:
            self._file, self._rows = file, self._rows_of(file)
        self._first = first

    def among(self, count: int) -> npt.NDArray[np.int64]:
        """Return which of the next rows are meant, counted from the first of them."""
        begin, end = np.searchsorted(self._rows, [self._first, self._first + count])
        meant: npt.NDArray[np.int64] = self._rows[begin:end] - self._first
        return meant

    def _rows_of(self, file: str) -> npt.NDArray[np.int64]:
        """The rows of a file that are meant, in order."""
        files = self._places[file]
        read = [pq.read_table(each, filesystem=self._filesystem, partitioning=None)[ROW_COLUMN] for each in files]
        return np.sort(np.concatenate([np.empty(0, np.int64), *(each.to_numpy() for each in read)]))
