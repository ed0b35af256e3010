"""Workflows in the API: planned unless they are told to run, and readable afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.api.support import Server
from tests.conftest import write

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
    assert not [each for each in listed if "Parameters" in each]
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
    lines = server.log_text().splitlines()
    assert [line for line in lines if not line.startswith(("{", "Mason listens on"))] == [], "one JSON line each"
    assert any("is outside of the folders" in each.get("message", "") for each in server.log_lines())
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


@pytest.mark.parametrize("given", [{"run_now": "true"}, {"deploy": "true", "schedule_name": "wrong"}, {}])
@pytest.mark.parametrize(
    ("path", "config_id", "body", "status", "message"),
    [
        ("infr", "files", BODY, 404, 'Workflow "table:infr" not found.'),
        ("infer", "none", BODY, 404, 'Configuration "none" not found.'),
        ("infer", "files", {"step_1": []}, 400, "must be a mapping with"),
        ("infer", "files", {"step_1": {"parameters": "x"}}, 400, "must be a mapping of names to values"),
        ("infer", "files", {"step_9": {}}, 400, "the workflow has no such step"),
        ("infer", "files", {"step_1": {"parameters": {"database": "shop"}}}, 400, 'no parameter "database"'),
    ],
)
def test_what_is_wrong_with_a_workflow_never_becomes_a_job(
    server: Server,
    given: dict[str, str],
    path: str,
    config_id: str,
    body: dict[str, Any],
    status: int,
    message: str,
) -> None:
    before = [each["JobID"] for each in server.get("/api/jobs").json()["Data"]]

    query = {**given, "wait": "0", "config_id": config_id}
    reply = server.post(f"/api/workflow/table/{path}", params=query, json=body)

    assert reply.status_code == status, reply.text
    assert any(message in each for each in reply.json()["Errors"]), reply.text
    assert [each["JobID"] for each in server.get("/api/jobs").json()["Data"]] == before


def failed_run(server: Server, name: str) -> str:
    """Run a workflow on data that come only afterwards."""
    step = {**BODY["step_1"]["parameters"], "storage_path": name, "table_name": name}
    reply = server.post("/api/workflow/table/infer", params={"run_now": "true"}, json={"step_1": {"parameters": step}})
    assert reply.status_code == 422, reply.text
    write(server.mason.folder / "data", {f"{name}/a.csv": "id\n1\n"})
    run: str = reply.json()["Data"][0]["RunID"]
    return run


def test_a_run_is_resumed_with_the_parameters_of_its_request(server: Server) -> None:
    run = failed_run(server, "late")

    reply = server.post(f"/api/run/{run}/resume")

    assert reply.status_code == 200, reply.text
    resumed = reply.json()["Data"][0]
    assert (resumed["Status"], resumed["ResumedFrom"]) == ("succeeded", run)
    assert server.get("/api/table/late", params={"database_name": "shop"}).status_code == 200
    assert server.get(f"/api/run/{run}").json()["Data"][0]["Parameters"]["step_1"]["parameters"]["table_name"] == "late"


def test_why_a_step_failed_says_no_folder_of_the_server(server: Server) -> None:
    step = {**BODY["step_1"]["parameters"], "storage_path": "nowhere"}
    reply = server.post("/api/workflow/table/infer", params={"run_now": "true"}, json={"step_1": {"parameters": step}})
    run = reply.json()["Data"][0]["RunID"]

    [shown] = server.get(f"/api/run/{run}").json()["Data"][0]["Steps"]
    assert reply.json()["Errors"] == ['step_1: Path "nowhere" not found.']
    assert (shown["Reason"], shown["Response"]["Errors"]) == (
        'Path "nowhere" not found.',
        ['Path "nowhere" not found.'],
    )
    assert str(server.mason.folder) not in str(shown["Attempts"])


def test_a_run_of_a_request_is_resumed_from_the_command_line(server: Server) -> None:
    run = failed_run(server, "later")

    result = server.mason("workflow", "--resume", run)

    assert result.exit_code == 0, result.stderr
    assert result.json["Data"][0]["Status"] == "succeeded"


def test_a_run_is_resumed_with_other_parameters_if_they_are_given(server: Server) -> None:
    run = failed_run(server, "other")
    step = {**BODY["step_1"]["parameters"], "table_name": "other_name"}

    reply = server.post(f"/api/run/{run}/resume", json={"step_1": {"parameters": step}})

    assert reply.status_code == 200, reply.text
    assert server.get("/api/table/other_name", params={"database_name": "shop"}).status_code == 200


def test_what_is_wrong_with_resuming_is_told(server: Server) -> None:
    run = failed_run(server, "wrong")
    write(server.mason.folder, {"steps.yaml": "step_1:\n  parameters: {database_name: shop, storage_path: nowhere}\n"})
    of_file = server.mason("workflow", "table", "infer", "-f", "steps.yaml", "--run").json["Data"][0]["RunID"]

    for path, status, message in (
        ("/api/run/none/resume", 404, 'There is no run "none".'),
        (f"/api/run/{run}/resume?from=step_9", 400, 'There is no step "step_9".'),
        (f"/api/run/{run}/resume?form=step_1", 400, 'There is no parameter "form"'),
        (f"/api/run/{of_file}/resume", 400, "was started with a file"),
    ):
        for wait in ("10", "0"):
            reply = server.post(httpx.URL(path).copy_merge_params({"wait": wait}))
            assert reply.status_code == status, reply.text
            assert message in reply.json()["Errors"][0]


def test_a_secret_cannot_be_deployed(server: Server) -> None:
    steps = {f"step_{number}": {"parameters": {"password": "not-to-be-kept"}} for number in (1, 2)}
    given = {"deploy": "true", "schedule_name": "secrets"}

    reply = server.post("/api/workflow/test/secrets", params=given, json={**steps, "schedule": "@yearly"})

    assert (reply.status_code, "a secret is among them" in reply.text) == (400, True), reply.text
    kept = b"".join(file.read_bytes() for file in server.mason.home.glob("state.db*"))
    assert b"not-to-be-kept" not in kept


def test_a_workflow_that_takes_long_goes_on_as_a_job(server: Server) -> None:
    reply = server.post("/api/workflow/table/infer", params={"run_now": "true", "wait": "0"}, json=BODY)
    assert reply.status_code == 202

    job = server.wait_for_job(reply.json()["Data"][0]["JobID"])

    assert job["Workflow"] == "table:infer"
    assert job["Response"]["Data"][0]["Status"] == "succeeded"
