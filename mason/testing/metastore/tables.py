"""What a metastore does with tables, whatever their columns are."""

from __future__ import annotations

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.response import Response
from mason.engines.metastore.models.table import Table, TableSummary
from mason.errors import DatabaseNotFound, TableNotFound
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.metastore.fixtures import MakeDatabase, MakeTable, MetastoreFixtures, a_table


class TableTests(MetastoreFixtures):
    @tests_verbs("list_tables")
    def test_list_tables_of_a_database_without_tables_is_empty(self, client: MetastoreClient, database: str) -> None:
        assert list(answer(client.list_tables, database)) == []

    @tests_verbs("list_tables")
    def test_list_tables_is_sorted_by_name(self, client: MetastoreClient, database: str, make_table: MakeTable) -> None:
        for name in ("orders", "a_1", "customers", "a", "a10", "a2"):
            make_table(a_table(database, name))

        assert _names(client, database) == ["a", "a10", "a2", "a_1", "customers", "orders"]

    @tests_verbs("list_tables")
    def test_list_tables_leaves_none_out(self, client: MetastoreClient, database: str, make_table: MakeTable) -> None:
        made = [f"table_{number:02}" for number in range(50)]
        for name in reversed(made):
            make_table(a_table(database, name))

        assert _names(client, database) == made

    @tests_verbs("list_tables")
    def test_list_tables_says_what_a_table_is_called_and_where_it_is(
        self, client: MetastoreClient, database: str, make_table: MakeTable
    ) -> None:
        make_table(a_table(database, "orders", "s3://bucket/orders"))

        [found] = answer(client.list_tables, database)

        assert isinstance(found, TableSummary)
        assert (found.name, found.database_name, found.path) == ("orders", database, "s3://bucket/orders")

    @tests_verbs("list_tables")
    def test_list_tables_shows_no_table_of_another_database(
        self, client: MetastoreClient, database: str, make_database: MakeDatabase, make_table: MakeTable
    ) -> None:
        make_database(f"{database}{self.joint}2")
        make_table(a_table(f"{database}{self.joint}2", "orders"))

        assert _names(client, database) == []

    @tests_verbs("list_tables")
    def test_list_tables_of_a_missing_database_raises_database_not_found(
        self, client: MetastoreClient, database: str
    ) -> None:
        with fails_with(DatabaseNotFound):
            answer(client.list_tables, f"{database}{self.joint}missing")

    @tests_verbs("get_table")
    def test_get_table_returns_the_table(self, client: MetastoreClient, database: str, make_table: MakeTable) -> None:
        make_table(a_table(database, "orders"))

        found = answer(client.get_table, database, "orders")

        assert isinstance(found, Table)
        assert (found.name, found.database_name) == ("orders", database)

    @tests_verbs("get_table")
    def test_get_table_that_is_missing_raises_table_not_found(
        self, client: MetastoreClient, database: str, make_table: MakeTable
    ) -> None:
        make_table(a_table(database, "orders"))

        with fails_with(TableNotFound):
            answer(client.get_table, database, "order")

    @tests_verbs("get_table")
    def test_get_table_of_a_missing_database_raises_database_not_found(
        self, client: MetastoreClient, database: str
    ) -> None:
        with fails_with(DatabaseNotFound):
            answer(client.get_table, f"{database}{self.joint}missing", "orders")

    @tests_verbs("delete_table", "get_table", "list_tables")
    def test_delete_table_makes_it_neither_listed_nor_found(
        self, client: MetastoreClient, database: str, make_table: MakeTable
    ) -> None:
        make_table(a_table(database, "orders"))

        assert answer(client.delete_table, database, "orders") is None

        assert _names(client, database) == []
        with fails_with(TableNotFound):
            answer(client.get_table, database, "orders")

    @tests_verbs("delete_table")
    def test_delete_table_that_is_missing_raises_table_not_found(
        self, client: MetastoreClient, database: str, make_table: MakeTable
    ) -> None:
        make_table(a_table(database, "orders"))
        answer(client.delete_table, database, "orders")

        with fails_with(TableNotFound):
            answer(client.delete_table, database, "orders")

    @tests_verbs("delete_table")
    def test_delete_table_of_a_missing_database_raises_database_not_found(
        self, client: MetastoreClient, database: str
    ) -> None:
        with fails_with(DatabaseNotFound):
            answer(client.delete_table, f"{database}{self.joint}missing", "orders")

    @tests_verbs("delete_table", "list_tables")
    def test_delete_table_keeps_one_whose_name_begins_the_same(
        self, client: MetastoreClient, database: str, make_table: MakeTable
    ) -> None:
        for name in ("orders", "orders_2020", "orders 2"):
            make_table(a_table(database, name))

        answer(client.delete_table, database, "orders")

        assert _names(client, database) == ["orders 2", "orders_2020"]

    @tests_verbs("delete_table", "get_table")
    def test_delete_table_leaves_its_name_free(
        self, client: MetastoreClient, database: str, make_table: MakeTable
    ) -> None:
        make_table(a_table(database, "orders"))
        answer(client.delete_table, database, "orders")

        make_table(a_table(database, "orders"))

        assert answer(client.get_table, database, "orders").name == "orders"

    @tests_verbs("get_table")
    def test_has_table_says_whether_the_database_has_it(
        self, client: MetastoreClient, database: str, make_table: MakeTable
    ) -> None:
        make_table(a_table(database, "orders"))

        assert client.has_table(database, "orders", response=Response()) is True
        assert client.has_table(database, "order", response=Response()) is False

    @tests_verbs("get_table")
    def test_has_table_of_a_missing_database_raises_database_not_found(
        self, client: MetastoreClient, database: str
    ) -> None:
        with fails_with(DatabaseNotFound):
            client.has_table(f"{database}{self.joint}missing", "orders", response=Response())


def _names(client: MetastoreClient, database: str) -> list[str]:
    return [each.name for each in answer(client.list_tables, database)]
