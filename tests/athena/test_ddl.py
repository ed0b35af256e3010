"""The statement that makes a table in Athena fits the format of its files."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from mason.clients.athena.ddl import create_statement
from mason.engines.metastore.models.schema import Column, Schema
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions


def table(kind: str, path: str = "s3://shop/orders") -> Table:
    columns = [
        Column("id", pa.int64()),
        Column("price", pa.decimal128(10, 2)),
        Column("tags", pa.list_(pa.string())),
        Column("place", pa.struct([("city", pa.string())])),
        Column("seen", pa.timestamp("us", "UTC")),
        Column("year", pa.int32()),
    ]
    options = InferOptions(delimiter=";") if kind == "csv" else InferOptions()
    return Table("orders", "sales", path, schema=Schema(kind, columns), partition_keys=("year",), read_options=options)


@pytest.mark.parametrize(
    ("kind", "serde", "input_format"),
    [
        ("parquet", "parquet.serde.ParquetHiveSerDe", "MapredParquetInputFormat"),
        ("orc", "orc.OrcSerde", "OrcInputFormat"),
        ("avro", "avro.AvroSerDe", "AvroContainerInputFormat"),
        ("jsonl", "JsonSerDe", "TextInputFormat"),
        ("csv", "LazySimpleSerDe", "TextInputFormat"),
    ],
)
def test_the_statement_names_what_reads_the_format(kind: str, serde: str, input_format: str) -> None:
    statement = create_statement(table(kind))

    tree = sqlglot.parse_one(statement, dialect="athena")
    assert isinstance(tree, exp.Create)
    assert statement.startswith(
        "CREATE EXTERNAL TABLE `sales`.`orders` (`id` bigint, `price` decimal(10,2), `tags` array<string>,"
        " `place` struct<city:string>, `seen` timestamp) PARTITIONED BY (`year` int) ROW FORMAT SERDE '"
    )
    assert f"{serde}'" in statement
    assert f"{input_format}' OUTPUTFORMAT '" in statement
    assert "LOCATION 's3://shop/orders/'" in statement
    assert "mason." not in statement


def test_a_delimiter_and_a_quote_are_written_as_hive_reads_them() -> None:
    statement = create_statement(replace(table("csv"), path="s3://shop/o'neill"))

    assert "'field.delim' = ';'" in statement
    assert "LOCATION 's3://shop/o\\'neill/'" in statement


@pytest.mark.parametrize("case", [table("parquet", ""), table("parquet", "file:///data/orders"), table("msgpack")])
def test_what_athena_cannot_read_has_no_statement(case: Table) -> None:
    assert create_statement(case) == ""
