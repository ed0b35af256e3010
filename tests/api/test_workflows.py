"""Workflows in the API: planned unless they are told to run, and readable afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.api.support import Server

BODY = {"step_1": {"parameters": {"database_name": "shop", "storage_path": "in", "table_name": "by_workflow"}}}


def test_a_call_without_run_now_is_the_dry_run(server: Server) -> None:
    reply = server.post("/api/workflow/table/infer", json=BODY)

    assert reply.status_code == 200, reply.text
    assert "Performing Dry Run" in reply.json()["Info"][0]
    assert server.get("/api/table/by_workflow", params={"database_name": "shop"}).status_code == 404


def test_a_workflow_is_run_and_its_run_can_be_read(server: Server) -> None:
    body = {"step_1": {"parameters": {**BODY["step_1"]["parameters"], "table_name": "by_run"}}}
    reply = server.post("/api/workflow/table/infer", params={"run_now": "true"}, json=body)

    assert reply.status_code == 200, reply.text
    run = reply.json()["Data"][0]
    assert run["Status"] == "succeeded"
    assert server.get("/api/table/by_run", params={"database_name": "shop"}).status_code == 200
    listed = server.get("/api/runs", params={"name": "table:infer"}).json()["Data"]
    assert run["RunID"] in [each["RunID"] for each in listed]
    shown = server.get(f"/api/run/{run['RunID']}").json()["Data"][0]
    assert [step["Status"] for step in shown["Steps"]] == ["succeeded"]
    assert server.get("/api/run/none").status_code == 404


def test_a_workflow_is_deployed_and_the_server_runs_it_when_it_is_due(server: Server) -> None:
    body = {"step_1": {"parameters": {**BODY["step_1"]["parameters"], "table_name": "by_schedule"}}}
    given = {"deploy": "true", "schedule_name": "nightly"}
    reply = server.post("/api/workflow/table/infer", params=given, json={**body, "schedule": "@yearly"})

    assert reply.status_code == 200, reply.text
    assert [each["Name"] for each in server.get("/api/schedules").json()["Data"]] == ["nightly"]
    assert server.post("/api/schedule/trigger", json={"schedule_name": "nightly"}).status_code == 200
    eventually(lambda: server.get("/api/table/by_schedule", params={"database_name": "shop"}).status_code == 200)
    [run] = [each for each in server.get("/api/runs").json()["Data"] if each.get("Schedule") == "nightly"]
    assert run["Workflow"].startswith("table:infer")
    assert server.post("/api/schedule/delete", json={"schedule_name": "nightly"}).status_code == 200
    assert server.get("/api/schedules").json()["Data"] == []


def test_a_workflow_that_was_deployed_by_a_request_stays_below_the_roots_when_it_runs(server: Server) -> None:
    body = {"step_1": {"parameters": {**BODY["step_1"]["parameters"], "storage_path": "/etc"}}}
    given = {"deploy": "true", "schedule_name": "outside"}
    reply = server.post("/api/workflow/table/infer", params=given, json={**body, "schedule": "@yearly"})
    assert reply.status_code == 200, reply.text

    assert server.post("/api/schedule/trigger", json={"schedule_name": "outside"}).status_code == 200

    def failed() -> list[str]:
        runs = server.get("/api/runs").json()["Data"]
        return [each["RunID"] for each in runs if each.get("Schedule") == "outside" and each["Status"] == "failed"]

    eventually(failed)
    [step] = server.get(f"/api/run/{failed()[0]}").json()["Data"][0]["Steps"]
    assert "is outside of the folders that may be used" in step["Reason"]
    assert server.post("/api/schedule/delete", json={"schedule_name": "outside"}).status_code == 200


def eventually(condition: Callable[[], object], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)


def test_what_is_wrong_with_a_workflow_is_told_at_once(server: Server) -> None:
    unknown = server.post("/api/workflow/table/infr", json=BODY)
    wrong = server.post(
        "/api/workflow/table/infer", json={"step_1": {"parameters": {"database": "shop"}}, "step_9": {}}
    )
    misspelt = server.post("/api/workflow/table/infer", params={"run": "true"}, json=BODY)

    assert (unknown.status_code, unknown.json()["Errors"]) == (
        404,
        ['Workflow "table:infr" not found. Did you mean "table:infer"?'],
    )
    assert wrong.status_code == 400
    assert any("the workflow has no such step" in each for each in wrong.json()["Errors"])
    assert any('no parameter "database"' in each for each in wrong.json()["Errors"])
    assert str(server.mason.folder) not in wrong.text
    assert (misspelt.status_code, "There is no parameter" in misspelt.text) == (400, True)


def test_a_workflow_that_takes_long_goes_on_as_a_job(server: Server) -> None:
    reply = server.post("/api/workflow/table/infer", params={"run_now": "true", "wait": "0"}, json=BODY)
    assert reply.status_code == 202

    job = server.wait_for_job(reply.json()["Data"][0]["JobID"])

    assert job["Workflow"] == "table:infer"
    assert job["Response"]["Data"][0]["Status"] == "succeeded"
