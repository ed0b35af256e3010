"""A server that dies while Athena works for it: the next one follows the query to its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from mason.clients.athena.execution import AthenaExecutionClient
from mason.clients.s3.storage import S3StorageClient
from mason.configurations.saved import read_configurations, save_configurations
from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location, TableRef
from mason.errors import Conflict
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.pipeline.driving.handover import JOB, Handover, begin_handover
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.sql.query import BadQuery
from mason.pipeline.storage.address import open_objects
from mason.pipeline.tables.object_lease import Lease
from mason.pipeline.tables.objects import LEASES, TableObjects
from mason.state.home import open_state
from mason.testing.contract import answer
from mason.testing.golden import TABLES
from mason.util.environment import MasonEnvironment
from tests.api.support import Server, operator, prepared, until
from tests.athena.test_faults import execution
from tests.glue.proxy import Answer, AwsProxy, error
from tests.ministack import Ministack

MakeTable = Callable[[str, pa.Table], str]
BY_HAND = """
from mason.pipeline.jobs.query.job import QueryJob
job = QueryJob(statement="select 1 as one", database=parameters.get_required("database_name"), tables={}).to_job()
plan, _ = config.execution.client.plan_job(job, response=resp)
config.execution.client.run_job(plan, response=resp)
resp.add_info("There was more to do.")
"""


@pytest.fixture
def server(tmp_path: Path, ministack: Ministack, settings: dict[str, str], proxy: AwsProxy) -> Iterator[Server]:
    mason = prepared(tmp_path / "work", tmp_path / "home")
    clients = {"athena": {**settings, "endpoint": proxy.endpoint}, "s3": ministack.configuration()}
    engines = {"metastore_engine": "athena", "execution_engine": "athena", "storage_engine": "s3"}
    document = {"id": "aws", **engines, "clients": {name: {"configuration": told} for name, told in clients.items()}}
    (tmp_path / "aws.yaml").write_text(yaml.safe_dump(document))
    env = MasonEnvironment(mason.home)
    save_configurations(env, read_configurations(tmp_path / "aws.yaml").valid)
    by_hand = operator(
        tmp_path / "more",
        "test",
        "by_hand",
        BY_HAND,
        parameters="parameters:\n  required: [database_name]\n",
        swagger="paths:\n  /test/by_hand:\n    post:\n",
    )
    register(env, open_state(env), read_definitions(by_hand, [OPERATORS]).valid, replace=False)
    running = Server(mason, ("--jobs", "8")).start()
    yield running
    running.kill()


def test_after_a_crash_a_query_that_athena_has_is_followed_to_its_end(
    server: Server, proxy: AwsProxy, bucket: str, database: str, make_athena_table: MakeTable
) -> None:
    make_athena_table("orders", TABLES["orders"])
    proxy.says = still_running({})

    def begin(path: str, **body: str) -> str:
        query = {"wait": "0", "config_id": "aws"}
        reply = server.post(path, params=query, json={"database_name": database, **body})
        assert reply.status_code == 202, reply.text
        job: str = reply.json()["Data"][0]["JobID"]
        return job

    def ask(query: str, **more: str) -> str:
        return begin("/api/table/query", query_string=query, **more)

    known, failed = ask("select id from orders where id < 3 order by id"), ask("select id / 0 as x from orders")
    forgotten, cancelled = ask("select id from orders"), ask("select id from orders limit 1")
    output = f"s3://{bucket}/{database}/kept"
    kept = ask("select id from orders where id < 3", output_path=output)
    own = begin("/api/test/by_hand")
    of_athena = {job: engine_job(server, job) for job in (known, failed, forgotten, cancelled, kept)}
    until(lambda: proxy.operations.count("StartQueryExecution") == 6, "Athena has them all")

    server.kill()
    told = server.mason("operator", "job", "get", "-p", f"job_id:{known}").json
    assert told["Data"][0]["Status"] == "running", "Athena has it still"
    server.mason("operator", "job", "cancel", "-p", f"job_id:{cancelled}")
    proxy.says = still_running(
        {
            of_athena[failed]: execution("FAILED", StateChangeReason="Division by zero"),
            of_athena[forgotten]: error("InvalidRequestException", "QueryExecution was not found"),
        },
        over=(of_athena[known], of_athena[kept]),
    )
    server.start()

    done = server.wait_for_job(known)
    assert done["Response"]["Data"][0]["Rows"] == [{"id": 1}, {"id": 2}]
    assert "Division by zero" in server.wait_for_job(failed, "failed")["Error"]
    assert of_athena[forgotten] in server.wait_for_job(forgotten, "lost")["Error"]
    server.wait_for_job(cancelled, "cancelled")
    assert {"QueryExecutionId": of_athena[cancelled]} in stopped(proxy)
    assert server.job(own)["Status"] == "lost", "what it would have done after its query, nobody knows"
    assert server.wait_for_job(kept)["Response"]["Data"][0]["RowsOut"] == 2
    assert proxy.operations.count("StartQueryExecution") == 6, "nothing was asked twice"


@pytest.mark.parametrize("is_asked", [True, False], ids=["after Athena was asked", "before"])
def test_a_crash_before_athena_told_the_id_of_a_query_neither_loses_nor_repeats_it(
    server: Server,
    proxy: AwsProxy,
    ministack: Ministack,
    bucket: str,
    database: str,
    make_athena_table: MakeTable,
    is_asked: bool,
) -> None:
    make_athena_table("orders", TABLES["orders"])
    over, athena = threading.Event(), ministack.client("athena")
    asked: list[Mapping[str, Any]] = []

    def says(operation: str, request: Mapping[str, Any]) -> Answer | None:
        if operation != "StartQueryExecution":
            return None
        if is_asked:
            athena.start_query_execution(**request)
        asked.append(request)
        over.wait(60)
        return error("InternalServerException", "too late", 500)

    proxy.says = says
    output = f"s3://{bucket}/{database}/once"
    jobs = [
        server.post("/api/table/query", params={"wait": "0", "config_id": "aws"}, json=body).json()["Data"][0]["JobID"]
        for body in (
            {"database_name": database, "query_string": "select id from orders where id < 3 order by id"},
            {"database_name": database, "query_string": "select id from orders where id < 3", "output_path": output},
        )
    ]
    until(lambda: len(asked) == 2, "both are about to be known")

    server.kill()
    over.set()
    proxy.reset()
    server.start()

    shown, kept = (server.wait_for_job(job)["Response"]["Data"][0] for job in jobs)
    assert (shown["Rows"], kept["RowsOut"]) == ([{"id": 1}, {"id": 2}], 2)
    again = [request for operation, request in proxy.requests if operation == "StartQueryExecution"]
    assert sorted(again, key=str) == sorted(asked, key=str), "the same, with the same tokens"


def still_running(
    answers: Mapping[str, Answer], over: Collection[str] = ()
) -> Callable[[str, Mapping[str, Any]], Answer | None]:
    """Let every query run on, but those that are over by now, and those of which something else is to be said."""

    def says(operation: str, request: Mapping[str, Any]) -> Answer | None:
        query = request.get("QueryExecutionId", "")
        if operation != "GetQueryExecution" or query in over:
            return None
        return answers.get(query) or execution("RUNNING")

    return says


def engine_job(server: Server, job: str) -> str:
    """Return what Athena calls a job, as soon as that is known."""
    until(lambda: "EngineJob" in server.job(job), f"the job {job} is Athena's")
    found: str = server.job(job)["EngineJob"]
    return found


def stopped(proxy: AwsProxy) -> list[Mapping[str, Any]]:
    return [request for operation, request in proxy.requests if operation == "StopQueryExecution"]


@dataclass
class Unload:
    """A query whose rows become a table, as the calls of one process after another see it."""

    client: AthenaExecutionClient
    job: Job
    noted: dict[str, Any]

    def run(self, earlier: str = "", notes: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Run it as a call would, with what an earlier process has noted."""
        handover = Handover(
            kind=JOB,
            earlier=earlier,
            notes=notes or {},
            keep=lambda job, told: self.noted.update(Job=job, Notes=dict(told)),
        )

        def work() -> dict[str, Any]:
            begin_handover(handover)
            done: dict[str, Any] = answer(self.client.run_job, answer(self.client.plan_job, self.job)).to_dict()
            return done

        return copy_context().run(work)


