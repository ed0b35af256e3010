"""A role that names several clients uses them: databases by their metastore, jobs by their type."""

from __future__ import annotations

from typing import Any

import pytest

from mason.clients.engines.several import SeveralEngines
from mason.clients.local.execution import LocalExecutionClient
from mason.clients.response import Response
from mason.engines.execution.models.job import Job
from mason.errors import NotFound, Unsupported
from tests.cli.support import configured, errors, install_package, operator_with, registered, strict_json, tree
from tests.conftest import Mason, write
from tests.roles.support import install_guide

BOTH = """\
id: both
metastore_engine: [local, json_file]
storage_engine: local
execution_engine: local
scheduler_engine: local
clients:
  json_file: {configuration: {file: metastore.json}}
"""


@pytest.fixture
def both(mason: Mason) -> Mason:
    """Two metastores: folders on this machine, and the JSON file of docs/write-a-client.md. Both have a `shop`."""
    mason.register_examples()
    install_guide(mason, "write-a-client.md")
    write(mason.folder, {"shop/orders.csv": "id\n1\n", "other/prices.csv": "id,price\n7,2.5\n8,3.5\n"})
    configured(mason, BOTH)
    for database in ("json_file.shop", "json_file.archive"):
        assert ask(mason, "database", "create", f"database_name:{database}") == [
            {"Name": database.partition(".")[2], "Client": "json_file"}
        ]
    ask(mason, "table", "infer", "database_name:json_file.shop,storage_path:other/prices.csv")
    return mason


def ask(mason: Mason, namespace: str, command: str, parameters: str = "") -> list[Any]:
    given = ["-p", parameters] if parameters else []
    done = mason("operator", namespace, command, *given)
    assert done.exit_code == 0, done.stdout
    data: list[Any] = strict_json(done)["Data"]
    return data


def names(data: list[Any]) -> list[tuple[str, str]]:
    return [(each["DatabaseName"], each["Name"]) for each in data]


def test_every_database_is_listed_with_its_client(both: Mason) -> None:
    listed = [(each["Name"], each["Client"]) for each in ask(both, "database", "list")]

    assert {("shop", "local"), ("shop", "json_file"), ("archive", "json_file")} <= set(listed)


def test_a_database_without_a_client_is_that_of_the_first_metastore_that_has_it(both: Mason) -> None:
    assert names(ask(both, "table", "list", "database_name:shop")) == [("shop", "orders")]
    assert ask(both, "table", "list", "database_name:archive") == []
    assert ask(both, "database", "get", "database_name:archive") == [{"Name": "archive", "Client": "json_file"}]


def test_a_database_with_its_client_is_found_there(both: Mason) -> None:
    assert names(ask(both, "table", "list", "database_name:json_file.shop")) == [("json_file.shop", "prices")]
    (table,) = ask(both, "table", "get", "database_name:json_file.shop,table_name:prices")
    assert (table["DatabaseName"], table["Schema"]["Columns"][1]["Name"]) == ("json_file.shop", "price")
    assert names(ask(both, "table", "list", "database_name:local.shop")) == [("local.shop", "orders")]
    (refreshed,) = ask(both, "table", "refresh", "database_name:json_file.shop,table_name:prices")
    assert refreshed["DatabaseName"] == "json_file.shop"


def test_a_new_database_goes_to_the_first_metastore(both: Mason) -> None:
    assert ask(both, "database", "create", "database_name:fresh")[0]["Client"] == "local"
    assert (both.folder / "fresh").is_dir()


def test_data_operators_find_tables_by_their_metastore(both: Mason) -> None:
    query = "query_string:select sum(price) as total from prices"

    (result,) = ask(both, "table", "query", f"database_name:json_file.shop,{query}")
    (found,) = ask(both, "table", "preview", "database_name:json_file.shop,table_name:prices")

    assert result["Rows"] == [{"total": "6.0"}]
    assert [row["id"] for row in found["Rows"]] == [7, 8]
    assert 'no table "prices"' in errors(both, "table", "query", "-p", f"database_name:shop,{query}")[0]


