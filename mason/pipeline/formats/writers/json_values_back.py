"""The columns of a file that Mason wrote, as they were before JSON, Msgpack or another format changed them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from mason.errors import UnreadableFile
from mason.pipeline.formats.sources import ArrowSource, Source
from mason.pipeline.formats.writers.codecs import (
    Codec,
    base64_text,
    cast_to,
    codec_for,
    count_of_units,
    date_text,
    decimal_text,
    entries,
    is_any_binary,
    time_text,
    timestamp_text,
)
from mason.pipeline.formats.writers.output_format import output_format


def json_codec(declared: pa.DataType) -> Codec:
    """Return how a type stands in JSON. `json_columns` writes it, quicker than the codec would."""
    return codec_for(declared, _json_rule)


def _json_rule(declared: pa.DataType) -> Codec | None:
    if is_any_binary(declared):
        return base64_text(declared)
    if pa.types.is_timestamp(declared):
        return timestamp_text(declared)
    if pa.types.is_decimal(declared):
        return None  # a number with all its digits
    return value_rule(declared, json_codec)


def value_rule(declared: pa.DataType, inner: Any) -> Codec | None:
    """Return the codec of a type that neither JSON nor Msgpack has."""
    if pa.types.is_map(declared):
        return entries(declared, inner(declared.key_type), inner(declared.item_type))
    if pa.types.is_decimal(declared):
        return decimal_text(declared)
    if pa.types.is_date(declared):
        return date_text(declared)
    if pa.types.is_time(declared):
        return time_text(declared)
    if pa.types.is_duration(declared):
        return count_of_units(declared)
    if pa.types.is_integer(declared) and declared not in (pa.int64(), pa.uint64()):
        return cast_to(declared, pa.int64())
    if pa.types.is_floating(declared) and declared != pa.float64():
        return cast_to(declared, pa.float64())
    return None


def column_of_values(source: Source, codec: Codec, rows: int) -> pa.Array:
    """Return the column that was written, of what a reader of values found."""
    stored = source.fit(codec.stored)
    if stored is None:
        found = [source.value(index) for index in range(rows)]
        stored = pa.array(_prepare_values(found, codec.stored), codec.stored)
    return codec.decode(stored)


def values_of_json(texts: pa.Array, declared: pa.DataType) -> pa.Array:
    """Return the column that was written as JSON text."""
    codec = json_codec(declared)
    found = [None if each is None else json.loads(each, parse_float=Decimal) for each in texts.to_pylist()]
    return codec.decode(pa.array(_prepare_values(found, codec.stored), codec.stored))


def _prepare_values(values: Sequence[Any], stored: pa.DataType) -> Sequence[Any]:
    """NaN was written as a word, and decimals as numbers (once as text): Arrow takes none of these for what it is."""
    if pa.types.is_floating(stored):
        return [float(each) if isinstance(each, str | Decimal) else each for each in values]
    if pa.types.is_decimal(stored):
        return [Decimal(str(each)) if isinstance(each, int | float | str) else each for each in values]
    if pa.types.is_list(stored):
        return [None if each is None else _prepare_values(each, stored.value_type) for each in values]
    if pa.types.is_struct(stored):
        return [None if each is None else _prepare_fields(each, stored) for each in values]
    return values


def _prepare_fields(value: dict[str, Any], stored: pa.DataType) -> dict[str, Any]:
    return {field.name: _prepare_values([value.get(field.name)], field.type)[0] for field in stored}


def types_as_stored(format_: str, schema: pa.Schema) -> pa.Schema:
    """Return the schema with the types that really stand in a file: a fast parser may expect these."""
    codec = output_format(format_).codec
    return pa.schema([pa.field(each.name, codec(each.type).stored) for each in schema])


def read_back(
    file: str,
    format_: str,
    found: Mapping[str, Source],
    names: Sequence[str],
    schema: pa.Schema,
    rows: int,
    wanted: Collection[str] = (),
) -> dict[str, Source]:
    """Return the columns, which have these names in the table, of what a reader of the format found in a file.

    Raises:
        UnreadableFile: something else stands there than Mason wrote.
    """
    output = output_format(format_)
    assert output.decode is not None
    columns: dict[str, Source] = {}
    for name, stored in zip(names, output.names(names), strict=True):
        if stored not in found or (wanted and name not in wanted):
            continue
        try:
            columns[name] = ArrowSource(output.decode(found[stored], schema.field(name).type, rows))
        except (pa.ArrowException, ValueError, TypeError, ArithmeticError) as error:
            problem = f'column "{name}" is not as Mason wrote it: {str(error).splitlines()[0]}'
            raise UnreadableFile(file, problem) from error
    return columns
