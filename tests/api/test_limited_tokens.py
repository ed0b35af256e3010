"""What a token for some configurations or operators sees of others' jobs, runs and schedules, and does to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from mason.state.home import open_state
from mason.state.models import RecordKind, RunStep
from mason.state.tokens import Scope, create_token
from mason.util.environment import MasonEnvironment
from tests.api.support import CONFIGURATION, Server, prepared, until
from tests.conftest import write

WORKFLOW = """
from mason.workflows.workflow_definition import WorkflowDefinition


class TestEnder(WorkflowDefinition):
    pass
"""
STEPS = """
type: workflow
namespace: test
command: ender
dag:
  - {id: step_1, type: operator, namespace: job, command: cancel}
"""
INFER = {"step_1": {"parameters": {"database_name": "shop", "storage_path": "in", "table_name": "of_others"}}}


class Limited:
    """A server with the configurations `files` and `others`, and a token for the first of them."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.store = open_state(MasonEnvironment(server.mason.home))
        self.all = create_token(self.store, "all", Scope.ADMIN)
        self.limited = create_token(self.store, "limited", Scope.RUN, configurations=["files"])

    def ask(self, method: str, path: str, token: str = "", **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token or self.limited}"}
        return self.server.request(method, path, headers=headers, **options)

    def merged(self, config_id: str) -> str:
        """Merge by the command line, and return the job."""
        given = f"input_path:in,output_path:merged_{config_id}"
        result = self.server.mason("operator", "table", "merge", "-c", config_id, "-p", given)
        assert result.exit_code == 0, result.stderr
        return str(json.loads(result.stdout)["Data"][0]["JobID"])

    def listed(self, token: str = "") -> set[str]:
        reply = self.ask("GET", "/api/jobs", token, params={"config_id": "files", "limit": "1000"})
        return {each["JobID"] for each in reply.json()["Data"]}


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    root = tmp_path_factory.mktemp("limited")
    mason = prepared(root / "work", root / "home")
    others = CONFIGURATION.format(root=root / "work/data").replace("id: files", "id: others")
    write(mason.folder, {"others.yaml": others, "ender/workflow.yaml": STEPS, "ender/__init__.py": WORKFLOW})
    assert mason("config", "others.yaml").exit_code == 0
    assert mason("register", "ender").exit_code == 0
    server = Server(mason).start()
    yield Limited(server)
    server.kill()


def test_jobs_that_no_request_began_are_for_tokens_of_their_configurations(limited: Limited) -> None:
    own, others = limited.merged("files"), limited.merged("others")

    for path in ("", "/log", "/events"):
        assert limited.ask("GET", f"/api/job/{own}{path}").status_code == 200, path
        assert limited.ask("GET", f"/api/job/{others}{path}").status_code == 403, path
        assert limited.ask("GET", f"/api/job/{others}{path}", limited.all).status_code == 200, path
    assert limited.ask("POST", f"/api/job/{own}/cancel").status_code == 200
    assert limited.ask("POST", f"/api/job/{others}/cancel").status_code == 403
    assert limited.ask("POST", "/api/job/cancel", json={"job_id": others}).status_code == 403
    assert (own in limited.listed(), others in limited.listed()) == (True, False)
    assert limited.listed(limited.all) >= {own, others}


def test_a_job_of_which_no_configuration_is_known_is_not_for_a_token_of_some(limited: Limited) -> None:
    told = {"JobType": "merge", "StartedAt": "2025-01-01T00:00:00.000000+00:00"}  # as an older Mason wrote it
    limited.store.add_record(RecordKind.JOB, "older", "succeeded", told)

    refused = limited.ask("GET", "/api/job/older")

    assert (refused.status_code, "older" in limited.listed()) == (403, False)
    assert refused.json()["Errors"] == ['The token "limited" is not for what says no configuration.']
    assert limited.ask("GET", "/api/job/older", limited.all).status_code == 200
    assert "older" in limited.listed(limited.all)


def test_a_step_of_a_workflow_ends_no_job_that_its_caller_may_not_see(limited: Limited) -> None:
    body = {"step_1": {"parameters": {"job_id": limited.merged("others")}}}

    refused = limited.ask("POST", "/api/workflow/test/ender?run_now=true&config_id=files", json=body)

    assert "has a configuration that you may not use" in refused.text
    allowed = limited.ask("POST", "/api/workflow/test/ender?run_now=true&config_id=files", limited.all, json=body)
    assert allowed.json()["Errors"] == []


