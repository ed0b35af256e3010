"""What a storage makes of the files of a table."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.clients.engines.storage import StorageClient
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.errors import NoData, PathNotFound, UnreadableFile
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.place import Place
from mason.testing.storage.verbs import StorageFixtures

BROKEN_PARQUET = b"PAR1" + bytes(range(256)) * 4


class InferenceTests(StorageFixtures):
    @tests_verbs("infer_table")
    def test_infer_table_returns_the_table_at_the_path(self, client: StorageClient, place: Place) -> None:
        path = place.write("orders.csv", b"id,name,price\n1,saw,2.5\n2,axe,3.25\n")

        table = _infer(client, place, "orders.csv")

        assert isinstance(table, Table)
        assert (table.name, table.database_name, table.path) == ("orders", "sales", str(path))
        assert [each.name for each in table.schema.columns] == ["id", "name", "price"]
        assert table.schema.schema_type == "csv"

    @tests_verbs("infer_table")
    def test_infer_table_keeps_leading_zeros_as_text(self, client: StorageClient, place: Place) -> None:
        place.write("orders.csv", b"code,amount\n007,7\n010,10\n")

        schema = _infer(client, place, "orders.csv").schema.to_arrow()

        assert pa.types.is_string(schema.field("code").type)
        assert pa.types.is_integer(schema.field("amount").type)

    @tests_verbs("infer_table")
    def test_infer_table_takes_the_schema_of_parquet_as_it_is(self, client: StorageClient, place: Place) -> None:
        schema = pa.schema(
            [
                pa.field("id", pa.int64(), nullable=False),
                pa.field("price", pa.decimal128(12, 4)),
                pa.field("at", pa.timestamp("us", "UTC")),
                pa.field("tags", pa.list_(pa.string())),
            ]
        )
        place.write("orders/part.parquet", _parquet(schema))

        table = _infer(client, place, "orders")

        assert table.schema.to_arrow() == schema
        assert table.schema.schema_type == "parquet"

    @tests_verbs("infer_table")
    def test_infer_table_reports_what_files_disagree_on(self, client: StorageClient, place: Place) -> None:
        place.write("orders/a.csv", b"id,price\n1,5\n")
        place.write("orders/b.csv", b"id,price\n2,unknown\n")

        table = _infer(client, place, "orders")

        [conflict] = table.conflicts
        assert conflict.column == "price"
        assert [each.file for each in conflict.found] == ["a.csv", "b.csv"]
        assert conflict.chosen == str(table.schema.to_arrow().field("price").type) == "string"

    @tests_verbs("infer_table")
    def test_infer_table_makes_partition_keys_of_folders(self, client: StorageClient, place: Place) -> None:
        for year in ("2019", "2020"):
            place.write(f"orders/year={year}/region=eu/part.csv", b"id\n1\n")

        table = _infer(client, place, "orders")

        assert list(table.partition_keys) == ["year", "region"]
        assert [each.name for each in table.schema.columns] == ["id", "year", "region"]

    @tests_verbs("infer_table")
    def test_infer_table_takes_no_notice_of_hidden_files(self, client: StorageClient, place: Place) -> None:
        place.write("orders/part.csv", b"id\n1\n")
        place.write("orders/_old.csv", b"id,more\nx,y\n")
        place.write("orders/.part.csv.crc", bytes(16))

        table = _infer(client, place, "orders")

        assert [each.name for each in table.schema.columns] == ["id"]
        assert list(table.conflicts) == []

    @tests_verbs("infer_table")
    def test_infer_table_reads_as_it_is_told_and_remembers_it(self, client: StorageClient, place: Place) -> None:
        place.write("orders.txt", b"1|saw\n2|axe\n")
        options = InferOptions(input_format="csv", read_headers=False, delimiter="|", read_all=True)

        table: Table = answer(client.infer_table, place.below("orders.txt"), "sales", "orders", options)

        assert len(table.schema.columns) == 2
        assert table.read_options == options

    @tests_verbs("infer_table")
    def test_infer_table_writes_nothing(self, client: StorageClient, place: Place) -> None:
        place.write("orders/a.csv", b"id\n1\n")
        place.write("orders/year=2020/b.csv", b"id\nx\n")
        before = place.contents()

        _infer(client, place, "orders")

        assert place.contents() == before

    @tests_verbs("infer_table")
    def test_infer_table_goes_on_without_an_unreadable_file(self, client: StorageClient, place: Place) -> None:
        place.write("orders/a.parquet", _parquet(pa.schema({"id": pa.int64()})))
        place.write("orders/b.parquet", BROKEN_PARQUET)

        assert [each.name for each in _infer(client, place, "orders").schema.columns] == ["id"]

    @tests_verbs("infer_table")
    def test_infer_table_of_nothing_but_unreadable_files_raises_unreadable_file(
        self, client: StorageClient, place: Place
    ) -> None:
        place.write("orders/a.parquet", BROKEN_PARQUET)

        with fails_with(UnreadableFile):
            _infer(client, place, "orders")

    @pytest.mark.parametrize("name", ["_SUCCESS", "empty.csv"])
    @tests_verbs("infer_table")
    def test_infer_table_of_a_folder_without_data_raises_no_data(
        self, client: StorageClient, place: Place, name: str
    ) -> None:
        place.write(f"orders/{name}")

        with fails_with(NoData):
            _infer(client, place, "orders")

    @tests_verbs("infer_table")
    def test_infer_table_of_a_missing_path_raises_path_not_found(self, client: StorageClient, place: Place) -> None:
        place.write("orders_2/a.csv", b"id\n1\n")

        with fails_with(PathNotFound):
            _infer(client, place, "orders")


def _infer(client: StorageClient, place: Place, name: str) -> Table:
    table: Table = answer(client.infer_table, place.below(name), "sales", "orders", InferOptions())
    return table


def _parquet(schema: pa.Schema) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(schema.empty_table(), buffer)
    return buffer.getvalue()
