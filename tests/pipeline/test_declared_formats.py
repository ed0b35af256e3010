"""Formats that declare their types: Parquet, ORC and Avro."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from mason.errors import UnreadableFile
from mason.pipeline.formats.binary.avro_types import find_columns
from mason.pipeline.formats.binary.columnar_files import translate_parser_errors
from mason.pipeline.formats.file_schema import unique_names

if TYPE_CHECKING:
    from tests.pipeline.conftest import Folder

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int32(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("price", pa.decimal128(10, 2)),
        pa.field("at", pa.timestamp("ms", "Europe/Berlin")),
        pa.field("tags", pa.list_(pa.string())),
    ]
)
ROW = {"id": 1, "name": "x", "price": Decimal("1.50"), "at": 0, "tags": ["a"]}


def write_parquet(path: Path, schema: pa.Schema, rows: list[dict[str, Any]] | None = None) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema) if rows else schema.empty_table(), path)


def test_parquet_columns_carry_parquets_own_words(folder: Folder) -> None:
    write_parquet(folder.path / "a.parquet", SCHEMA, [ROW])

    found = folder.infer()

    columns = found.schema.to_dict()["Columns"]
    assert [each.pop("LogicalType") for each in columns] == [
        "int32",
        "string",
        "decimal128(10, 2)",
        "timestamp[us, tz=UTC]",
        "list<item: string>",
    ]
    assert {"SchemaType": found.schema.schema_type, "Columns": columns} == {
        "SchemaType": "parquet",
        "Columns": [
            {"Name": "id", "Type": "INT32", "ConvertedType": "NONE", "RepititionType": "REQUIRED"},
            {"Name": "name", "Type": "BYTE_ARRAY", "ConvertedType": "UTF8", "RepititionType": "OPTIONAL"},
            {"Name": "price", "Type": "FIXED_LEN_BYTE_ARRAY", "ConvertedType": "DECIMAL", "RepititionType": "OPTIONAL"},
            {"Name": "at", "Type": "INT64", "ConvertedType": "TIMESTAMP_MILLIS", "RepititionType": "OPTIONAL"},
            {"Name": "tags", "Type": "list<item: string>", "ConvertedType": "NONE", "RepititionType": "OPTIONAL"},
        ],
    }
    assert str(found.schema.columns[3].type) == "timestamp[us, tz=UTC]"
    assert not found.schema.columns[0].nullable
    assert (found.rows_read, found.sampled) == (0, False)
    assert found.describe_sample() == "Looked at 1 file, which is everything."


def test_parquet_beside_another_format_has_plain_types(folder: Folder) -> None:
    write_parquet(folder.path / "a.parquet", pa.schema([("id", pa.int32())]))
    folder.given("b.csv", "id\n1\n")

    found = folder.infer()

    assert found.schema.to_dict() == {"SchemaType": "mixed", "Columns": [{"Name": "id", "Type": "int64"}]}
    assert str(found.conflicts[0]) == (
        'Column "id" differs between files (int32 in a.parquet, int64 in b.csv): taken as int64.'
    )


def test_a_column_that_a_file_lacks_is_nullable(folder: Folder) -> None:
    write_parquet(folder.path / "a.parquet", pa.schema([pa.field("id", pa.int32(), nullable=False)]))
    write_parquet(folder.path / "b.parquet", pa.schema([pa.field("x", pa.int32(), nullable=False)]))

    found = folder.infer()

    assert [column.nullable for column in found.schema.columns] == [True, True]
    assert found.schema.columns[0].details["RepititionType"] == "OPTIONAL"
    assert not found.conflicts


def test_a_parquet_conflict_prints_the_words_of_the_file_with_the_chosen_type(folder: Folder) -> None:
    write_parquet(folder.path / "a.parquet", pa.schema([("id", pa.int32()), ("x", pa.int64())]))
    write_parquet(folder.path / "b.parquet", pa.schema([("id", pa.int64()), ("x", pa.string())]))

    found = folder.infer()

    assert [column.details["Type"] for column in found.schema.columns] == ["INT64", "BYTE_ARRAY"]
    assert [conflict.chosen for conflict in found.conflicts] == ["int64", "string"]


def test_structs_that_merely_lack_fields_or_hold_nulls_do_not_conflict(folder: Folder) -> None:
    write_parquet(folder.path / "a.parquet", pa.schema([("s", pa.struct([("a", pa.int64()), ("b", pa.null())]))]))
    write_parquet(folder.path / "b.parquet", pa.schema([("s", pa.struct([("b", pa.bool_())]))]))

    found = folder.infer()

    assert str(found.schema.columns[0].type) == "struct<a: int64, b: bool>"
    assert not found.conflicts


def test_times_in_nanoseconds_are_microseconds_and_nothing_is_said_before_one_is_lost(folder: Folder) -> None:
    write_parquet(folder.path / "a.parquet", pa.schema([("at", pa.timestamp("ns"))]))

    assert folder.types() == {"at": "timestamp[us]"}
    assert not folder.warnings()


def test_a_half_written_parquet_file_is_named(folder: Folder) -> None:
    write_parquet(folder.path / "a.parquet", SCHEMA, [ROW] * 100)
    content = (folder.path / "a.parquet").read_bytes()
    folder.given("a.parquet", content[: len(content) // 2])

    with pytest.raises(UnreadableFile, match=r"^a\.parquet: not a complete Parquet file"):
        folder.infer()


def test_parquet_names_with_dots_and_twice_are_kept_apart(folder: Folder) -> None:
    fields = [("a.b", pa.int64()), ("a", pa.struct([("b", pa.string())])), ("x", pa.int8()), ("x", pa.string())]
    write_parquet(folder.path / "a.pq", pa.schema(fields))

    assert folder.types() == {"a.b": "int64", "a": "struct<b: string>", "x": "int8", "x_2": "string"}
    assert "more than one column" in folder.warnings()


def test_orc_is_read_by_its_footer(folder: Folder) -> None:
    orc.write_table(pa.table({"id": pa.array([1], pa.int16()), "tags": [["a"]]}), folder.path / "a.orc")

    assert folder.types() == {"id": "int16", "tags": "list<item: string>"}
    assert folder.infer().schema.schema_type == "orc"


def test_a_broken_orc_file_is_named(folder: Folder) -> None:
    folder.given("a.orc", b"ORC\x00\x00")

    with pytest.raises(UnreadableFile, match=r"^a\.orc: not a complete ORC file"):
        folder.infer()


AVRO = {
    "type": "record",
    "name": "Row",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "us", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A"]}},
        {"name": "at", "type": {"type": "record", "name": "Point", "fields": [{"name": "x", "type": "float"}]}},
        {"name": "to", "type": ["null", "shop.Point"]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {"name": "either", "type": ["null", "int", "double"]},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {"name": "odd", "type": {"type": "string", "logicalType": "unknown-to-us"}},
    ],
}


def test_avro_is_read_by_its_header(folder: Folder) -> None:
    with open(folder.path / "a.avro", "wb") as file:
        fastavro.writer(file, AVRO, [], codec="deflate")

    assert folder.types() == {
        "id": "int64",
        "name": "string",
        "day": "date32[day]",
        "ms": "timestamp[us, tz=UTC]",
        "us": "timestamp[us, tz=UTC]",
        "local": "timestamp[us]",
        "price": "decimal128(10, 2)",
        "kind": "string",
        "at": "struct<x: float>",
        "to": "struct<x: float>",
        "tags": "list<item: string>",
        "counts": "map<string, int32>",
        "either": "double",
        "hash": "fixed_size_binary[4]",
        "odd": "string",
    }
    nullable = [column.name for column in folder.infer().schema.columns if column.nullable]
    assert nullable == ["name", "us", "to", "either"]


def test_an_avro_record_that_contains_itself_is_json_text_there() -> None:
    node = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}

    found = find_columns(node)

    assert found.schema.field("next").type == "string"
    assert found.notes == ['records of the type "Node" contain others of it: these are JSON text']


@pytest.mark.parametrize("content", [b"Obj\x01", b"Obj\x01\x02\x16avro.schema\x0e", b"Obj\x01" + b"\xff" * 50])
def test_a_broken_avro_file_is_named(folder: Folder, content: bytes) -> None:
    folder.given("a.avro", content)

    with pytest.raises(UnreadableFile, match=r"^a\.avro: not a complete Avro file"):
        folder.infer()


@pytest.mark.parametrize("broken", [(), (TypeError, AttributeError)])
def test_a_bug_of_masons_own_is_not_taken_for_a_broken_file(broken: tuple[type[Exception], ...]) -> None:
    nothing: Any = None
    with pytest.raises(TypeError), translate_parser_errors("a.avro", "Avro", *broken):
        unique_names(nothing, [])


def test_what_a_library_raises_on_bytes_that_make_no_sense_names_the_file() -> None:
    with (
        pytest.raises(UnreadableFile, match=r"^a\.avro: not a complete Avro file: "),
        translate_parser_errors("a.avro", "Avro", LookupError),
    ):
        fastavro.schemaless_reader(io.BytesIO(b"\x08"), {"type": "enum", "name": "e", "symbols": []}, None)
    with (
        pytest.raises(UnreadableFile, match=r"^a\.orc: not a complete ORC file: "),
        translate_parser_errors("a.orc", "ORC"),
    ):
        orc.ORCFile(io.BytesIO(b"ORC"))


def test_a_name_of_parquet_that_is_no_text_names_the_file(folder: Folder) -> None:
    pq.write_table(pa.table({"naab": [[1]]}), folder.path / "a.parquet", store_schema=False)
    folder.given("a.parquet", (folder.path / "a.parquet").read_bytes().replace(b"naab", b"nab\xf4"))

    with pytest.raises(UnreadableFile, match=r"^a\.parquet: not a complete Parquet file: 'utf-8' codec can't decode"):
        folder.infer()
