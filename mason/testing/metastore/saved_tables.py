"""What a metastore keeps of a table that is saved in it: all of it."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from mason.clients.engines.metastore import MetastoreClient
from mason.engines.metastore.models.schema import Column
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.errors import DatabaseNotFound, Unsupported
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.metastore.fixtures import MetastoreFixtures, a_table
from mason.testing.place import Place

TYPES = {
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint8": pa.uint8(),
    "uint16": pa.uint16(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal(5,2)": pa.decimal128(5, 2),
    "decimal(38,18)": pa.decimal128(38, 18),
    "bool": pa.bool_(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "naive timestamp": pa.timestamp("us"),
    "UTC timestamp": pa.timestamp("us", "UTC"),
    "list": pa.list_(pa.int32()),
    "struct": pa.struct({"street": pa.string(), "number": pa.int16()}),
    "list of structs": pa.list_(pa.struct({"at": pa.timestamp("us", "UTC"), "price": pa.decimal128(12, 4)})),
    "struct of lists": pa.struct({"inner": pa.struct({"list": pa.list_(pa.list_(pa.string()))})}),
    "odd field names": pa.struct({"a b": pa.int8(), 'x:"y"<z>,': pa.int8(), "größe": pa.int8()}),
}
COLUMN_NAMES = (
    "two words",
    "a.b",
    'say "so"',
    "it's",
    "back`tick",
    "größe",
    "数量",
    "select",
    "a,b;c",
    "1st",
    "a=b",
    "%20",
)
TABLE_NAMES = (
    "two words",
    'say "so"',
    "it's",
    "back`tick",
    "größe",
    "数量",
    "select",
    "a.b",
    "a+b",
    "100%",
    "a%20b",
    "a=b",
)
PATHS = {
    "none": "",
    "absolute": "/somewhere/else/orders.csv",
    "with scheme": "s3://bucket/orders",
    "odd": "s3://bucket/two words/größe%20",
    "trailing slash": "s3://bucket/orders/",
}


class SavedTableTests(MetastoreFixtures):
    @tests_verbs("save_table", "get_table")
    def test_save_table_returns_what_get_table_returns(self, client: MetastoreClient, database: str) -> None:
        saved = answer(client.save_table, replace(a_table(database, "orders"), created_by="somebody"))

        assert isinstance(saved, Table)
        assert saved.to_dict() == answer(client.get_table, database, "orders").to_dict()

    @tests_verbs("save_table")
    def test_save_table_in_a_missing_database_raises_database_not_found(
        self, client: MetastoreClient, database: str
    ) -> None:
        with fails_with(DatabaseNotFound):
            answer(client.save_table, a_table(f"{database}{self.joint}missing", "orders"))

    @tests_verbs("save_table", "get_table", "list_tables")
    def test_save_table_replaces_what_was_known(self, client: MetastoreClient, database: str) -> None:
        answer(client.save_table, a_table(database, "orders"))

        changed = a_table(database, "orders", "s3://bucket/new", [Column("only", pa.string())])
        answer(client.save_table, changed)

        [listed] = answer(client.list_tables, database)
        found = answer(client.get_table, database, "orders")
        assert (listed.path, found.path) == ("s3://bucket/new", "s3://bucket/new")
        assert found.schema.to_arrow() == changed.schema.to_arrow()

    @tests_verbs("save_table")
    def test_save_table_does_not_touch_the_data(self, client: MetastoreClient, database: str, data: Place) -> None:
        data.write("orders/part.csv", b"id,price\n1,2.5\n")
        data.write("orders/_SUCCESS")
        before = data.contents()

        answer(client.save_table, a_table(database, "orders", str(data.below("orders"))))
        answer(client.save_table, a_table(database, "orders", str(data.below("orders"))))

        assert data.contents() == before

    @pytest.mark.parametrize("kept", TYPES)
    @tests_verbs("save_table", "get_table")
    def test_save_table_keeps_the_type(self, client: MetastoreClient, database: str, kept: str) -> None:
        self._check_kept(client, kept, a_table(database, "orders", columns=[Column("value", TYPES[kept])]))

    @tests_verbs("save_table", "get_table")
    def test_save_table_keeps_what_must_not_be_null(self, client: MetastoreClient, database: str) -> None:
        inner = pa.struct([pa.field("must", pa.int32(), nullable=False), pa.field("may", pa.int32())])
        columns = [Column("must", pa.int32(), nullable=False), Column("may", pa.int32()), Column("inner", inner)]

        self._check_kept(client, "not null", a_table(database, "orders", columns=columns))

    @pytest.mark.parametrize("kept", COLUMN_NAMES)
    @tests_verbs("save_table", "get_table")
    def test_save_table_keeps_the_column_name(self, client: MetastoreClient, database: str, kept: str) -> None:
        self._check_kept(client, f"column {kept}", a_table(database, "orders", columns=[Column(kept, pa.int64())]))

    @tests_verbs("save_table", "get_table")
    def test_save_table_keeps_the_order_of_columns(self, client: MetastoreClient, database: str) -> None:
        columns = [Column(name, pa.int64()) for name in ("z", "a", "m", "b10", "b2")]

        self._check_kept(client, "order", a_table(database, "orders", columns=columns))

    @pytest.mark.parametrize("kept", TABLE_NAMES)
    @tests_verbs("save_table", "get_table", "list_tables", "delete_table")
    def test_save_table_keeps_the_table_name(self, client: MetastoreClient, database: str, kept: str) -> None:
        self._check_kept(client, f"table {kept}", a_table(database, kept))
        if f"table {kept}" not in self.refuses:
            assert [each.name for each in answer(client.list_tables, database)] == [kept]
            answer(client.delete_table, database, kept)
        assert list(answer(client.list_tables, database)) == []

    @pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
    @tests_verbs("save_table", "get_table")
    def test_save_table_keeps_the_path(self, client: MetastoreClient, database: str, path: str) -> None:
        answer(client.save_table, a_table(database, "orders", path))

        assert answer(client.get_table, database, "orders").path == path

    @tests_verbs("save_table", "get_table")
    def test_save_table_keeps_the_partition_keys(self, client: MetastoreClient, database: str) -> None:
        columns = [Column("id", pa.int64()), Column("year", pa.int32()), Column("region", pa.string())]
        table = replace(a_table(database, "orders", columns=columns), partition_keys=("year", "region"))

        answer(client.save_table, table)

        found = answer(client.get_table, database, "orders")
        assert list(found.partition_keys) == ["year", "region"]
        assert found.schema.to_arrow() == table.schema.to_arrow()

    @tests_verbs("save_table", "get_table")
    def test_save_table_keeps_how_its_files_are_read(self, client: MetastoreClient, database: str) -> None:
        options = InferOptions(
            input_format="csv", read_headers=False, delimiter="|", encoding="latin-1", nulls=("NA", "-"), read_all=True
        )

        answer(client.save_table, replace(a_table(database, "orders"), read_options=options))

        found = answer(client.get_table, database, "orders").read_options
        assert replace(found, nulls=tuple(found.nulls)) == options

    def _check_kept(self, client: MetastoreClient, case: str, table: Table) -> None:
        if case in self.refuses:
            with fails_with(Unsupported, saying=self.refuses[case]):
                answer(client.save_table, table)
            return
        answer(client.save_table, table)
        found = answer(client.get_table, table.database_name, table.name)
        assert found.name == table.name
        assert found.schema.schema_type == table.schema.schema_type
        assert found.schema.to_arrow() == table.schema.to_arrow()
