"""Queries on Athena as a user sees them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
import yaml

from mason.clients.athena.ddl import create_statement
from mason.clients.athena.execution import AthenaExecutionClient
from mason.clients.athena.metastore import AthenaMetastoreClient
from mason.clients.athena.queries import Queries
from mason.clients.response import Response
from mason.clients.s3.storage import S3StorageClient
from mason.configurations.saved import use_configuration
from mason.engines.execution.models.job import Job
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location, TableRef
from mason.errors import Unsupported
from mason.operators.calls.records import find_job
from mason.operators.calls.token_limits import limit_to
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.sql.query import BadQuery
from mason.pipeline.tables.foreign_files import Foreign, ForeignFiles
from mason.state.tokens import Scope, Token
from mason.testing.contract import answer
from mason.testing.golden import TABLES
from mason.util.environment import MasonEnvironment
from tests.conftest import Mason
from tests.ministack import Ministack

MakeTable = Callable[[str, pa.Table], str]


@pytest.fixture
def client(settings: dict[str, str]) -> AthenaExecutionClient:
    return AthenaExecutionClient(settings)


@pytest.fixture
def address(ministack: Ministack) -> str:
    return S3StorageClient(ministack.configuration()).address()


def query(statement: str, database: str, tables: dict[str, str], address: str, output: str = "") -> Job:
    named = {
        name: TableRef(f"{database}.{name}", Location(path.removeprefix("s3://"), address))
        for name, path in tables.items()
    }
    return QueryJob(
        statement=statement, database=database, tables=named, output=Location(output, address) if output else None
    ).to_job()


@pytest.fixture
def on_athena(mason: Mason, settings: dict[str, str], ministack: Ministack) -> Mason:
    clients = {"athena": settings, "s3": ministack.configuration()}
    document = {
        "id": "aws",
        **dict.fromkeys(("metastore_engine", "execution_engine"), "athena"),
        "storage_engine": "s3",
        "clients": {name: {"configuration": told} for name, told in clients.items()},
    }
    (mason.folder / "aws.yaml").write_text(yaml.safe_dump(document))
    mason.register_examples()
    shown = mason("config", "aws.yaml")
    assert shown.exit_code == 0, shown.stderr
    return mason


def test_athena_sees_each_version_of_a_table_that_mason_writes(
    on_athena: Mason, database: str, bucket: str, make_athena_table: MakeTable
) -> None:
    make_athena_table("orders", TABLES["orders"])
    written = f"s3://{bucket}/{uuid4().hex}"

    def table(command: str, **parameters: str) -> list[Any]:
        given = ",".join(f"{name}:{value}" for name, value in parameters.items())
        done = on_athena("operator", "table", command, "-p", f"database_name:{database},{given}")
        assert done.exit_code == 0, done.stderr
        data: list[Any] = done.json["Data"]
        return data

    table("query", query_string="select id from orders where id < 3", output_path=written)
    table("infer", table_name="chosen", storage_path=written)
    assert table("query", query_string="select id from chosen order by id")[0]["Rows"] == [{"id": 1}, {"id": 2}]

    table("query", query_string="select id from orders where id = 3", output_path=written)
    assert table("query", query_string="select id from chosen")[0]["Rows"] == [{"id": 3}]


def test_a_query_and_its_job_are_one_for_every_process(
    on_athena: Mason, settings: dict[str, str], database: str, make_athena_table: MakeTable
) -> None:
    mason = on_athena
    make_athena_table("orders", TABLES["orders"])

    shown = mason("config")
    asked = mason(
        "operator",
        "table",
        "query",
        "-p",
        f"database_name:{database},query_string:select id, price from orders where id < 3 order by id",
    )
    assert asked.exit_code == 0, asked.stderr
    [done] = asked.json["Data"]
    found = mason("operator", "job", "get", "-p", f"job_id:{done['JobID']}")

    assert done["Rows"] == [{"id": 1, "price": "10.50"}, {"id": 2, "price": "3.00"}]
    assert done["BytesScanned"] > 0
    assert found.json["Data"][0]["Status"] == "succeeded"
    assert found.json["Data"][0]["BytesScanned"] == done["BytesScanned"]
    assert found.json["Data"][0]["Rows"] == done["Rows"]
    assert [each["Name"] for each in found.json["Data"][0]["Columns"]] == ["id", "price"]
    everything = json.dumps([shown.stdout, shown.stderr, asked.stdout, asked.stderr, found.stdout, found.stderr])
    assert settings["secret_key"] not in everything


def test_a_job_shows_its_first_rows_and_says_when_there_are_more(
    client: AthenaExecutionClient, settings: dict[str, str], database: str, make_athena_table: MakeTable
) -> None:
    make_athena_table("many", pa.table({"n": range(250)}))
    queries = Queries(settings)

    def shown(statement: str) -> tuple[dict[str, Any], tuple[str, ...]]:
        started = queries.start(statement, database)
        queries.wait(started)
        response = Response()
        job, _ = client.get_job(started, response=response)
        return job.to_dict(), tuple(response.warnings)

    many, _ = shown("SELECT n FROM many ORDER BY n")
    few, _ = shown("SELECT n, array[n, n + 1] AS pair FROM many WHERE n = 7")
    twice, warnings = shown("SELECT n AS a, n AS a FROM many")

    assert [each["n"] for each in many["Rows"]] == list(range(100))
    assert (many["RowsOut"], many["HasMore"]) == (100, True)
    assert few["Rows"][0]["n"] == 7 and "8" in few["Rows"][0]["pair"]
    assert few["HasMore"] is False
    assert twice["Status"] == "succeeded" and "Rows" not in twice
    [warning] = warnings
    assert warning.startswith("The rows of the job cannot be shown: ")


def test_a_token_for_some_operators_is_shown_no_rows_of_a_query_that_only_athena_knows(
    on_athena: Mason, settings: dict[str, str], database: str, make_athena_table: MakeTable
) -> None:
    make_athena_table("wages", pa.table({"name": ["ada"]}))
    queries = Queries(settings)
    started = queries.start("SELECT name FROM wages", database)
    queries.wait(started)
    env = MasonEnvironment(on_athena.home)
    config = use_configuration(env, "aws")

    def asked_with(*operators: str) -> tuple[dict[str, Any], str]:
        def ask() -> tuple[dict[str, Any], str]:
            limit_to(Token("one", Scope.READ, "", operators=operators))
            response = Response()
            return find_job(env, config, started, response).to_dict(), " ".join(response.info)

        return copy_context().run(ask)

    for_all, _ = asked_with()
    for_some, info = asked_with("job:get")

    assert for_all["Rows"] == [{"name": "ada"}]
    assert "Rows" not in for_some and for_some["Status"] == "succeeded"
    assert "to tokens that are for all operators" in info


def test_what_is_no_question_has_no_rows(
    client: AthenaExecutionClient,
    database: str,
    address: str,
    bucket: str,
    make_athena_table: MakeTable,
) -> None:
    path = make_athena_table("orders", TABLES["orders"])
    job = query("select id from orders", database, {"orders": path}, address, f"{bucket}/{uuid4().hex}")
    kept = answer(client.run_job, answer(client.plan_job, job))

    response = Response()
    found, _ = client.get_job(kept.id, response=response)

    assert "Rows" not in found.to_dict() and not response.warnings


def test_a_plan_shows_the_statement_that_athena_would_get(
    client: AthenaExecutionClient, database: str, address: str, make_athena_table: MakeTable, bucket: str
) -> None:
    path = make_athena_table("orders", TABLES["orders"])

    plan = answer(client.plan_job, query("select id from orders", database, {"orders": path}, address)).to_dict()

    assert plan["Tables"] == [{"Name": "orders", "Path": path, "Columns": ["id"]}]
    assert plan["Statement"] == 'SELECT "orders"."id" AS "id" FROM "orders" AS "orders" LIMIT 1001'
    assert plan["OutputLocation"] == f"s3://{bucket}/results/"
    assert plan["WorkGroup"] == "primary"


def test_a_table_that_the_catalog_does_not_have_is_named(
    client: AthenaExecutionClient, database: str, address: str
) -> None:
    with pytest.raises(BadQuery, match=r'Athena reads the tables of the Glue catalog, and there is no "orders"'):
        answer(client.plan_job, query("select 1 from orders", database, {"orders": "b/orders"}, address))


def test_a_table_that_lies_elsewhere_for_the_catalog_is_refused(
    client: AthenaExecutionClient, database: str, address: str, make_athena_table: MakeTable
) -> None:
    make_athena_table("orders", TABLES["orders"])

    with pytest.raises(
        BadQuery, match=r'Athena would read "orders" at s3://.*, and the metastore has it at s3://b/other'
    ):
        answer(client.plan_job, query("select 1 from orders", database, {"orders": "b/other"}, address))


def test_a_plan_of_a_table_shows_the_folder_that_athena_would_write_into(
    client: AthenaExecutionClient, make_athena_table: MakeTable, database: str, address: str, bucket: str
) -> None:
    path = make_athena_table("orders", TABLES["orders"])
    job = query("select id from orders", database, {"orders": path}, address, f"{bucket}/kept")

    statement = answer(client.plan_job, job).to_dict()["Statement"]

    assert f" TO 's3://{bucket}/.mason/tables/kept/data/<job>/' WITH " in statement


def test_a_text_only_table_is_asked_as_text(
    client: AthenaExecutionClient, ministack: Ministack, database: str, address: str, bucket: str
) -> None:
    storage = S3StorageClient(ministack.configuration())
    name = uuid4().hex
    ministack.client("s3").put_object(Bucket=bucket, Key=f"{name}/a.csv", Body=b'id,name\n"1","Ann"\n"2","Bob"\n')
    table, _ = storage.infer_table(
        storage.path(f"s3://{bucket}/{name}"), database, "people", InferOptions(), response=Response()
    )
    answer(AthenaMetastoreClient(ministack.configuration()).save_table, table)
    job = query("select id from people where id = '2'", database, {"people": f"{bucket}/{name}"}, address)

    plan = answer(client.plan_job, job)

    assert "\"id\" = '2'" in plan.to_dict()["Statement"]


@pytest.mark.parametrize("kind", ["csv", "orc", "xlsx"])
def test_a_format_that_athena_does_not_write_is_refused(
    client: AthenaExecutionClient, database: str, address: str, kind: str
) -> None:
    job = QueryJob(
        statement="select 1 as one", database=database, tables={}, output=Location("b/out", address), format=kind
    ).to_job()

    with pytest.raises(Unsupported, match=f"Athena does not write tables as {kind}. Leave format out"):
        answer(client.plan_job, job)


def test_a_folder_of_this_machine_is_refused_as_output(client: AthenaExecutionClient, database: str) -> None:
    with pytest.raises(Unsupported, match="Athena cannot write to /tmp/out: it writes to S3 alone"):
        answer(client.plan_job, query("select 1 as one", database, {}, "file:///", "/tmp/out"))


def test_a_query_that_fails_leaves_nothing_at_its_output(
    client: AthenaExecutionClient,
    ministack: Ministack,
    database: str,
    address: str,
    bucket: str,
    make_athena_table: MakeTable,
) -> None:
    path = make_athena_table("orders", TABLES["orders"])
    output = f"{bucket}/{uuid4().hex}"
    statement = "select id, cast(name as int) as n from orders"
    plan = answer(client.plan_job, query(statement, database, {"orders": path}, address, output))

    with pytest.raises(BadQuery, match="Ann"):
        answer(client.run_job, plan)

    left = ministack.client("s3").list_objects_v2(Bucket=bucket, Prefix=output.partition("/")[2]).get("Contents", [])
    assert [each["Key"] for each in left] == []


def test_data_of_others_at_the_output_are_told_before_athena_is_asked_and_stay(
    client: AthenaExecutionClient,
    make_athena_table: MakeTable,
    database: str,
    bucket: str,
    ministack: Ministack,
    address: str,
) -> None:
    path = make_athena_table("orders", pa.table({"id": [1, 2]}))
    output = f"{bucket}/{uuid4().hex}/copied"
    asked = QueryJob(
        statement="SELECT id FROM orders",
        database=database,
        tables={"orders": TableRef("orders", Location(path.removeprefix("s3://"), address))},
        output=Location(output, address),
    )
    kept = replace(asked, foreign=Foreign.KEEP)
    filesystem = S3StorageClient(ministack.configuration()).filesystem()
    client.run_job(answer(client.plan_job, asked.to_job()), response=Response())
    for name in ("theirs.csv", "_SUCCESS"):
        with filesystem.open_output_stream(f"{output}/{name}") as stream:
            stream.write(b"id\n7\n")
    planned = answer(client.plan_job, kept.to_job())

    with pytest.raises(ForeignFiles, match=r"1 data file that Mason did not write: theirs\.csv"):
        client.plan_job(asked.to_job(), response=Response())
    with pytest.raises(ForeignFiles):
        client.run_job(
            replace(planned, job=asked.to_job(), payload=replace(planned.payload, job=asked)), response=Response()
        )
    response = Response()
    client.run_job(client.plan_job(kept.to_job(), response=response)[0], response=response)

    assert [each for each in response.warnings if each.endswith("stays there, uncounted: theirs.csv.")]
    for name in ("theirs.csv", "_SUCCESS"):
        with filesystem.open_input_stream(f"{output}/{name}") as stream:
            assert stream.read() == b"id\n7\n"


def test_numbers_have_the_types_that_they_have_in_spark(
    client: AthenaExecutionClient, database: str, bucket: str, address: str, make_athena_table: MakeTable
) -> None:
    path = make_athena_table("orders", TABLES["orders"])
    worked_out = (
        "length(name) as long, year(day) as y, price * price as square, price + 1 as more, count(*) over () as n"
    )
    statement = f"select {worked_out} from orders where id = 1"
    types = ["int32", "int32", "decimal128(21, 4)", "decimal128(11, 2)", "int64"]

    shown = answer(client.run_job, answer(client.plan_job, query(statement, database, {"orders": path}, address)))
    assert [each["Type"] for each in shown.details["Columns"]] == types

    output = f"{bucket}/{uuid4().hex}"
    kept = answer(client.plan_job, query(statement, database, {"orders": path}, address, output))
    assert [each["Type"] for each in answer(client.run_job, kept).details["Columns"]] == types


def test_a_statement_that_is_too_long_is_refused_before_it_is_sent(
    client: AthenaExecutionClient, database: str
) -> None:
    plan = answer(client.plan_job, query(f"select '{'x' * 300_000}' as t", database, {}, "file:///"))

    with pytest.raises(BadQuery, match="too long for Athena, which takes 262,144 bytes"):
        answer(client.run_job, plan)


def test_the_statement_that_is_told_makes_the_same_table(
    settings: dict[str, str], ministack: Ministack, database: str, make_athena_table: MakeTable
) -> None:
    path = make_athena_table("orders", TABLES["orders"])
    catalog = AthenaMetastoreClient(ministack.configuration())
    response = Response()
    saved, _ = catalog.save_table(answer(catalog.get_table, database, "orders"), response=response)
    assert f"In Athena's words: {create_statement(saved)}" in response.info
    before = ministack.client("glue").get_table(DatabaseName=database, Name="orders")["Table"]["StorageDescriptor"]
    answer(catalog.delete_table, database, "orders")
    queries = Queries(settings)

    queries.wait(queries.start(create_statement(saved), database))

    after = ministack.client("glue").get_table(DatabaseName=database, Name="orders")["Table"]["StorageDescriptor"]
    for key in ("Columns", "InputFormat", "OutputFormat"):
        assert after[key] == before[key], key
    assert after["Location"].rstrip("/") == before["Location"].rstrip("/")  # Athena leaves the last slash out
    assert after["SerdeInfo"]["SerializationLibrary"] == before["SerdeInfo"]["SerializationLibrary"]
    assert answer(catalog.get_table, database, "orders").path.rstrip("/") == path
