"""ORC, which has neither unsigned numbers nor times of day."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs
from pyarrow import orc

from mason.pipeline.formats.sources import ArrowSource, Source
from mason.pipeline.formats.writers.codecs import Codec, cast_to, codec_for, count_of_units, time_text
from mason.pipeline.formats.writers.output_format import (
    NO_COMPRESSION,
    FileWriter,
    OutputFormat,
    encode_rows,
    schema_as_stored,
)
from mason.pipeline.types.python_values import python_value

_WIDER = {
    pa.uint8(): (pa.int16(), "smallint"),
    pa.uint16(): (pa.int32(), "int"),
    pa.uint32(): (pa.int64(), "bigint"),
    pa.uint64(): (pa.decimal128(20, 0), "decimal(20,0)"),
    pa.float16(): (pa.float32(), "float"),
}
_LIKELY_SHARE = 0.3  # of their size in memory that rows have on disk; Arrow writes a stripe when it is full


def orc_codec(declared: pa.DataType) -> Codec:
    return codec_for(declared, _rule)


def _rule(declared: pa.DataType) -> Codec | None:
    if declared in _WIDER:
        return cast_to(declared, *_WIDER[declared])
    if pa.types.is_time(declared):
        return time_text(declared)
    if pa.types.is_duration(declared):
        return count_of_units(declared)
    if pa.types.is_fixed_size_binary(declared):
        return cast_to(declared, pa.binary())
    if pa.types.is_timestamp(declared):
        return _codec_of_times(declared)
    return None


def _codec_of_times(declared: pa.DataType) -> Codec:
    """Times that can be read again: of ORC, Arrow reads them in nanoseconds, and these end in 2262."""

    def encode(values: pa.Array) -> pa.Array:
        try:
            values.cast(pa.timestamp("ns", declared.tz))
        except pa.ArrowInvalid as error:
            first, last = map(python_value, pc.min_max(values).values())
            message = f"from {first} to {last}"
            raise ValueError(
                f"times {message} cannot all be read back from ORC, only those between 1677-09-22 and 2262-04-11; "
                "Parquet, CSV and JSON lines hold them."
            ) from error
        return values

    return Codec(type=declared, stored=declared, encode=encode, decode=lambda values: values)


class _NeverFails(io.RawIOBase):
    """A stream that keeps what goes wrong for later: an error in the middle of Arrow's ORC writer ends the process."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        if self._error is None:
            try:
                self._stream.write(content)
            except OSError as error:
                self._error = error
        return len(content)

    def tell(self) -> int:
        return int(self._stream.tell())

    def check(self) -> None:
        """Raise what went wrong."""
        if self._error is not None:
            raise self._error


class OrcFileWriter(FileWriter):
    """One file."""

    def __init__(self, stream: Any, schema: pa.Schema, compression: str) -> None:
        self._codecs = [orc_codec(each) for each in schema.types]
        self._schema = schema_as_stored(schema, self._codecs, schema.names)
        self._stream = _NeverFails(stream)
        codec = "uncompressed" if compression == NO_COMPRESSION else compression
        self._writer = orc.ORCWriter(self._stream, compression=codec)
        self._taken = 0

    @property
    def pending(self) -> int:
        return max(int(self._taken * _LIKELY_SHARE) - int(self._stream.tell()), 0)

    def write(self, rows: pa.RecordBatch) -> None:
        stored = encode_rows(rows, self._codecs, self._schema)
        self._writer.write(pa.Table.from_batches([stored]))
        self._taken += stored.nbytes
        self._stream.check()

    def close(self) -> None:
        if not self._taken:
            self._writer.write(self._schema.empty_table())  # the footer of a file without rows needs the columns, too
        self._writer.close()
        self._stream.check()


def count_rows(filesystem: pafs.FileSystem, path: str) -> int:
    with filesystem.open_input_file(path) as source:
        rows: int = orc.ORCFile(source).nrows
    return rows


def _decode(source: Source, declared: pa.DataType, rows: int) -> pa.Array:
    assert isinstance(source, ArrowSource)
    codec = orc_codec(declared)
    return codec.decode(source.values.cast(codec.stored))


FORMATS = {
    "orc": OutputFormat(
        name="orc",
        extension="orc",
        compressions={"zstd": "", "snappy": "", "zlib": "", "lz4": "", NO_COMPRESSION: ""},
        codec=orc_codec,
        open=OrcFileWriter,
        count=count_rows,
        decode=_decode,
    )
}
