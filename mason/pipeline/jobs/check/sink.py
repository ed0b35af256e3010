"""The work of a task: it asks all checks of every batch once, and writes the rows that fail one, if that is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from mason.pipeline.jobs.check.checks import BY_KEYS, OF_THE_TABLE, BadCheck, Check
from mason.pipeline.jobs.check.rows import FindFailing, find_failing_rows, newest
from mason.pipeline.jobs.row_places import RowPlaces
from mason.pipeline.reading.tasks.sinks import Sink, SinkPlace, table_sink
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.types.python_values import python_rows
from mason.util.json_text import json_value

SINK = "mason.pipeline.jobs.check.sink:check_sink"
FAILED_CHECKS = "failed_checks"
"""The column of the saved rows that names the checks that they fail."""


def schema_of_failing_rows(schema: pa.Schema) -> pa.Schema:
    """Return the schema of the rows that are saved."""
    return schema.append(pa.field(FAILED_CHECKS, pa.list_(pa.string())))


def check_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> CheckSink:
    """Ask the checks of the rows. `places` has the rows that fail a check by keys, which were found before."""
    checks = [Check(**each) for each in options["checks"]]
    by_rows: dict[int, FindFailing] = {}
    places: dict[int, RowPlaces] = {}
    for number, check in enumerate(checks):
        if check.kind in BY_KEYS:
            places[number] = RowPlaces(open_filesystem(options["storage"]), options["places"][str(number)])
        elif check.kind not in OF_THE_TABLE:
            with suppress(BadCheck):  # a column turned out wider than planned: the driver sees the same, and says so
                by_rows[number] = find_failing_rows(check, schema)
    saved = table_sink(place, schema_of_failing_rows(schema), {}) if options["saves"] else None
    moments = {number: each.column for number, each in enumerate(checks) if _has_moments(each, schema)}
    return CheckSink(checks, by_rows, places, moments, saved, options["samples"])


def _has_moments(check: Check, schema: pa.Schema) -> bool:
    return check.kind == "freshness" and pa.types.is_temporal(schema.field(check.column).type)


class CheckSink:
    """Counts the rows that fail, keeps some of them to show, and notes the newest moments."""

    def __init__(
        self,
        checks: Sequence[Check],
        by_rows: Mapping[int, FindFailing],
        places: Mapping[int, RowPlaces],
        moments: Mapping[int, str],
        saved: Sink | None,
        samples: int,
    ) -> None:
        self._checks, self._by_rows, self._places, self._saved = checks, by_rows, places, saved
        self._most = samples
        self._names = np.array([each.name for each in checks], dtype=object)
        self._rows = self._failed = 0
        self._counts = [0] * len(checks)
        self._samples: list[list[Any]] = [[] for _ in checks]
        self._moments = moments
        self._newest: dict[str, int] = {}
        self._stack = ExitStack()

    @property
    def files(self) -> Sequence[str]:
        return self._saved.files if self._saved else ()

    def begin_rows_at(self, file: str, first: int) -> None:
        """Take note of where the next rows stand."""
        for each in self._places.values():
            each.begin_rows_at(file, first)

    def write(self, rows: pa.RecordBatch) -> None:
        self._rows += rows.num_rows
        self._note_moments(rows)
        found = {number: indices for number, indices in self._indices(rows) if len(indices)}
        if not found:
            return
        fails = np.zeros((rows.num_rows, len(self._checks)), bool)
        for number, indices in found.items():
            fails[indices, number] = True
            self._counts[number] += len(indices)
            self._sample(number, rows, indices)
        any_fails = np.flatnonzero(fails.any(axis=1))
        self._failed += len(any_fails)
        if self._saved:
            self._saved.write(self._add_names_of_checks(rows.take(pa.array(any_fails)), fails[any_fails]))

    def result(self) -> Mapping[str, Any]:
        return {
            "rows": self._rows,
            "failed": self._failed,
            "counts": self._counts,
            "samples": self._samples,
            "newest": self._newest,
        }

    def __enter__(self) -> CheckSink:
        if self._saved:
            self._stack.enter_context(self._saved)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def _indices(self, rows: pa.RecordBatch) -> list[tuple[int, npt.NDArray[np.int64]]]:
        found = [(number, each.among(rows.num_rows)) for number, each in self._places.items()]
        for number, find in self._by_rows.items():
            mask = find(rows)
            if mask.true_count:
                found.append((number, np.flatnonzero(mask.to_numpy(zero_copy_only=False))))
        return found

    def _note_moments(self, rows: pa.RecordBatch) -> None:
        for number, column in self._moments.items():
            latest = newest(rows.column(column))
            if latest is not None:
                self._newest[str(number)] = max(latest, self._newest.get(str(number), latest))

    def _sample(self, number: int, rows: pa.RecordBatch, indices: npt.NDArray[np.int64]) -> None:
        room = self._most - len(self._samples[number])
        if room > 0:
            some = rows.take(pa.array(indices[:room]))
            self._samples[number] += json_value(python_rows(some))

    def _add_names_of_checks(self, rows: pa.RecordBatch, fails: npt.NDArray[np.bool_]) -> pa.RecordBatch:
        """Rows with the names of the checks that each of them fails."""
        offsets = np.concatenate([[0], np.cumsum(fails.sum(axis=1))]).astype(np.int32)
        names = pa.array(self._names[np.nonzero(fails)[1]], pa.string())
        column = pa.ListArray.from_arrays(pa.array(offsets), names)
        schema = schema_of_failing_rows(rows.schema)
        return pa.record_batch([*rows.columns, column], schema=schema)
