"""`mason.connect()` gives the same in this process and at a server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from mason.connection.connection import Connection
from mason.engines.execution.models.job import JobStatus
from mason.errors import BadInput, Interrupted, MasonError, NotFound, Unprocessable
from tests.api.support import until
from tests.connection.conftest import TYPED

SHOP = {"database_name": "shop"}


def test_an_operator_is_run_and_its_response_returned(m: Connection) -> None:
    response = m.operator("table", "get", database_name="shop", table_name="orders")

    assert response.status == 200
    assert response.errors == ()
    assert response.data[0]["Name"] == "orders"
    assert response.to_dict()["Data"] == list(response.data)


def test_a_merge_says_what_it_did(m: Connection) -> None:
    response = m.operator("table", "merge", input_path="in", output_path=Path("merged"))

    assert response.data[0]["Status"] == "succeeded"
    assert response.data[0]["RowsOut"] == 2
    job = m.job(response.data[0]["JobID"])
    assert job.status is JobStatus.SUCCEEDED
    assert job.result().data[0]["RowsOut"] == 2


def test_a_plan_writes_nothing(m: Connection) -> None:
    response = m.operator("table", "merge", {"input_path": "in"}, output_path="planned", plan=True)

    assert response.data[0]["Operator"].startswith("table:merge@")
    with pytest.raises(NotFound):
        m.operator("table", "preview", path="planned")


@pytest.mark.parametrize("command", ["preview", "query"])
def test_rows_come_back_in_the_types_that_they_have(m: Connection, command: str) -> None:
    asked = {"preview": {"table_name": "typed"}, "query": {"query_string": "SELECT * FROM typed"}}[command]

    table = m.operator("table", command, SHOP, asked).to_arrow()

    assert table.schema.equals(TYPED.schema), table.schema
    assert table.equals(TYPED)


def test_whole_numbers_stay_whole_in_pandas_where_some_are_missing(m: Connection) -> None:
    frame = m.operator("table", "preview", SHOP, table_name="typed").to_pandas()

    assert frame["id"].dropna().tolist() == [1, 2**60]
    assert str(frame["id"].dtype) == "Int64"
    assert str(frame["at"].dtype) == "datetime64[us, UTC]"


def test_a_listing_is_a_table_too(m: Connection) -> None:
    table = m.jobs(limit=5).to_arrow()

    assert {"JobID", "Status"} <= set(table.column_names)


def test_parameters_of_a_query_are_bound_with_the_types_that_python_has(m: Connection) -> None:
    response = m.operator(
        "table", "query", SHOP, query_string="SELECT id FROM orders WHERE price > :least", parameters={"least": 3}
    )

    assert response.to_arrow().to_pydict() == {"id": [2]}


CAUSES: list[tuple[type[MasonError], Callable[[Connection], object], str]] = [
    (NotFound, lambda m: m.operator("table", "get", SHOP, table_name="order"), 'Table "order" not found'),
    (NotFound, lambda m: m.operator("tabel", "get"), 'Operator "tabel:get" not found. Did you mean'),
    (BadInput, lambda m: m.operator("table", "preview", limit="many"), '"limit" must be'),
    (BadInput, lambda m: m.operator("table", "merge", input_path="in"), "output_path"),
    (BadInput, lambda m: m.operator("table", "get", SHOP), 'The parameter "table_name" (The table.) is missing.'),
    (BadInput, lambda m: m.operator("job", "get"), 'The parameter "job_id"'),
    (NotFound, lambda m: m.operator("database", "get", bucket_name="shp"), 'Did you mean "shop"'),
    (NotFound, lambda m: m.operator("table", "list", SHOP, config="filse"), 'Did you mean "files"'),
    (Unprocessable, lambda m: m.operator("table", "query", SHOP, query_string="SELEC 1"), "SELEC"),
    (NotFound, lambda m: m.job(".."), 'There is no job ".."'),
    (NotFound, lambda m: m.job("none"), 'There is no job "none"'),
    (NotFound, lambda m: m.run("none"), 'There is no run "none"'),
    (NotFound, lambda m: m.workflow("table", "infr"), "infr"),
    (BadInput, lambda m: m.workflow("table", "infer", {"step_9": {}}), "no such step"),
]


@pytest.mark.parametrize(("kind", "call", "words"), CAUSES, ids=[words for _, _, words in CAUSES])
def test_what_goes_wrong_is_raised_with_the_same_words(
    embedded: Connection, remote: Connection, kind: type[MasonError], call: Callable[[Connection], object], words: str
) -> None:
    said = []
    for connection in (embedded, remote):
        with pytest.raises(kind) as caught:
            call(connection)
        said.append(str(caught.value))

    assert words in said[0]
    assert said[0] == said[1]


def test_a_bug_in_an_operator_is_an_error_of_masons_too(m: Connection) -> None:
    with pytest.raises(MasonError, match="KeyError") as caught:
        m.operator("test", "fail")

    assert type(caught.value) is MasonError


def test_checks_that_fail_are_raised_with_what_they_found(m: Connection) -> None:
    with pytest.raises(Unprocessable, match="price") as caught:
        m.operator("table", "check", SHOP, table_name="typed", checks=["not_null price"])

    record = caught.value.record
    assert record.data[0]["RowsFailed"] == 1  # type: ignore[attr-defined]


def test_a_workflow_is_planned_unless_it_is_told_to_run(m: Connection, request: pytest.FixtureRequest) -> None:
    name = f"flow_{request.node.callspec.id}"
    steps = {"step_1": {"parameters": {**SHOP, "storage_path": "in", "table_name": name}}}

    planned = m.workflow("table", "infer", steps)
    ran = m.workflow("table", "infer", steps, run=True)

    assert "Performing Dry Run" in planned.info[0]
    assert ran.data[0]["Status"] == "succeeded"
    assert m.operator("table", "get", SHOP, table_name=name).data[0]["Name"] == name
    assert m.run(ran.data[0]["RunID"]).data[0]["Steps"][0]["Status"] == "succeeded"
    assert ran.data[0]["RunID"] in [each["RunID"] for each in m.runs("table:infer").data]


def test_configurations_are_listed_and_chosen_for_a_call(m: Connection) -> None:
    listed = {each["ConfigID"]: each for each in m.configurations().data}

    assert listed["files"]["Engines"]["storage"][0]["Client"] == "local"
    assert m.operator("table", "list", SHOP, config="files").data


def test_a_secret_is_taken_and_not_given_back(m: Connection) -> None:
    response = m.operator("test", "hidden", password="a-canary-word")

    assert response.data == ({"Word": 13},)
    assert "a-canary-word" not in str(response.to_dict())


def test_a_job_is_waited_for_and_cancelled_by_who_knows_its_id(embedded: Connection, remote: Connection) -> None:
    raised: list[MasonError] = []

    def nap() -> None:
        try:
            remote.operator("test", "nap", seconds=30)
        except MasonError as error:
            raised.append(error)

    def running() -> list[str]:
        found = embedded.jobs(status="running").data
        return [each["JobID"] for each in found if each.get("Operator") == "test:nap"]

    thread = threading.Thread(target=nap)
    thread.start()
    until(lambda: bool(running()), "the job runs")
    job = embedded.job(running()[0])
    assert not job.wait(0.05).is_over
    remote.job(job.id).cancel()
    assert job.wait().status is JobStatus.CANCELLED
    with pytest.raises(Interrupted):
        job.result()
    thread.join()

    assert isinstance(raised[0], Interrupted)


def test_a_call_that_takes_longer_than_a_request_waits_is_followed(
    remote: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mason.connection.remote._READ_WAIT", 0.1)

    assert remote.operator("test", "sleep", seconds=0.5).data == ({"Slept": 0.5},)  # by GET
    assert remote.operator("test", "nap", seconds=1.1).data == ({"Napped": 1.1},)
