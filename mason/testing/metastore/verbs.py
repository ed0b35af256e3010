"""What every verb of a metastore does alike."""

from __future__ import annotations

import pytest

from mason.clients.engines.metastore import MetastoreClient
from mason.testing.contract import check_answer, is_refused
from mason.testing.metastore.fixtures import MakeDatabase, MakeTable, MetastoreFixtures, a_table

VERBS = sorted(getattr(MetastoreClient, "__abstractmethods__"))  # noqa: B009 (mypy does not know it)


class VerbTests(MetastoreFixtures):
    @pytest.mark.parametrize("verb", VERBS)
    def test_a_verb_gives_back_the_response_it_was_given(
        self, client: MetastoreClient, verb: str, database: str, make_database: MakeDatabase, make_table: MakeTable
    ) -> None:
        if is_refused(client, verb):
            return
        make_database(f"{database}{self.joint}empty")
        make_table(a_table(database, "orders"))
        arguments = {
            "list_databases": (),
            "get_database": (database,),
            "create_database": (f"{database}{self.joint}new",),
            "delete_database": (f"{database}{self.joint}empty",),
            "list_tables": (database,),
            "get_table": (database, "orders"),
            "save_table": (a_table(database, "orders"),),
            "delete_table": (database, "orders"),
            "list_partitions": (database, "orders"),
        }

        check_answer(getattr(client, verb), *arguments[verb])

    def test_check_finds_nothing_wrong_with_a_client_that_works(self, client: MetastoreClient) -> None:
        assert client.check() == []
