"""Writes the rows of one task: into one Parquet file, or into one per partition."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.engines.metastore.models.partition import NULL_PARTITION
from mason.pipeline.storage.files import make_folder
from mason.pipeline.types.python_values import python_rows
from mason.pipeline.types.time_text import any_year_text

CODEC = "snappy"
_REPETITIONS_THAT_PAY = 2
_TOO_FEW_TO_TELL = 1_000
_ENOUGH_TO_TELL = 32_768
ROW_GROUP_ROWS = 100_000
ROW_GROUP_BYTES = 64 * 1024 * 1024
BUFFERED_BYTES = 64 * 1024 * 1024
LONGEST_NAME = 255
_LONGEST_ESCAPE = 3
# Hive escapes these in the names of folders, besides what no file system takes.
_PLAIN_IN_FOLDERS = " !$&()+,-.;@^_`{}~"
_FOUR_DIGITS = re.compile("[0-9]{4}-")


class TableWriter:
    """One Parquet file that is begun with the first row; use it as a context, for the footer comes at the end.

    `rising` are columns of integers, each mostly a little more than the one before: of these the steps are written.
    """

    def __init__(
        self, filesystem: pafs.FileSystem, folder: str, name: str, schema: pa.Schema, rising: Sequence[str] = ()
    ) -> None:
        self._filesystem, self._folder, self._name, self._schema = filesystem, folder, name, schema
        self._rising = rising
        self._stack = ExitStack()
        self._sink: Any = None
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self.held = 0
        """How many bytes wait for more rows."""

    @property
    def files(self) -> list[str]:
        """The files that were begun, as paths below the folder."""
        return [self._name] if self._sink else []

    def write(self, batch: pa.RecordBatch) -> None:
        """Take rows; they are written when there are enough for a row group that is worth one."""
        if not batch.num_rows:
            return
        if self._sink is None:  # at once: what cannot be written at all is found out before the work is done
            make_folders(self._filesystem, self._folder, self._name)
            self._sink = self._stack.enter_context(self._filesystem.open_output_stream(f"{self._folder}/{self._name}"))
        self._waiting.append(batch)
        self._rows += batch.num_rows
        self.held += batch.nbytes
        if self._rows >= ROW_GROUP_ROWS or self.held >= ROW_GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what waits, however little it is."""
        if not self._waiting:
            return
        batch = pa.Table.from_batches(self._waiting, self._schema)
        self._waiting, self._rows, self.held = [], 0, 0
        if self._writer is None:
            others = [name for name in self._schema.names if name not in self._rising]
            repeating = list_repeating_columns(batch.select(others))
            steps = dict.fromkeys(self._rising, "DELTA_BINARY_PACKED") or None
            self._writer = self._stack.enter_context(
                pq.ParquetWriter(
                    self._sink,
                    self._schema,
                    compression=CODEC,
                    use_dictionary=repeating,
                    store_decimal_as_integer=True,  # up to 18 digits, as Spark and DuckDB do it: quicker, and smaller
                    column_encoding=steps,
                )
            )
        self._writer.write_table(batch, row_group_size=batch.num_rows)

    def result(self) -> Mapping[str, Any]:
        """Nothing that the files do not tell themselves."""
        return {}

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: object, *raised: Any) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self._stack.close()


def write_empty_file(filesystem: pafs.FileSystem, folder: str, name: str, schema: pa.Schema) -> None:
    """Write a Parquet file of columns without rows."""
    make_folders(filesystem, folder, name)
    with filesystem.open_output_stream(f"{folder}/{name}") as sink:
        pq.write_table(schema.empty_table(), sink, compression=CODEC, store_decimal_as_integer=True)


class PartitionedWriter:
    """Files in Hive-style folders: `year=2026/month=01/part-….parquet`, without the columns that the folders give.

    Rows are gathered until they fill some memory, then the partition that has most of them gets a file of its own. So
    neither many partitions nor large ones need more than that; the pieces of a partition are united afterwards.
    """

    def __init__(
        self, filesystem: pafs.FileSystem, folder: str, name: str, schema: pa.Schema, keys: Sequence[str]
    ) -> None:
        self._filesystem, self._folder, self._name, self._keys = filesystem, folder, name, keys
        self._schema = pa.schema([field for field in schema if field.name not in keys])
        self._rows: dict[str, list[pa.RecordBatch]] = {}
        self._bytes: dict[str, int] = {}
        self.files: list[str] = []

    def write(self, batch: pa.RecordBatch) -> None:
        for folder, rows in by_partition(batch, self._keys):
            self._rows.setdefault(folder, []).append(rows.select(self._schema.names))
            self._bytes[folder] = self._bytes.get(folder, 0) + rows.nbytes
        while sum(self._bytes.values()) > BUFFERED_BYTES:
            self._flush(max(self._bytes, key=lambda folder: self._bytes[folder]))

    def result(self) -> Mapping[str, Any]:
        """Nothing that the files do not tell themselves."""
        return {}

    def __enter__(self) -> PartitionedWriter:
        return self

    def __exit__(self, kind: object, *raised: Any) -> None:
        for folder in list(self._rows) if kind is None else ():
            self._flush(folder)

    def _flush(self, folder: str) -> None:
        rows = pa.Table.from_batches(self._rows.pop(folder), self._schema)
        del self._bytes[folder]
        name = self._name.replace(".parquet", f"-{len(self.files)}.parquet")
        with TableWriter(self._filesystem, self._folder, f"{folder}/{name}", self._schema) as writer:
            for batch in rows.combine_chunks().to_batches():
                writer.write(batch)
        self.files += [f"{folder}/{name}"]


