"""CSV as RFC 4180 has it: a null is an empty field, empty text is an empty field in quotes, and all text is quoted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.fs as pafs

from mason.pipeline.formats.scanning.chunks import CHUNK
from mason.pipeline.formats.scanning.csv_typed import TypedSource
from mason.pipeline.formats.scanning.splits import count_records
from mason.pipeline.formats.sources import Source
from mason.pipeline.formats.writers.codecs import (
    Change,
    Codec,
    as_is,
    base64_text,
    count_of_units,
    decimal_text,
    is_any_binary,
    text_to_time,
)
from mason.pipeline.formats.writers.json_columns import json_texts
from mason.pipeline.formats.writers.json_values_back import values_of_json
from mason.pipeline.formats.writers.output_format import (
    NO_COMPRESSION,
    FileWriter,
    OutputFormat,
    encode_rows,
    schema_as_stored,
)
from mason.pipeline.storage.blocks import read_blocks
from mason.pipeline.storage.files import DataFile
from mason.pipeline.types.time_text import check_written, is_day_or_moment, times_of_text

DELIMITER = ","
_MOST_SCALE = 6  # beyond, Arrow would write small decimals with an exponent
_MARKS = frozenset('",\r\n')
_ROWS_AT_ONCE = 4096


def csv_codec(declared: pa.DataType) -> Codec:
    if pa.types.is_nested(declared):
        return codec_of_nested_text(declared)
    if is_any_binary(declared):
        return base64_text(declared)
    if pa.types.is_duration(declared):
        return count_of_units(declared)
    if pa.types.is_decimal(declared) and declared.scale > _MOST_SCALE:
        return _quietly(decimal_text(declared))
    if is_day_or_moment(declared):
        return Codec(type=declared, stored=declared, encode=check_written, decode=lambda values: values)
    return as_is(declared)


def codec_of_nested_text(declared: pa.DataType) -> Codec:
    """Return the codec of something nested, which becomes JSON text."""

    def encode(values: pa.Array) -> pa.Array:
        return pc.if_else(values.is_valid(), json_texts(values), pa.scalar(None, pa.string()))

    def decode(values: pa.Array) -> pa.Array:
        return values_of_json(values, declared)

    return Codec(
        type=declared, stored=pa.string(), encode=encode, decode=decode, changes=[Change("", declared, "JSON text")]
    )


class CsvFileWriter(FileWriter):
    """One file, which begins with the names of the columns."""

    def __init__(self, stream: Any, schema: pa.Schema, compression: str) -> None:
        self._codecs = [csv_codec(each) for each in schema.types]
        self._schema = schema_as_stored(schema, self._codecs, schema.names)
        stream.write(_header(schema.names))
        options = pacsv.WriteOptions(include_header=False, batch_size=_ROWS_AT_ONCE, quoting_style="needed")
        self._writer = pacsv.CSVWriter(stream, self._schema, write_options=options)

    def write(self, rows: pa.RecordBatch) -> None:
        self._writer.write_batch(encode_rows(rows, self._codecs, self._schema))

    def close(self) -> None:
        self._writer.close()


def count_rows(filesystem: pafs.FileSystem, path: str) -> int:
    """Count the records behind the header: line ends outside quotes, as a merge counts what it reads."""
    return count_records(read_blocks(filesystem, DataFile(path=path, name=path, size=0), CHUNK)) - 1


def _decode(source: Source, declared: pa.DataType, rows: int) -> pa.Array:
    codec = csv_codec(declared)
    if isinstance(source, TypedSource) and source.values.type == codec.stored:
        return codec.decode(source.values)
    texts: Any = source.fit(pa.string())
    if pa.types.is_time(codec.stored):
        return text_to_time(texts, declared)
    if is_day_or_moment(codec.stored):
        return codec.decode(times_of_text(texts, codec.stored))
    return codec.decode(texts.cast(codec.stored))


def _header(names: Sequence[str]) -> bytes:
    return (DELIMITER.join(map(_quote_if_needed, names)) + "\n").encode()


def _quote_if_needed(name: str) -> str:
    if name and name == name.strip() and not _MARKS.intersection(name):
        return name
    return '"' + name.replace('"', '""') + '"'


def _quietly(codec: Codec) -> Codec:
    """A number in quotes is still one to whoever reads CSV: nothing to speak of."""
    return Codec(type=codec.type, stored=codec.stored, encode=codec.encode, decode=codec.decode)


FORMATS = {
    "csv": OutputFormat(
        name="csv",
        extension="csv",
        compressions={NO_COMPRESSION: "", "gzip": ".gz", "zstd": ".zst"},
        codec=csv_codec,
        open=CsvFileWriter,
        count=count_rows,
        decode=_decode,
    )
}
