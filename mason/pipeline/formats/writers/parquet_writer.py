"""Parquet, which has every type that a table of Mason's can have."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.pipeline.formats.sources import Source
from mason.pipeline.formats.writers.codecs import as_is
from mason.pipeline.formats.writers.output_format import NO_COMPRESSION, FileWriter, OutputFormat
from mason.pipeline.formats.writers.table_writer import CODEC, ROW_GROUP_BYTES, ROW_GROUP_ROWS, list_repeating_columns

_LIKELY_SHARE = 0.5  # of their size in memory that rows have on disk, until a row group tells more


class ParquetFileWriter(FileWriter):
    """Row groups of a sensible size in one file."""

    def __init__(self, stream: Any, schema: pa.Schema, compression: str) -> None:
        self._stream, self._schema, self._compression = stream, schema, compression
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._written = 0

    @property
    def pending(self) -> int:
        share = self._stream.tell() / self._written if self._written else _LIKELY_SHARE
        return int(share * sum(each.nbytes for each in self._waiting))

    def write(self, rows: pa.RecordBatch) -> None:
        self._waiting.append(rows)
        count = sum(each.num_rows for each in self._waiting)
        if count >= ROW_GROUP_ROWS or sum(each.nbytes for each in self._waiting) >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        if self._writer:
            self._writer.close()

    def _flush(self) -> None:
        rows = pa.Table.from_batches(self._waiting, self._schema)
        self._waiting = []
        if self._writer is None:
            codec = "NONE" if self._compression == NO_COMPRESSION else self._compression
            columns = list_repeating_columns(rows)
            self._writer = pq.ParquetWriter(
                self._stream, self._schema, compression=codec, use_dictionary=columns, store_decimal_as_integer=True
            )
        if rows.num_rows:
            self._writer.write_table(rows, row_group_size=rows.num_rows)
            self._written += rows.nbytes


def count_rows(filesystem: pafs.FileSystem, path: str) -> int:
    rows: int = pq.read_metadata(path, filesystem=filesystem).num_rows
    return rows


def _decode(source: Source, declared: pa.DataType, rows: int) -> pa.Array:
    return source.fit(declared)


FORMATS = {
    "parquet": OutputFormat(
        name="parquet",
        extension="parquet",
        compressions={CODEC: "", "zstd": "", "gzip": "", "brotli": "", "lz4": "", NO_COMPRESSION: ""},
        codec=as_is,
        open=ParquetFileWriter,
        count=count_rows,
        decode=_decode,
    )
}