def test_what_a_cancelled_step_was_given_is_for_who_may_use_its_operator(limited: Limited) -> None:
    told = {"Workflow": "test:secrets", "Configuration": "files", "Parameters": {"step_1": {"path": "of-others"}}}
    limited.store.add_record(RecordKind.RUN, "stopped", "cancelled", told)
    step = {"Operator": "test:hidden@sha256:0", "Configuration": "files", "Parameters": {"path": "of-others"}}
    limited.store.save_run_steps([RunStep("stopped", "step_1", 0, "cancelled", step)])
    tables = create_token(limited.store, "tables", Scope.READ, operators=["table:*"])
    tests = create_token(limited.store, "tests", Scope.READ, operators=["test:*"])

    refused, shown = (limited.ask("GET", "/api/run/stopped", token) for token in (tables, tests))

    assert (refused.status_code, "of-others" in refused.text) == (403, False)
    assert shown.json()["Data"][0]["Steps"][0]["Parameters"] == {"path": "of-others"}
    assert "Parameters" not in shown.json()["Data"][0], "they are also those of steps that nobody looked at"
    assert "Parameters" in limited.ask("GET", "/api/run/stopped", limited.all).json()["Data"][0]


def test_who_resumes_a_run_can_follow_the_job_that_it_becomes(limited: Limited) -> None:
    ran = limited.ask("POST", "/api/workflow/table/infer?run_now=true&config_id=files", json=INFER).json()
    run_id = ran["Data"][0]["RunID"]

    accepted = limited.ask("POST", f"/api/run/{run_id}/resume?wait=0&from=step_1")

    assert accepted.status_code == 202, accepted.text
    followed = limited.ask("GET", accepted.headers["Location"])
    assert (followed.status_code, followed.json()["Data"][0]["Configuration"]) == (200, "files"), followed.text


def test_a_run_with_a_configuration_that_a_token_is_not_for_is_not_resumed(limited: Limited) -> None:
    params = {"run_now": "true", "config_id": "others"}
    ran = limited.ask("POST", "/api/workflow/table/infer", limited.all, params=params, json=INFER).json()

    refused = limited.ask("POST", f"/api/run/{ran['Data'][0]['RunID']}/resume?from=step_1")

    assert (refused.status_code, refused.json()["Errors"]) == (
        403,
        ['The token "limited" is not for the configuration "others".'],
    )


def test_a_schedule_of_another_configuration_is_neither_replaced_nor_triggered_nor_deleted(limited: Limited) -> None:
    def deployed(token: str, config_id: str, name: str) -> httpx.Response:
        params = {"deploy": "true", "schedule_name": name, "config_id": config_id}
        body = {**INFER, "schedule": "@yearly"}
        return limited.ask("POST", "/api/workflow/table/infer", token, params=params, json=body)

    def schedule(name: str) -> Any:
        found = limited.store.get_record(RecordKind.SCHEDULE, f"local:{name}")
        return found and (found.document["Configuration"], "Triggered" in found.document)

    assert deployed(limited.all, "others", "nightly").status_code == 200

    replaced = deployed(limited.limited, "files", "nightly")
    triggered, deleted = (
        limited.ask("POST", f"/api/schedule/{verb}?config_id=files", json={"schedule_name": "nightly"})
        for verb in ("trigger", "delete")
    )

    assert [each.status_code for each in (replaced, triggered, deleted)] == [403, 403, 403], replaced.text
    told = 'The schedule "nightly" uses operators or configurations that you may not use.'
    assert replaced.json()["Errors"][0].startswith(told)
    assert schedule("nightly") == ("others", False)
    assert [deployed(limited.limited, "files", "own").status_code for _ in range(2)] == [200, 200]
    assert limited.ask("POST", "/api/schedule/delete?config_id=files", json={"schedule_name": "own"}).status_code == 200
    assert deployed(limited.all, "files", "nightly").status_code == 200
    assert schedule("nightly") == ("files", False)