def make_folders(filesystem: pafs.FileSystem, folder: str, name: str) -> None:
    """Make the folders of a partition, not the one above: a task that outlives its job must not bring it back."""
    place = folder
    for part in name.split("/")[:-1]:
        place = f"{place}/{part}"
        make_folder(filesystem, place, recursive=False)


def list_repeating_columns(rows: pa.Table) -> list[str]:
    """Return the columns, by their names in a Parquet file, of which a dictionary makes less than it costs."""
    return [
        leaf
        for name, values in zip(rows.column_names, rows.columns, strict=True)
        for leaf in _list_repeating(name, values)
    ]


def _list_repeating(path: str, values: pa.Array | pa.ChunkedArray) -> list[str]:
    """The columns of a Parquet file, below this one of the schema, of which a dictionary makes less than it costs.

    Arrow would write one for every column, and give it up where nearly every value is another: by then the file is
    larger, and the time is gone.
    """
    kind = values.type
    if pa.types.is_struct(kind):
        # By number: a dot in a name would stand for something nested.
        parts = [(each.name, pc.struct_field(values, [number])) for number, each in enumerate(kind)]
    elif pa.types.is_list(kind):
        parts = [("list.element", pc.list_flatten(values))]
    elif pa.types.is_map(kind):
        return [f"{path}.key_value.key", f"{path}.key_value.value"]
    else:
        some = values.slice(0, _ENOUGH_TO_TELL)
        often = pc.count_distinct(some).as_py() * _REPETITIONS_THAT_PAY <= len(some)
        return [path] if often or len(some) < _TOO_FEW_TO_TELL else []
    return [leaf for name, part in parts for leaf in _list_repeating(f"{path}.{name}", part)]


def partition_folder(keys: Sequence[str], values: Sequence[Any]) -> str:
    """Return the folder of a partition, escaped as Hive does it: `day=2026-01-31/place=a%2Fb`."""
    parts = zip(map(escape_for_folder, keys), map(_folder_value, values), strict=True)
    return "/".join(f"{key}={value}" for key, value in parts)


def can_name_folders(kind: pa.DataType) -> bool:
    """Say whether values of a type can be partitioned by: they come back from the names of folders as they were."""
    is_of = pa.types
    number = is_of.is_integer(kind) or is_of.is_floating(kind) or is_of.is_decimal(kind) or is_of.is_boolean(kind)
    return bool(number or is_of.is_string(kind) or is_of.is_date(kind) or is_of.is_timestamp(kind))


def too_long_for_folders(key: str, values: pa.Array) -> pa.Array:
    """Say of each text whether the folder of its partition would have a longer name than file systems take."""
    most = LONGEST_NAME // _LONGEST_ESCAPE - len(key.encode()) * _LONGEST_ESCAPE
    likely = pc.fill_null(pc.greater(pc.binary_length(values), max(most, 0)), False)
    if not likely.true_count:
        return likely
    doubts = zip(likely.to_pylist(), values.to_pylist(), strict=True)
    return pa.array([doubt and _name_length(key, value) > LONGEST_NAME for doubt, value in doubts], pa.bool_())


def too_far_for_folders(values: pa.Array) -> pa.Array:
    """Say of each day or moment whether its year has more than four digits, or a sign: no folder gives it back."""
    if not any(map(_is_far, pc.min_max(values).values())):
        return pa.repeat(False, len(values))
    return pa.array(list(map(_is_far, values)), pa.bool_())


def _is_far(value: pa.Scalar) -> bool:
    return value.is_valid and not _FOUR_DIGITS.match(any_year_text(value))


def _name_length(key: str, value: str) -> int:
    return len(partition_folder([key], [value]).encode())


def _folder_value(value: Any) -> str:
    if value is None:
        return NULL_PARTITION
    return escape_for_folder(str(value).lower() if isinstance(value, bool) else str(value))


def escape_for_folder(text: str) -> str:
    """Return a text as Hive has it in the name of a folder."""
    return (
        quote(text, safe=_PLAIN_IN_FOLDERS)
        if text.isascii()
        else "".join(each if not each.isascii() else quote(each, safe=_PLAIN_IN_FOLDERS) for each in text)
    )


def by_partition(batch: pa.RecordBatch, keys: Sequence[str]) -> list[tuple[str, pa.RecordBatch]]:
    """Return the rows of each partition, in their order."""
    if not batch.num_rows:
        return []
    codes = np.zeros(batch.num_rows, dtype=np.int64)
    for key in keys:
        encoded = batch.column(key).dictionary_encode(null_encoding="encode")
        codes = codes * len(encoded.dictionary) + encoded.indices.to_numpy(zero_copy_only=False)
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1)  # many keys: the codes must not outgrow an integer
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    ends = np.append(starts[1:], batch.num_rows)
    ordered = batch.take(pa.array(order))
    first_rows = python_rows(pa.table({key: ordered.column(key) for key in keys}).take(pa.array(starts)))
    return [
        (partition_folder(keys, [row[key] for key in keys]), ordered.slice(start, end - start))
        for row, start, end in zip(first_rows, starts, ends, strict=True)
    ]