def test_deleting_touches_the_metastore_that_is_named_and_no_other(both: Mason) -> None:
    before = tree(both.folder / "shop")

    ask(both, "table", "delete", "database_name:json_file.shop,table_name:prices")
    ask(both, "database", "delete", "database_name:json_file.shop")

    assert tree(both.folder / "shop") == before
    assert {("shop", "local")} == {
        (each["Name"], each["Client"]) for each in ask(both, "database", "list") if each["Name"] == "shop"
    }


def test_a_database_that_no_metastore_has_is_not_found(both: Mason) -> None:
    assert errors(both, "table", "list", "-p", "database_name:archiv") == [
        'Database "archiv" not found. Did you mean "archive"?'
    ]
    assert errors(both, "database", "get", "-p", "database_name:json_file.none") == ['Database "none" not found.']


def test_an_operator_that_accepts_one_metastore_is_given_no_database_of_another(both: Mason) -> None:
    body = "tables, resp = config.metastore.client.list_tables(parameters.get_required('name'), response=resp)\n"
    body += "resp.add_data([each.name for each in tables])"
    folder = operator_with(
        both.folder / "src",
        "only",
        "json",
        parameters="  required: [name]\n",
        supported="  - metastore: json_file\n",
        body=body,
    )
    registered(both, folder)

    assert ask(both, "only", "json", "name:shop") == ask(both, "only", "json", "name:json_file.shop")
    assert errors(both, "only", "json", "-p", "name:local.shop") == [
        'The database "local.shop" is in a metastore that is not accepted here: json_file is.'
    ]


def test_with_one_metastore_nothing_is_said_of_clients(mason: Mason) -> None:
    mason.register_examples()
    write(mason.folder, {"shop/orders.csv": "id\n1\n"})

    assert all("Client" not in each for each in ask(mason, "database", "list"))


QUERIES_ONLY = """\
from mason.clients.local.execution import LocalExecutionClient


class QueriesExecutionClient(LocalExecutionClient):
    def job_types(self):
        return ("query",)

    def plan_job(self, job, *, response):
        response.add_info("Queries plans it.")
        return super().plan_job(job, response=response)
"""


def test_a_job_goes_to_the_first_engine_that_has_its_type(mason: Mason) -> None:
    mason.register_examples()
    files = {"schema.json": '{"type": "object"}', "execution.py": QUERIES_ONLY}
    install_package(mason, "queries_pkg", "mason.clients", {"queries": "queries_pkg"}, files)
    write(mason.folder, {"shop/orders.csv": "id\n1\n2\n"})
    roles = "metastore_engine: local\nstorage_engine: local\nscheduler_engine: local\n"
    configured(mason, f"id: engines\n{roles}execution_engine: [queries, local]\n")
    counted = "database_name:shop,query_string:select count(*) as n from orders"

    query = mason("operator", "table", "query", "-p", counted).json
    merge = mason("operator", "table", "merge", "-p", "input_path:shop/orders.csv,output_path:out").json

    assert (query["Data"][0]["Rows"], "Queries plans it." in query["Info"]) == ([{"n": 2}], True)
    assert (merge["Data"][0]["Status"], "Queries plans it." in merge["Info"]) == ("succeeded", False)
    listed = mason("operator", "job", "list").json["Data"]
    assert sorted(each["JobType"] for each in listed) == ["merge", "query"]
    for each in listed:
        assert mason("operator", "job", "get", "-p", f"job_id:{each['JobID']}").json["Data"][0]["Status"] == "succeeded"


class Queries(LocalExecutionClient):
    def job_types(self) -> tuple[str, ...]:
        return ("query",)


def test_a_job_that_no_engine_has_is_refused_with_all_types(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("MASON_HOME", str(tmp_path))
    built = {"one": Queries({}), "two": Queries({})}
    engines = SeveralEngines(["one", "two"], lambda name: built[name], ["one", "two"])

    with pytest.raises(Unsupported, match='None of one, two has jobs of the type "merge". Types: query.'):
        engines.plan_job(Job("merge", {}, {}), response=Response())
    with pytest.raises(NotFound):
        engines.get_job("nobody", response=Response())