def test_a_schedule_that_runs_operators_that_a_token_is_not_for_is_neither_shown_nor_changed(limited: Limited) -> None:
    def deployed(token: str, workflow: str, name: str, steps: Any) -> httpx.Response:
        params = {"deploy": "true", "schedule_name": name, "config_id": "files"}
        body = {**steps, "schedule": "@yearly"}
        return limited.ask("POST", f"/api/workflow/{workflow}", token, params=params, json=body)

    def listed(token: str) -> dict[str, Any]:
        reply = limited.ask("GET", "/api/schedules?config_id=files", token).json()
        return {each["Name"]: each.get("DeployedBy", "") for each in reply["Data"]}

    def asked(verb: str, name: str) -> httpx.Response:
        return limited.ask("POST", f"/api/schedule/{verb}?config_id=files", enders, json={"schedule_name": name})

    end = {"step_1": {"parameters": {"job_id": "0"}}}
    enders = create_token(limited.store, "enders", Scope.RUN, operators=["job:cancel", "schedule:*"])
    assert deployed(limited.all, "table/infer", "of_tables", INFER).status_code == 200
    assert deployed(limited.all, "test/ender", "of_jobs", end).status_code == 200
    before = limited.store.get_record(RecordKind.SCHEDULE, "local:of_tables")

    refused = [
        deployed(enders, "test/ender", "of_tables", end),
        asked("trigger", "of_tables"),
        asked("delete", "of_tables"),
    ]

    assert [each.status_code for each in refused] == [403, 403, 403], [each.text for each in refused]
    assert limited.store.get_record(RecordKind.SCHEDULE, "local:of_tables") == before
    assert asked("trigger", "of_table").json()["Errors"] == ['There is no schedule "of_table". There are: of_jobs.'], (
        "a hint names nothing that is hidden"
    )
    assert deployed(enders, "test/ender", "enders_own", end).status_code == 200
    assert listed(enders) == {"of_jobs": "all", "enders_own": "enders"}
    assert listed(limited.all).items() >= {"of_tables": "all", "of_jobs": "all", "enders_own": "enders"}.items()
    assert deployed(enders, "test/ender", "of_jobs", end).status_code == 200
    assert [asked("delete", each).status_code for each in ("of_jobs", "enders_own")] == [200, 200]


def test_a_schedule_of_an_older_mason_is_for_tokens_for_everything(limited: Limited) -> None:
    told = {"Name": "older", "Schedule": "", "Workflow": "table:infer@sha256:0", "Configuration": "files"}
    limited.store.add_record(RecordKind.SCHEDULE, "local:older", "deployed", {**told, "DoneUpTo": "2026-01-01"})

    replies = [limited.ask("GET", "/api/schedules?config_id=files", each) for each in (limited.limited, limited.all)]

    assert ["older" in each.text for each in replies] == [False, True]
    body = {"schedule_name": "older"}
    assert limited.ask("POST", "/api/schedule/delete?config_id=files", json=body).status_code == 403
    assert limited.ask("POST", "/api/schedule/delete?config_id=files", limited.all, json=body).status_code == 200


def test_runs_of_operators_or_configurations_that_a_token_is_not_for_are_not_listed(limited: Limited) -> None:
    told = {"Workflow": "test:mixed", "Configuration": "files", "Error": "of-others"}
    limited.store.add_record(RecordKind.RUN, "mixed", "failed", told)
    step = {"Operator": "test:hidden@sha256:0", "Configuration": "others"}
    limited.store.save_run_steps([RunStep("mixed", "step_1", 0, "failed", step)])
    tables = create_token(limited.store, "only-tables", Scope.READ, operators=["table:*"])

    listed = [
        limited.ask("GET", "/api/runs?name=test:mixed", token).json()["Data"]
        for token in (limited.limited, tables, limited.all)
    ]

    assert [len(each) for each in listed] == [0, 0, 1]


def test_a_run_of_a_schedule_may_do_no_more_than_the_token_that_deployed_it(limited: Limited) -> None:
    def ended_by_schedule(token: str, name: str) -> dict[str, Any]:
        job = limited.merged("others")
        body = {"step_1": {"parameters": {"job_id": job}}, "schedule": "@yearly"}
        params = {"deploy": "true", "schedule_name": name, "config_id": "files"}
        assert limited.ask("POST", "/api/workflow/test/ender", token, params=params, json=body).status_code == 200
        asked = {"schedule_name": name}
        triggered = limited.ask("POST", "/api/schedule/trigger?config_id=files", token, json=asked)
        run_id = triggered.json()["Data"][0]["SchedulerRun"]
        until(lambda: is_over(run_id), "the run is over")
        run: dict[str, Any] = limited.ask("GET", f"/api/run/{run_id}", limited.all).json()["Data"][0]
        return run

    def is_over(run_id: str) -> bool:
        record = limited.store.get_record(RecordKind.RUN, run_id)
        return record is not None and record.status != "running"

    refused, allowed = ended_by_schedule(limited.limited, "by_limited"), ended_by_schedule(limited.all, "by_all")

    assert (refused["Status"], allowed["Status"]) == ("failed", "succeeded")
    assert "has a configuration that you may not use" in refused["Steps"][0]["Reason"]
