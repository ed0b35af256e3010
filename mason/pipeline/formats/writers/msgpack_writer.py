"""Msgpack: a map for each row, one after the other. It has bytes and instants, but neither dates nor decimals."""

from __future__ import annotations

from typing import Any

import msgpack
import pyarrow as pa
import pyarrow.fs as pafs

from mason.pipeline.formats.scanning.chunks import CHUNK
from mason.pipeline.formats.sources import Source
from mason.pipeline.formats.writers.codecs import Codec, cast_to, codec_for, timestamp_text
from mason.pipeline.formats.writers.json_values_back import column_of_values, value_rule
from mason.pipeline.formats.writers.output_format import (
    NO_COMPRESSION,
    FileWriter,
    OutputFormat,
    encode_rows,
    python_columns,
    schema_as_stored,
)
from mason.pipeline.storage.blocks import read_blocks
from mason.pipeline.storage.files import DataFile
from mason.pipeline.types.column_types import INSTANT

_ROWS_AT_ONCE = 4096


def msgpack_codec(declared: pa.DataType) -> Codec:
    return codec_for(declared, _rule)


def _rule(declared: pa.DataType) -> Codec | None:
    if pa.types.is_fixed_size_binary(declared):
        return cast_to(declared, pa.binary())
    if pa.types.is_timestamp(declared) and declared != INSTANT:
        return timestamp_text(declared)
    return value_rule(declared, msgpack_codec)


class MsgpackFileWriter(FileWriter):
    """One file."""

    def __init__(self, stream: Any, schema: pa.Schema, compression: str) -> None:
        self._codecs = [msgpack_codec(each) for each in schema.types]
        self._schema = schema_as_stored(schema, self._codecs, schema.names)
        self._stream = stream
        self._pack = msgpack.Packer(datetime=True).pack

    def write(self, rows: pa.RecordBatch) -> None:
        for start in range(0, rows.num_rows, _ROWS_AT_ONCE):
            stored = encode_rows(rows.slice(start, _ROWS_AT_ONCE), self._codecs, self._schema)
            columns = python_columns(stored, rows.schema.names, "msgpack")
            named = (dict(zip(rows.schema.names, values, strict=True)) for values in zip(*columns, strict=True))
            self._stream.write(b"".join(map(self._pack, named)))

    def close(self) -> None:
        pass


def count_rows(filesystem: pafs.FileSystem, path: str) -> int:
    """Count the values in the file, which are passed over and not looked into."""
    unpacker = msgpack.Unpacker(max_buffer_size=2**31 - 1)
    rows = 0
    for block in read_blocks(filesystem, DataFile(path=path, name=path, size=0), CHUNK):
        unpacker.feed(block)
        while True:
            try:
                unpacker.skip()
            except msgpack.OutOfData:
                break
            rows += 1
    return rows


def _decode(source: Source, declared: pa.DataType, rows: int) -> pa.Array:
    return column_of_values(source, msgpack_codec(declared), rows)


FORMATS = {
    "msgpack": OutputFormat(
        name="msgpack",
        extension="msgpack",
        compressions={NO_COMPRESSION: "", "gzip": ".gz", "zstd": ".zst"},
        codec=msgpack_codec,
        open=MsgpackFileWriter,
        count=count_rows,
        decode=_decode,
    )
}
