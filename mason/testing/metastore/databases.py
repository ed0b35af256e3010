"""What a metastore does with databases."""

from __future__ import annotations

from mason.clients.engines.metastore import MetastoreClient
from mason.engines.metastore.models.database import Database
from mason.errors import AlreadyExists, DatabaseNotFound, NotEmpty
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.metastore.fixtures import MakeDatabase, MakeTable, MetastoreFixtures, a_table


class DatabaseTests(MetastoreFixtures):
    @tests_verbs("list_databases")
    def test_list_databases_is_sorted_by_name(
        self, client: MetastoreClient, database: str, make_database: MakeDatabase
    ) -> None:
        for suffix in ("c", "a", "b", "a1"):
            make_database(f"{database}{self.joint}{suffix}")

        names = _names(client)

        assert names == sorted(names)

    @tests_verbs("list_databases")
    def test_list_databases_leaves_none_out(
        self, client: MetastoreClient, database: str, make_database: MakeDatabase
    ) -> None:
        made = {f"{database}{self.joint}{number:02}" for number in range(25)}
        for name in sorted(made):
            make_database(name)

        names = _names(client)

        assert made <= set(names)
        assert len(names) == len(set(names))

    @tests_verbs("get_database")
    def test_get_database_returns_the_database(self, client: MetastoreClient, database: str) -> None:
        found = answer(client.get_database, database)

        assert isinstance(found, Database)
        assert found.name == database

    @tests_verbs("get_database")
    def test_get_database_that_is_missing_raises_database_not_found(
        self, client: MetastoreClient, database: str
    ) -> None:
        with fails_with(DatabaseNotFound):
            answer(client.get_database, f"{database}{self.joint}missing")

    @tests_verbs("create_database", "get_database", "list_databases")
    def test_create_database_makes_it_found_and_listed(self, client: MetastoreClient, database: str) -> None:
        created = answer(client.create_database, f"{database}{self.joint}new")

        assert created.name == f"{database}{self.joint}new"
        assert answer(client.get_database, f"{database}{self.joint}new") == created
        assert created in answer(client.list_databases)

    @tests_verbs("create_database", "list_tables")
    def test_create_database_makes_it_without_tables(self, client: MetastoreClient, database: str) -> None:
        answer(client.create_database, f"{database}{self.joint}new")

        assert list(answer(client.list_tables, f"{database}{self.joint}new")) == []

    @tests_verbs("create_database", "list_tables")
    def test_create_database_that_exists_raises_already_exists_and_keeps_its_tables(
        self, client: MetastoreClient, database: str, make_table: MakeTable
    ) -> None:
        make_table(a_table(database, "orders"))

        with fails_with(AlreadyExists):
            answer(client.create_database, database)

        assert [each.name for each in answer(client.list_tables, database)] == ["orders"]

    @tests_verbs("delete_database", "get_database", "list_databases")
    def test_delete_database_makes_it_neither_listed_nor_found(self, client: MetastoreClient, database: str) -> None:
        assert answer(client.delete_database, database) is None

        assert database not in _names(client)
        with fails_with(DatabaseNotFound):
            answer(client.get_database, database)

    @tests_verbs("delete_database")
    def test_delete_database_that_is_missing_raises_database_not_found(
        self, client: MetastoreClient, database: str
    ) -> None:
        with fails_with(DatabaseNotFound):
            answer(client.delete_database, f"{database}{self.joint}missing")

    @tests_verbs("delete_database", "list_tables")
    def test_delete_database_with_tables_raises_not_empty_and_keeps_them(
        self, client: MetastoreClient, database: str, make_table: MakeTable
    ) -> None:
        make_table(a_table(database, "orders"))

        with fails_with(NotEmpty):
            answer(client.delete_database, database)

        assert [each.name for each in answer(client.list_tables, database)] == ["orders"]

    @tests_verbs("delete_database", "list_databases")
    def test_delete_database_keeps_one_whose_name_begins_the_same(
        self, client: MetastoreClient, database: str, make_database: MakeDatabase
    ) -> None:
        make_database(f"{database}{self.joint}2")

        answer(client.delete_database, database)

        assert f"{database}{self.joint}2" in _names(client)


def _names(client: MetastoreClient) -> list[str]:
    return [each.name for each in answer(client.list_databases)]
