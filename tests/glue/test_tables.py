"""Tables as Glue has them and as Mason has them: pure functions, no server."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from mason.clients.glue.tables import covers, glue_from_table, refuse_other_kinds, save_warnings, table_from_glue
from mason.engines.metastore.models.schema import Column, Schema
from mason.engines.metastore.models.table import Delimited, Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.errors import Conflict

COLUMNS = (Column("id", pa.uint32()), Column("price", pa.decimal128(10, 2)), Column("year", pa.int32()))
HIVE = "org.apache.hadoop.hive"
TEXT = ("org.apache.hadoop.mapred.TextInputFormat", f"{HIVE}.ql.io.HiveIgnoreKeyTextOutputFormat")
CRAWLED: dict[str, Any] = {
    "Name": "catalog_poc_data",
    "DatabaseName": "crawler-poc",
    "CreateTime": datetime(2020, 2, 26, 17, 57, 31, tzinfo=UTC),
    "CreatedBy": "arn:aws:sts::062325279035:assumed-role/AWSGlueServiceRole-anduin-data-glue/AWS-Crawler",
    "StorageDescriptor": {
        "Columns": [{"Name": "widget", "Type": "string"}, {"Name": "prices", "Type": "array<decimal(10,2)>"}],
        "Location": "s3://lake-working-copy-feb-20-2020/",
    },
    "PartitionKeys": [{"Name": "day", "Type": "date"}],
    "TableType": "EXTERNAL_TABLE",
    "Parameters": {"UPDATED_BY_CRAWLER": "test_crawler", "classification": "csv"},
}


def table(form: str, **others: Any) -> Table:
    made = Table("orders", "shop", "s3://data/orders", schema=Schema(form, COLUMNS), partition_keys=("year",))
    return replace(made, created_by="mason", **others)


def as_found(described: dict[str, Any]) -> dict[str, Any]:
    return {**described, "DatabaseName": "shop", "CreateTime": datetime(2026, 1, 31, tzinfo=UTC)}


@pytest.mark.parametrize(
    ("form", "classes", "serde", "classification"),
    [
        (
            "parquet",
            tuple(f"{HIVE}.ql.io.parquet.MapredParquet{way}Format" for way in ("Input", "Output")),
            f"{HIVE}.ql.io.parquet.serde.ParquetHiveSerDe",
            "parquet",
        ),
        (
            "orc",
            tuple(f"{HIVE}.ql.io.orc.Orc{way}Format" for way in ("Input", "Output")),
            f"{HIVE}.ql.io.orc.OrcSerde",
            "orc",
        ),
        (
            "avro",
            tuple(f"{HIVE}.ql.io.avro.AvroContainer{way}Format" for way in ("Input", "Output")),
            f"{HIVE}.serde2.avro.AvroSerDe",
            "avro",
        ),
        ("jsonl", TEXT, "org.openx.data.jsonserde.JsonSerDe", "json"),
        ("csv", TEXT, f"{HIVE}.serde2.lazy.LazySimpleSerDe", "csv"),
    ],
)
def test_a_format_is_read_by_the_classes_that_hive_has_for_it(
    form: str, classes: tuple[str, str], serde: str, classification: str
) -> None:
    described = glue_from_table(table(form, delimited=Delimited(",", True, False)))

    storage = described["StorageDescriptor"]
    assert (storage["InputFormat"], storage["OutputFormat"]) == classes
    assert storage["SerdeInfo"]["SerializationLibrary"] == serde
    assert described["Parameters"]["classification"] == classification
    assert described["TableType"] == "EXTERNAL_TABLE"
    assert storage["Columns"] == [{"Name": "id", "Type": "bigint"}, {"Name": "price", "Type": "decimal(10,2)"}]
    assert described["PartitionKeys"] == [{"Name": "year", "Type": "int"}]


@pytest.mark.parametrize("delimiter", [",", "\t", "|", "\x01"])
@pytest.mark.parametrize("header", [True, False])
def test_plain_csv_is_read_with_its_delimiter_its_header_and_nulls(delimiter: str, header: bool) -> None:
    described = glue_from_table(table("csv", delimited=Delimited(delimiter, header, False)))

    settings = described["StorageDescriptor"]["SerdeInfo"]["Parameters"]
    assert settings["field.delim"] == delimiter
    assert settings["serialization.null.format"] == ""
    assert described["Parameters"].get("skip.header.line.count") == ("1" if header else None)


def test_quoted_csv_is_all_text_for_others_and_keeps_its_types_for_mason() -> None:
    saved = table("csv", delimited=Delimited(";", True, True))

    described = glue_from_table(saved)

    storage = described["StorageDescriptor"]
    assert storage["SerdeInfo"]["SerializationLibrary"].endswith("OpenCSVSerde")
    assert storage["SerdeInfo"]["Parameters"] == {"separatorChar": ";", "quoteChar": '"'}
    assert {each["Type"] for each in storage["Columns"]} == {"string"}
    assert table_from_glue(as_found(described)).schema.to_arrow() == saved.schema.to_arrow()
    assert any("knows text only" in each for each in save_warnings(saved))


def test_avro_has_its_schema_with_the_table_and_with_its_reader() -> None:
    described = glue_from_table(table("avro"))

    literal = described["Parameters"]["avro.schema.literal"]
    assert described["StorageDescriptor"]["SerdeInfo"]["Parameters"]["avro.schema.literal"] == literal
    fields = {each["name"]: each["type"] for each in json.loads(literal)["fields"]}
    assert fields["id"] == ["null", "long"]
    assert fields["price"][1]["logicalType"] == "decimal"
    assert "year" not in fields, "a partition's key is not in the files"


def test_a_table_comes_back_from_glue_as_it_was_saved() -> None:
    options = InferOptions(
        input_format="csv", read_headers=None, delimiter=";", encoding="latin-1", nulls=("NA",), read_all=True
    )
    saved = table("csv", read_options=options, delimited=Delimited(";", True, False))

    found = table_from_glue(as_found(glue_from_table(saved)))

    assert found.schema.to_arrow() == saved.schema.to_arrow()
    assert found.to_dict() == {**saved.to_dict(), "CreatedAt": "2026-01-31T00:00:00+00:00"}
    assert (found.read_options, found.delimited) == (saved.read_options, saved.delimited)


def test_columns_that_somebody_else_changed_win_over_what_mason_kept() -> None:
    described = as_found(glue_from_table(table("parquet", read_options=InferOptions(input_format="parquet"))))
    described["StorageDescriptor"]["Columns"].append({"Name": "added_in_athena", "Type": "map<string,int>"})

    found = table_from_glue(described)

    assert [each.name for each in found.schema.columns] == ["id", "price", "added_in_athena", "year"]
    assert found.schema.columns[0].type == pa.int64()
    assert found.schema.columns[2].type == pa.map_(pa.string(), pa.int32())
    assert found.read_options == InferOptions(input_format="parquet")


def test_a_table_of_a_crawler_is_shown_as_the_seeds_show_it() -> None:
    found = table_from_glue(CRAWLED).to_dict()

    assert found["Name"] == "catalog_poc_data"
    assert found["CreatedAt"] == "2020-02-26T17:57:31+00:00"
    assert found["CreatedBy"] == "crawler:test_crawler"
    assert found["Schema"]["SchemaType"] == "glue"
    assert found["Schema"]["Columns"][1] == {"Name": "prices", "Type": "array<decimal(10,2)>"}
    assert found["PartitionKeys"] == ["day"]
    assert table_from_glue(CRAWLED).crawler == "test_crawler"


def test_a_folder_ends_with_a_slash_for_others_and_as_it_was_written_for_mason() -> None:
    described = as_found(glue_from_table(table("parquet")))

    assert described["StorageDescriptor"]["Location"] == "s3://data/orders/"
    assert table_from_glue(described).path == "s3://data/orders"
    described["StorageDescriptor"]["Location"] = "s3://elsewhere/orders/"
    assert table_from_glue(described).path == "s3://elsewhere/orders/"


def test_what_others_noted_at_a_table_stays_and_former_settings_go() -> None:
    existing = {
        "Owner": "somebody",
        "Description": "All orders",
        "Parameters": {"team": "sales", "skip.header.line.count": "1", "UPDATED_BY_CRAWLER": "nightly"},
    }

    described = glue_from_table(table("parquet"), existing)

    assert (described["Owner"], described["Description"]) == ("somebody", "All orders")
    assert described["Parameters"]["team"] == "sales"
    assert described["Parameters"]["UPDATED_BY_CRAWLER"] == "nightly"
    assert "skip.header.line.count" not in described["Parameters"]


@pytest.mark.parametrize(
    "kind",
    [{"TableType": "VIRTUAL_VIEW"}, {"TargetTable": {"Name": "x"}}, {"Parameters": {"table_type": "ICEBERG"}}],
    ids=["view", "link", "iceberg"],
)
def test_what_is_no_plain_table_is_not_replaced(kind: dict[str, Any]) -> None:
    with pytest.raises(Conflict, match="is not replaced"):
        refuse_other_kinds({"Name": "orders", **kind})


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"schema": Schema("msgpack", COLUMNS)}, "format msgpack"),
        ({"schema": Schema("json", COLUMNS)}, "one record on each line"),
        ({"path": "s3://data/orders.parquet"}, "one file"),
        ({"schema": Schema("parquet", [Column("a", pa.struct({"b c": pa.int8()}))])}, '"b c"'),
        ({"schema": Schema("orc", [Column("Id", pa.int8()), Column("id", pa.int8())])}, '"Id" and "id" are one'),
        (
            {
                "schema": Schema("csv", [Column("at", pa.timestamp("us", "UTC")), Column("on", pa.timestamp("us"))]),
                "delimited": Delimited(",", True, False),
            },
            'Column "at" has times with a time zone',
        ),
    ],
    ids=["format", "json document", "file", "field name", "names in lower case", "time zones in csv"],
)
def test_what_others_cannot_read_is_said(changed: dict[str, Any], words: str) -> None:
    [warning] = save_warnings(replace(table("parquet"), **changed))

    assert words in warning


def test_what_glue_adds_by_itself_is_no_difference() -> None:
    wanted = glue_from_table(table("parquet"))
    found = json.loads(json.dumps(wanted))
    found["StorageDescriptor"] |= {"Compressed": False, "NumberOfBuckets": 0, "SortColumns": []}

    assert covers({**found, "VersionId": "3"}, wanted)
    found["StorageDescriptor"]["Columns"][0]["Type"] = "string"
    assert not covers(found, wanted)


def test_an_entry_that_cannot_be_read_counts_for_nothing() -> None:
    for garbage in ("", "not base64 !", "bm8gemxpYg==", "eJyrrgUAAXUA+Q=="):
        assert table_from_glue({**CRAWLED, "Parameters": {"mason.table": garbage}}).schema.schema_type == "glue"
