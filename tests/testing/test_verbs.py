"""Verbs as authors of clients and operators write and call them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.role import support_of, unsupported, verb
from mason.clients.local.metastore import LocalMetastoreClient
from mason.clients.response import Response
from mason.engines.metastore.models.database import Database
from mason.errors import ClientFailed, Unsupported
from mason.testing.contract import is_refused
from tests.cli.support import configured, install_package, operator_with, registered, strict_json
from tests.conftest import Mason

NO = unsupported("there is no such thing")


class Wooden(MetastoreClient):
    """A client by the founding documents: no `@verb`, and NotImplementedError for what is not there."""

    errors = {Exception: ClientFailed}

    list_tables = get_table = delete_table = list_partitions = NO

    def list_databases(self, *, response: Response) -> Any:
        return [Database("shop")], response

    def get_database(self, database: str, response: Response) -> Any:  # type: ignore[override]
        return Database(database), response

    def create_database(self, database: str, *, response: Response) -> Any:
        """Wood has no databases."""
        raise NotImplementedError("wood has no databases")

    @verb
    def delete_database(self, database: str, *, response: Response) -> None:
        raise NotImplementedError

    @verb
    def save_table(self, table: Any, *, response: Response) -> Any:
        raise NotImplemented  # noqa: F901 (the very word of the founding documents)


@pytest.mark.parametrize(
    ("name", "argument", "reason"),
    [
        ("create_database", "shop", "wood has no databases"),
        ("delete_database", "shop", "its author has not implemented it"),
        ("save_table", None, "its author has not implemented it"),
    ],
)
def test_a_verb_that_raises_not_implemented_is_unsupported_and_the_suites_know(
    name: str, argument: Any, reason: str
) -> None:
    with pytest.raises(Unsupported) as caught:
        getattr(Wooden(), name)(argument, response=Response())

    assert str(caught.value) == f"Wooden does not support {name}: {reason}"
    assert caught.value.status == 501
    assert support_of(Wooden)[name] == reason
    assert is_refused(Wooden(), name)


def test_a_library_that_has_not_implemented_something_is_no_verb_that_refuses() -> None:
    class Cast(NotImplementedError):
        """As pyarrow has one."""

    class Reading(Wooden):
        @verb
        def create_database(self, database: str, *, response: Response) -> Any:
            raise Cast("no such cast")

        @verb
        def delete_database(self, database: str, *, response: Response) -> None:
            raise TypeError("exceptions must derive from BaseException")

    for name in ("create_database", "delete_database"):
        with pytest.raises(ClientFailed):
            getattr(Reading(), name)("shop", response=Response())


def test_the_response_may_be_given_by_position(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    response = Response()
    untyped: Any = LocalMetastoreClient({"root": str(tmp_path)})
    wooden: Any = Wooden()

    assert untyped.list_tables("shop", response) == ([], response)
    assert untyped.get_database("shop", response)[0].name == "shop"
    assert not untyped.has_table("shop", "orders", response)
    assert wooden.list_databases(response) == ([Database("shop")], response)
    assert wooden.get_database("shop", response) == wooden.get_database("shop", response=response)


def test_a_verb_without_the_response_says_how_it_is_called(tmp_path: Path) -> None:
    untyped: Any = LocalMetastoreClient({"root": str(tmp_path)})

    with pytest.raises(TypeError, match=r"list_tables needs the response: list_tables\(…, response=resp\)"):
        untyped.list_tables("shop")


CLIENT = """\
from mason.clients.engines.metastore import MetastoreClient
from mason.engines.metastore.models.database import Database


class WoodMetastoreClient(MetastoreClient):
    def __init__(self, configuration):
        pass

    def list_databases(self, response):
        return [Database("shop")], response

    def get_database(self, database, response):
        raise NotImplementedError("wood has no single databases")

    create_database = delete_database = list_tables = get_table = get_database
    save_table = delete_table = list_partitions = get_database
"""


def test_an_operator_on_such_a_client_answers_and_says_what_is_not_supported(mason: Mason, tmp_path: Path) -> None:
    files = {"schema.json": '{"type": "object"}', "metastore.py": CLIENT}
    install_package(mason, "mason_wood", "mason.clients", {"wood": "mason_wood"}, files)
    configured(mason, "id: wood\nmetastore_engine: wood\n")
    body = "client = config.metastore.client\nfound, resp = client.list_databases(resp)\nresp.add_data(found[0])\n"
    registered(mason, operator_with(tmp_path / "src", "new", "one", body=f'{body}client.get_database("shop", resp)'))

    result = mason("operator", "new", "one")

    assert result.exit_code == 1
    answer = strict_json(result)
    assert answer["Data"] == [{"Name": "shop"}]
    assert answer["Errors"] == ["WoodMetastoreClient does not support get_database: wood has no single databases"]
    assert "Traceback" not in result.stderr
