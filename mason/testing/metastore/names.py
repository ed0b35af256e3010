"""What a metastore does with names that are none: they end up in paths and in statements, so it takes no chances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mason.clients.engines.metastore import MetastoreClient
from mason.errors import BadInput, NotFound
from mason.testing.contract import answer, is_refused, tests_verbs
from mason.testing.metastore.fixtures import MakeDatabase, MakeTable, MetastoreFixtures, a_table

LEAVING = {
    "empty": "",
    "this": ".",
    "parent": "..",
    "out": "../x",
    "in and out": "x/../../x",
    "absolute": "/x",
    "with NUL": "x\0y",
}
ODD = ("two words", "größe", "it's", "a.b", "a/b", "_a", ".a")


class NameTests(MetastoreFixtures):
    @pytest.fixture(params=LEAVING)
    def leaving(self, request: pytest.FixtureRequest) -> str:
        """A name that would lead out of where it belongs."""
        return LEAVING[request.param]

    @pytest.fixture
    def others(
        self, client: MetastoreClient, database: str, make_database: MakeDatabase, make_table: MakeTable
    ) -> Callable[[], dict[str, list[str]]]:
        """What is there besides, and must still be there: a table in the database, and a database x with a table x."""
        names = [database, f"{database}{self.joint}x"]
        make_database(names[1])
        make_table(a_table(database, "orders"))
        make_table(a_table(names[1], "x"))
        return lambda: {name: [each.name for each in answer(client.list_tables, name)] for name in names}

    @tests_verbs("create_database", "list_tables", "list_databases")
    def test_create_database_refuses_a_name_that_leaves(
        self, client: MetastoreClient, leaving: str, others: Callable[[], Any]
    ) -> None:
        before = (others(), list(answer(client.list_databases)))

        with pytest.raises((BadInput, NotFound)):
            answer(client.create_database, leaving)

        assert (others(), list(answer(client.list_databases))) == before

    @pytest.mark.parametrize("odd", ODD)
    @tests_verbs("create_database", "list_databases")
    def test_create_database_refuses_a_name_that_it_would_not_list(self, client: MetastoreClient, odd: str) -> None:
        try:
            answer(client.create_database, odd)
        except BadInput:
            return

        assert odd in [each.name for each in answer(client.list_databases)]

    @pytest.mark.parametrize("verb", ["get_database", "list_tables", "delete_database"])
    @tests_verbs("list_tables")
    def test_a_database_name_that_leaves_is_refused(
        self, client: MetastoreClient, verb: str, leaving: str, others: Callable[[], Any]
    ) -> None:
        if is_refused(client, verb):
            return
        before = others()

        with pytest.raises((BadInput, NotFound)):
            answer(getattr(client, verb), leaving)

        assert others() == before

    @tests_verbs("save_table", "list_tables")
    def test_save_table_refuses_a_name_that_leaves(
        self, client: MetastoreClient, database: str, leaving: str, others: Callable[[], Any]
    ) -> None:
        before = others()

        with pytest.raises((BadInput, NotFound)):
            answer(client.save_table, a_table(database, leaving))
        with pytest.raises((BadInput, NotFound)):
            answer(client.save_table, a_table(leaving, "x"))

        assert others() == before

    @pytest.mark.parametrize("verb", ["get_table", "delete_table", "list_partitions"])
    @tests_verbs("list_tables")
    def test_a_table_name_that_leaves_is_refused(
        self, client: MetastoreClient, database: str, verb: str, leaving: str, others: Callable[[], Any]
    ) -> None:
        if is_refused(client, verb):
            return
        before = others()

        for pair in ((database, leaving), (leaving, "x"), (database, f"../{database}{self.joint}x/x")):
            with pytest.raises((BadInput, NotFound)):
                answer(getattr(client, verb), *pair)

        assert others() == before