@pytest.fixture
def unload(
    settings: dict[str, str], proxy: AwsProxy, ministack: Ministack, database: str, make_athena_table: MakeTable
) -> Unload:
    path = make_athena_table("orders", TABLES["orders"]).removeprefix("s3://")
    address = S3StorageClient(ministack.configuration()).address()
    statement, output = "select id from orders where id < 3", f"{path}_kept"
    job = QueryJob(
        statement=statement,
        database=database,
        tables={"orders": TableRef("orders", Location(path, address))},
        output=Location(output, address),
    ).to_job()
    return Unload(AthenaExecutionClient({**settings, "endpoint": proxy.endpoint}), job, {})


def test_a_table_that_was_committed_before_the_crash_is_not_committed_again(unload: Unload, proxy: AwsProxy) -> None:
    first = unload.run()
    asked = proxy.operations.count("StartQueryExecution")

    again = unload.run(unload.noted["Job"], unload.noted["Notes"])

    assert (again["Commit"], again["RowsOut"]) == (first["Commit"], 2)
    assert proxy.operations.count("StartQueryExecution") == asked


def test_what_athena_wrote_for_a_dead_job_and_was_removed_is_not_committed(unload: Unload) -> None:
    unload.run()
    notes = {**unload.noted["Notes"], "Commit": "0123456789abcdef"}  # nobody holds a lease of that name

    with pytest.raises(Conflict, match="was removed, since its job seemed dead"):
        unload.run(unload.noted["Job"], notes)


def test_a_table_that_another_job_changed_after_the_crash_is_left_as_it_is(
    unload: Unload, proxy: AwsProxy, ministack: Ministack
) -> None:
    proxy.says = lambda operation, _: execution("FAILED") if operation == "GetQueryExecution" else None
    with pytest.raises(BadQuery):
        unload.run()
    crashed = dict(unload.noted)
    proxy.reset()
    current, output = unload.run()["Commit"], unload.job.output
    assert output is not None
    table = TableObjects(open_objects(output.storage), output.path)
    lease = Lease(table._store, f"{table.path}/{LEASES}/{crashed['Notes']['Commit']}.json", "crashed")
    with lease:
        pass  # as a process that was killed leaves it

    with pytest.raises(Conflict, match="was changed by another job"):
        unload.run(crashed["Job"], crashed["Notes"])

    found = table.current()
    assert found is not None
    assert found.id == current
