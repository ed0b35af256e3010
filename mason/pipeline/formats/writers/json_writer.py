"""JSON: an object in each line, or one array of them, which also stand in lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs

from mason.pipeline.formats.scanning.chunks import CHUNK
from mason.pipeline.formats.sources import Source
from mason.pipeline.formats.writers.codecs import list_parts, map_parts
from mason.pipeline.formats.writers.json_columns import json_objects, json_texts
from mason.pipeline.formats.writers.json_values_back import column_of_values, json_codec
from mason.pipeline.formats.writers.output_format import NO_COMPRESSION, CannotHold, FileWriter, OutputFormat
from mason.pipeline.storage.blocks import read_blocks
from mason.pipeline.storage.files import DataFile

_ROWS_AT_ONCE = 16_384
_COMPRESSIONS = {NO_COMPRESSION: "", "gzip": ".gz", "zstd": ".zst"}


class JsonLinesWriter(FileWriter):
    """One file of an object in each line."""

    first, between, last = b"", b"", b""
    """What stands before the first row, before each further one, and behind the last."""

    def __init__(self, stream: Any, schema: pa.Schema, compression: str) -> None:
        self._stream = stream
        self._rows = 0
        self._noted: Counter[str] = Counter()
        stream.write(self.first)

    @property
    def noted(self) -> Mapping[str, int]:
        return self._noted

    def write(self, rows: pa.RecordBatch) -> None:
        for start in range(0, rows.num_rows, _ROWS_AT_ONCE):
            self._write(rows.slice(start, _ROWS_AT_ONCE))
        for name, values in zip(rows.schema.names, rows.columns, strict=True):
            if count := _not_finite(values):
                self._noted[f'Column "{name}": NaN or infinite, written as text'] += count

    def close(self) -> None:
        self._stream.write(self.last)

    def _write(self, rows: pa.RecordBatch) -> None:
        try:
            lines = json_objects(rows.schema.names, rows.columns, rows.num_rows)
        except ValueError:
            _check_columns(rows)
            raise
        before = pa.scalar(self.between.decode())
        joined = pc.binary_join_element_wise(before, lines, pa.scalar("\n"), "")
        text = joined.buffers()[2]  # the texts of an Arrow array stand there one after the other
        begin = len(self.between) if not self._rows else 0
        self._stream.write(text.slice(begin, joined.offset + _total(joined) - begin))
        self._rows += rows.num_rows


class JsonWriter(JsonLinesWriter):
    """One file of one array, whose objects stand in lines of their own."""

    first, between, last = b"[\n", b",", b"]\n"


def count_lines(filesystem: pafs.FileSystem, path: str) -> int:
    """Count the lines: there is no line end inside an object, where it is escaped."""
    return sum(block.count(b"\n") for block in read_blocks(filesystem, DataFile(path=path, name=path, size=0), CHUNK))


def count_elements(filesystem: pafs.FileSystem, path: str) -> int:
    return count_lines(filesystem, path) - JsonWriter.first.count(b"\n") - JsonWriter.last.count(b"\n")


def _check_columns(rows: pa.RecordBatch) -> None:
    """Name the column that cannot be written."""
    for name, values in zip(rows.schema.names, rows.columns, strict=True):
        try:
            json_texts(values)
        except ValueError as problem:
            raise CannotHold(name, problem) from problem


def _total(texts: pa.Array) -> int:
    return int(pc.sum(pc.binary_length(texts)).as_py() or 0)


def _not_finite(values: pa.Array) -> int:
    if pa.types.is_floating(values.type):
        return int(pc.sum(pc.invert(pc.is_finite(values))).as_py() or 0)
    if pa.types.is_struct(values.type):
        return sum(map(_not_finite, values.flatten()))
    if pa.types.is_list(values.type):
        return _not_finite(list_parts(values)[1])
    return sum(map(_not_finite, map_parts(values)[1:])) if pa.types.is_map(values.type) else 0


def _decode(source: Source, declared: pa.DataType, rows: int) -> pa.Array:
    return column_of_values(source, json_codec(declared), rows)


FORMATS = {
    "jsonl": OutputFormat(
        name="jsonl",
        extension="jsonl",
        compressions=_COMPRESSIONS,
        codec=json_codec,
        open=JsonLinesWriter,
        count=count_lines,
        decode=_decode,
    ),
    "json": OutputFormat(
        name="json",
        extension="json",
        compressions=_COMPRESSIONS,
        codec=json_codec,
        open=JsonWriter,
        count=count_elements,
        decode=_decode,
        is_document=True,
    ),
}
