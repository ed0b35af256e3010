"""How Hive, Spark and Athena are told to read the files of a table: the classes that do it, and their settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mason.engines.metastore.models.schema import Column
from mason.engines.metastore.models.table import Delimited, Table

_HIVE = "org.apache.hadoop.hive"
_TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
_TEXT_OUTPUT = f"{_HIVE}.ql.io.HiveIgnoreKeyTextOutputFormat"
_ORDINARY = {"serialization.format": "1"}


@dataclass(frozen=True, kw_only=True)
class StorageFormat:
    """The classes that read and write a format, with what they need to know.

    `text_only`: what reads the files knows no other type than text. `table_settings` stand with the table.
    """

    classification: str
    input_format: str = ""
    output_format: str = ""
    serde: str = ""
    settings: Mapping[str, str] = field(default_factory=lambda: _ORDINARY)
    table_settings: Mapping[str, str] = field(default_factory=dict)
    text_only: bool = False
    warning: str = ""
    """What to tell whoever saves such a table."""


def storage_format(table: Table) -> StorageFormat:
    """Return how the files of a table are to be read; for a format that AWS cannot read, its name and a warning."""
    known = _FORMATS.get(table.schema.schema_type)
    if known is None:
        named = f"in the format {table.schema.schema_type}" if table.schema.schema_type else "of no known format"
        return StorageFormat(
            classification=table.schema.schema_type,
            warning=f"Files {named} can be listed in Glue, but not be read by Athena or Hive.",
        )
    return known(table)


def data_columns(table: Table) -> list[Column]:
    """Return the columns that are in the files: all but those that the folders name."""
    return [each for each in table.schema.columns if each.name not in table.partition_keys]


def _parquet(table: Table) -> StorageFormat:
    base = f"{_HIVE}.ql.io.parquet"
    return StorageFormat(
        classification="parquet",
        input_format=f"{base}.MapredParquetInputFormat",
        output_format=f"{base}.MapredParquetOutputFormat",
        serde=f"{base}.serde.ParquetHiveSerDe",
    )


def _orc(table: Table) -> StorageFormat:
    base = f"{_HIVE}.ql.io.orc"
    return StorageFormat(
        classification="orc",
        input_format=f"{base}.OrcInputFormat",
        output_format=f"{base}.OrcOutputFormat",
        serde=f"{base}.OrcSerde",
    )


def _avro(table: Table) -> StorageFormat:
    base = f"{_HIVE}.ql.io.avro"
    literal = {"avro.schema.literal": _avro_schema(table)}
    return StorageFormat(
        classification="avro",
        input_format=f"{base}.AvroContainerInputFormat",
        output_format=f"{base}.AvroContainerOutputFormat",
        serde=f"{_HIVE}.serde2.avro.AvroSerDe",
        settings={**_ORDINARY, **literal},
        table_settings=literal,
    )


def _avro_schema(table: Table) -> str:
    import pyarrow as pa

    from mason.pipeline.formats.writers.avro_writer import avro_codec, avro_schema, escape_names
    from mason.pipeline.formats.writers.output_format import schema_as_stored

    columns = data_columns(table)
    names = [each.name for each in columns]
    arrow = pa.schema([pa.field(each.name, each.type) for each in columns])
    stored = schema_as_stored(arrow, [avro_codec(each.type) for each in columns], escape_names(names))
    return json.dumps(avro_schema(stored, names), separators=(",", ":"))


def _json_lines(table: Table) -> StorageFormat:
    return StorageFormat(
        classification="json",
        input_format=_TEXT_INPUT,
        output_format=_TEXT_OUTPUT,
        serde="org.openx.data.jsonserde.JsonSerDe",
    )


def _json_document(table: Table) -> StorageFormat:
    warning = "Athena and Hive read JSON only with one record on each line; these files may be written otherwise."
    return StorageFormat(
        classification="json",
        input_format=_TEXT_INPUT,
        output_format=_TEXT_OUTPUT,
        serde="org.openx.data.jsonserde.JsonSerDe",
        warning=warning,
    )


def _csv(table: Table) -> StorageFormat:
    found = table.delimited
    options = table.read_options
    delimiter = options.delimiter or (found.delimiter if found else ",")
    header = found.header if found else options.read_headers is not False
    skipped = {"skip.header.line.count": "1"} if header else {}
    shared = {"areColumnsQuoted": "true" if found and found.quoted else "false", "delimiter": delimiter, **skipped}
    warning = "" if found or options.delimiter else "How the files are delimited is not known: commas are assumed."
    if found and found.quoted:
        return _csv_with_quotes(found, shared)
    # An empty field is null, as it is for Mason; without this setting it would be an empty text.
    settings = {"field.delim": delimiter, "serialization.format": delimiter, "serialization.null.format": ""}
    encoding = {"serialization.encoding": options.encoding} if options.encoding else {}
    return StorageFormat(
        classification="csv",
        input_format=_TEXT_INPUT,
        output_format=_TEXT_OUTPUT,
        serde=f"{_HIVE}.serde2.lazy.LazySimpleSerDe",
        settings={**settings, **encoding},
        table_settings=shared,
        warning=warning,
    )


def _csv_with_quotes(found: Delimited, shared: Mapping[str, str]) -> StorageFormat:
    return StorageFormat(
        classification="csv",
        input_format=_TEXT_INPUT,
        output_format=_TEXT_OUTPUT,
        serde=f"{_HIVE}.serde2.OpenCSVSerde",
        settings={"separatorChar": found.delimiter, "quoteChar": '"'},
        table_settings=shared,
        text_only=True,
        warning="Values are in quotes: what reads such CSV in Athena and Hive knows text only, so that all columns are "
        "text there. Merge the files into Parquet to have types.",
    )


_FORMATS: Mapping[str, Callable[[Table], StorageFormat]] = {
    "parquet": _parquet,
    "orc": _orc,
    "avro": _avro,
    "jsonl": _json_lines,
    "json": _json_document,
    "csv": _csv,
}
