"""Avro, which takes few characters in names, and has no unsigned numbers.

A name that Avro does not take is escaped: each character that is not a letter of ASCII, a digit or `_` becomes `_x` and
its number in hexadecimal and `_` (`a.b` is `a_x2e_b`), a digit at the beginning gets a `_` before it, and a number is
added to a name that is there already. The field keeps the name that it had as `original_name`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.pipeline.formats.sources import ArrowSource, Source
from mason.pipeline.formats.writers.codecs import Codec, cast_to, codec_for, count_of_units, entries, time_text
from mason.pipeline.formats.writers.output_format import (
    NO_COMPRESSION,
    FileWriter,
    OutputFormat,
    encode_rows,
    python_columns,
    schema_as_stored,
)
from mason.pipeline.storage.blocks import open_stream

_PRIMITIVE = {
    pa.bool_(): "boolean",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.binary(): "bytes",
    pa.string(): "string",
}
_LOGICAL = {
    pa.date32(): ("int", "date"),
    pa.time32("ms"): ("int", "time-millis"),
    pa.time64("us"): ("long", "time-micros"),
    pa.timestamp("us"): ("long", "local-timestamp-micros"),
    pa.timestamp("us", "UTC"): ("long", "timestamp-micros"),
}
_WIDER = {
    pa.int8(): (pa.int32(), "int"),
    pa.int16(): (pa.int32(), "int"),
    pa.uint8(): (pa.int32(), "int"),
    pa.uint16(): (pa.int32(), "int"),
    pa.uint32(): (pa.int64(), "long"),
    pa.uint64(): (pa.decimal128(20, 0), "decimal(20,0)"),
    pa.float16(): (pa.float32(), "float"),
    pa.time32("s"): (pa.time32("ms"), ""),
}
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
_CODECS = {NO_COMPRESSION: "null"}


def avro_codec(declared: pa.DataType) -> Codec:
    return codec_for(declared, _rule, escape_names)


def escape_names(names: Sequence[str]) -> Sequence[str]:
    """Return the names as Avro takes them, each another one."""
    taken = {name for name in names if _is_plain(name)}
    escaped: list[str] = []
    for name in names:
        if _is_plain(name):
            escaped.append(name)
            continue
        stem = _NOT_IN_NAMES.sub(lambda mark: f"_x{ord(mark[0]):x}_", name)
        stem = f"_{stem}" if stem[:1].isdigit() or not stem else stem
        chosen = next(each for each in _number_names(stem) if each not in taken)
        taken.add(chosen)
        escaped.append(chosen)
    return escaped


def _is_plain(name: str) -> bool:
    return bool(name) and not _NOT_IN_NAMES.search(name) and not name[0].isdigit()


def _number_names(stem: str) -> Iterator[str]:
    yield stem
    yield from (f"{stem}_{number}" for number in count(2))


def _rule(declared: pa.DataType) -> Codec | None:
    if declared in _WIDER:
        return cast_to(declared, *_WIDER[declared])
    if pa.types.is_time(declared) and declared not in _LOGICAL:
        return time_text(declared)
    if pa.types.is_duration(declared):
        return count_of_units(declared)
    if pa.types.is_fixed_size_binary(declared):
        return cast_to(declared, pa.binary())
    if pa.types.is_map(declared):
        return entries(declared, avro_codec(declared.key_type), avro_codec(declared.item_type))
    return None


def avro_schema(schema: pa.Schema, original: Sequence[str]) -> Mapping[str, Any]:
    """Return the Avro schema of a schema whose types and names Avro has."""
    numbers = count(1)
    fields = [
        _field(each, numbers, {} if name == each.name else {"original_name": name})
        for each, name in zip(schema, original, strict=True)
    ]
    return {"type": "record", "name": "row", "fields": fields}


def _field(field: pa.Field, numbers: Iterator[int], more: Mapping[str, str]) -> dict[str, Any]:
    return {"name": field.name, "type": ["null", _avro_type(field.type, numbers)], "default": None, **more}


def _avro_type(declared: pa.DataType, numbers: Iterator[int]) -> Any:
    if declared in _PRIMITIVE:
        return _PRIMITIVE[declared]
    if declared in _LOGICAL:
        kind, logical = _LOGICAL[declared]
        return {"type": kind, "logicalType": logical}
    if pa.types.is_decimal(declared):
        digits = {"precision": declared.precision, "scale": declared.scale}
        return {"type": "bytes", "logicalType": "decimal", **digits}
    if pa.types.is_list(declared):
        return {"type": "array", "items": ["null", _avro_type(declared.value_type, numbers)]}
    # A record must have a name, and no other one the same.
    name = f"record_{next(numbers)}"
    return {"type": "record", "name": name, "fields": [_field(each, numbers, {}) for each in declared]}


class AvroFileWriter(FileWriter):
    """One file. Its rows are written one by one: Avro is a format of rows."""

    def __init__(self, stream: Any, schema: pa.Schema, compression: str) -> None:
        from fastavro.write import Writer

        self._codecs = [avro_codec(each) for each in schema.types]
        self._schema = schema_as_stored(schema, self._codecs, escape_names(schema.names))
        described = avro_schema(self._schema, schema.names)
        self._writer = Writer(stream, described, codec=_CODECS.get(compression, compression))

    def write(self, rows: pa.RecordBatch) -> None:
        columns = python_columns(encode_rows(rows, self._codecs, self._schema), rows.schema.names, "avro")
        for values in zip(*columns, strict=True):
            self._writer.write(dict(zip(self._schema.names, values, strict=True)))

    def close(self) -> None:
        self._writer.flush()


def count_rows(filesystem: pafs.FileSystem, path: str) -> int:
    """Add up what the blocks of the file state."""
    import fastavro

    with open_stream(filesystem, path) as source:
        return sum(block.num_records for block in fastavro.block_reader(source))


def _decode(source: Source, declared: pa.DataType, rows: int) -> pa.Array:
    assert isinstance(source, ArrowSource)
    codec = avro_codec(declared)
    return codec.decode(source.values.cast(codec.stored))


FORMATS = {
    "avro": OutputFormat(
        name="avro",
        extension="avro",
        compressions={"deflate": "", NO_COMPRESSION: ""},
        codec=avro_codec,
        open=AvroFileWriter,
        count=count_rows,
        decode=_decode,
        names=escape_names,
    )
}
