"""What a metastore says of a table's partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from mason.clients.engines.metastore import MetastoreClient
from mason.engines.metastore.models.partition import Partition
from mason.engines.metastore.models.schema import Column
from mason.engines.metastore.models.table import Table
from mason.errors import DatabaseNotFound, TableNotFound
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.metastore.fixtures import MakePartitions, MakeTable, MetastoreFixtures, a_table
from mason.testing.place import Place


class PartitionTests(MetastoreFixtures):
    @tests_verbs("list_partitions")
    def test_list_partitions_of_a_table_that_has_none_is_empty(
        self, client: MetastoreClient, database: str, data: Place, make_table: MakeTable
    ) -> None:
        data.write("orders/part.csv", b"id\n1\n")
        make_table(a_table(database, "orders", str(data.below("orders"))))

        assert list(answer(client.list_partitions, database, "orders")) == []

    @tests_verbs("list_partitions")
    def test_list_partitions_is_sorted_by_values(
        self,
        client: MetastoreClient,
        database: str,
        data: Place,
        make_table: MakeTable,
        make_partitions: MakePartitions,
    ) -> None:
        wanted = [{"year": year, "region": region} for year in ("2019", "2020", "2021") for region in ("eu", "us")]
        make_table(_build_partitioned_table(database, str(data.below("orders"))))
        make_partitions("orders", [wanted[number] for number in (3, 0, 5, 2, 1, 4)])

        assert _values(client, database) == wanted

    @tests_verbs("list_partitions")
    def test_list_partitions_says_where_each_is(
        self,
        client: MetastoreClient,
        database: str,
        data: Place,
        make_table: MakeTable,
        make_partitions: MakePartitions,
    ) -> None:
        make_table(_build_partitioned_table(database, str(data.below("orders"))))
        make_partitions("orders", [{"year": "2020", "region": "eu"}])

        [found] = answer(client.list_partitions, database, "orders")

        assert isinstance(found, Partition)
        assert found.path.rstrip("/").endswith("orders/year=2020/region=eu")

    @tests_verbs("list_partitions")
    def test_list_partitions_gives_none_for_a_null_value(
        self,
        client: MetastoreClient,
        database: str,
        data: Place,
        make_table: MakeTable,
        make_partitions: MakePartitions,
    ) -> None:
        make_table(_build_partitioned_table(database, str(data.below("orders"))))
        make_partitions("orders", [{"year": "2020", "region": None}])

        assert _values(client, database) == [{"year": "2020", "region": None}]

    @tests_verbs("list_partitions")
    def test_list_partitions_of_a_missing_table_raises_table_not_found(
        self, client: MetastoreClient, database: str
    ) -> None:
        with fails_with(TableNotFound):
            answer(client.list_partitions, database, "orders")

    @tests_verbs("list_partitions")
    def test_list_partitions_of_a_missing_database_raises_database_not_found(
        self, client: MetastoreClient, database: str
    ) -> None:
        with fails_with(DatabaseNotFound):
            answer(client.list_partitions, f"{database}{self.joint}missing", "orders")


def _build_partitioned_table(database: str, path: str) -> Table:
    columns = [Column("id", pa.int64()), Column("year", pa.int64()), Column("region", pa.string())]
    return replace(a_table(database, "orders", path, columns), partition_keys=("year", "region"))


def _values(client: MetastoreClient, database: str) -> Sequence[Mapping[str, str | None]]:
    return [dict(each.values) for each in answer(client.list_partitions, database, "orders")]
