"""Workflows in the API: planned unless they are told to run, and readable afterwards."""

from __future__ import annotations

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


def test_what_is_wrong_with_a_workflow_is_told_at_once(server: Server) -> None:
    unknown = server.post("/api/workflow/table/infr", json=BODY)
    wrong = server.post(
        "/api/workflow/table/infer", json={"step_1": {"parameters": {"database": "shop"}}, "step_9": {}}
    )
    deployed = server.post("/api/workflow/table/infer", params={"deploy": "true"}, json=BODY)
    misspelt = server.post("/api/workflow/table/infer", params={"run": "true"}, json=BODY)

    assert (unknown.status_code, unknown.json()["Errors"]) == (
        404,
        ['Workflow "table:infr" not found. Did you mean "table:infer"?'],
    )
    assert wrong.status_code == 400
    assert any("the workflow has no such step" in each for each in wrong.json()["Errors"])
    assert any('no parameter "database"' in each for each in wrong.json()["Errors"])
    assert str(server.mason.folder) not in wrong.text
    assert deployed.status_code == 501
    assert (misspelt.status_code, "There is no parameter" in misspelt.text) == (400, True)


def test_a_workflow_that_takes_long_goes_on_as_a_job(server: Server) -> None:
    reply = server.post("/api/workflow/table/infer", params={"run_now": "true", "wait": "0"}, json=BODY)
    assert reply.status_code == 202

    job = server.wait_for_job(reply.json()["Data"][0]["JobID"])

    assert job["Workflow"] == "table:infer"
    assert job["Response"]["Data"][0]["Status"] == "succeeded"
