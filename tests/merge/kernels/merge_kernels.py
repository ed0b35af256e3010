"""Kernels of a merge that goes wrong, or that is watched, which Spark's workers import by name."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from mason.pipeline.formats.writers.table_writer import TableWriter
from mason.pipeline.reading.tasks.kernel import merge_task
from mason.pipeline.reading.tasks.sinks import Sink, SinkPlace
from mason.pipeline.reading.tasks.task import MergeTask

SEEN = "seen"
"""The folder, beside the table, in which a watcher writes down what it saw."""

_LONGEST_WAIT = 120


def fail_after_writing(task: bytes) -> bytes:
    """Do all the work, and fail the first time: what was written then counts for nothing."""
    from pyspark import TaskContext

    result = merge_task(task)
    context = TaskContext.get()
    if context is not None and context.attemptNumber() == 0:
        raise OSError("the connection was lost when all was done")
    return result


def merge_and_wait_to_be_seen(task: bytes) -> bytes:
    """Merge as ever, but close no file before somebody saw it open."""
    return merge_task(replace(MergeTask.of(task), sink="merge_kernels:held_sink").to_bytes())


def held_sink(place: SinkPlace, schema: pa.Schema, _options: Mapping[str, Any]) -> Sink:
    file = f"{place.name}.parquet"
    return _HeldWriter(place.filesystem, place.folder, file, schema, seen=Path(place.folder).parent / SEEN / file)


class _HeldWriter(TableWriter):
    """Keeps its file open until there is a note that it was seen."""

    def __init__(self, *place: Any, seen: Path) -> None:
        super().__init__(*place)
        self._seen = seen

    def __exit__(self, *error: Any) -> None:
        end = time.monotonic() + _LONGEST_WAIT
        while error[0] is None and not self._seen.exists() and time.monotonic() < end:
            time.sleep(0.01)
        super().__exit__(*error)
