"""Where the rows of a task go once they fit the schema: into a table's files, or into what a job makes of them.

A sink is made by a function that is named as a kernel is, since a task is data:
`mason.pipeline.reading.tasks.sinks:table_sink`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.fs as pafs

from mason.pipeline.formats.writers.table_writer import PartitionedWriter, TableWriter
from mason.pipeline.work.tasks import function_named


@dataclass(frozen=True)
class SinkPlace:
    """Where a sink may write: files of the folder whose names begin with this one, which no other attempt has."""

    filesystem: pafs.FileSystem
    folder: str
    """The staging folder; empty for a job that writes no files."""
    name: str


@dataclass(frozen=True)
class SinkSpec:
    """Which sink a job's tasks have, as data."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    partition_keys: Sequence[str] = ()
    """Columns whose values are the names of folders."""


class Sink(AbstractContextManager[Any], Protocol):
    """Takes the rows of one attempt of a task. Its files are complete when the context is left.

    One that has `begin_rows_at(file, row)` hears before each `write` where its rows stand: in which file, and at which
    place of it, from 0. That holds for files that declare their rows, as those of a table do.
    """

    @property
    def files(self) -> Sequence[str]:
        """The files that it wrote, as paths below the folder."""

    def write(self, rows: pa.RecordBatch) -> None:
        """Take rows, in the order of the records."""

    def result(self) -> Mapping[str, Any]:
        """Return what the driver gets to know, as JSON can hold it. Asked for after the context is left."""


SinkMaker = Callable[[SinkPlace, pa.Schema, Mapping[str, Any]], Sink]


def open_sink(name: str, place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> Sink:
    """Return the sink that a name stands for."""
    make: SinkMaker = function_named(name)
    return make(place, schema, options)


def table_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> Sink:
    """Write the rows into a Parquet file, or into one for each partition."""
    file, keys = f"{place.name}.parquet", options.get("partition_keys")
    if keys:
        return PartitionedWriter(place.filesystem, place.folder, file, schema, keys)
    return TableWriter(place.filesystem, place.folder, file, schema)


def table_spec(partition_keys: Sequence[str] = ()) -> SinkSpec:
    """Return the sink of a table's own files."""
    keys = list(partition_keys)
    return SinkSpec("mason.pipeline.reading.tasks.sinks:table_sink", {"partition_keys": keys}, keys)
