"""With a token ends what goes on in its name: calls are cancelled, schedules paused, and those elsewhere named."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from mason.state.home import open_state
from mason.state.models import RecordKind
from mason.state.tokens import Scope, create_token
from mason.util.environment import MasonEnvironment
from tests.api.support import Server, until
from tests.conftest import Mason

INFER = {"step_1": {"config_id": "files", "parameters": {"database_name": "shop", "storage_path": "shop"}}}


@pytest.fixture(scope="module")
def server(prepared_mason: Mason) -> Iterator[Server]:
    running = Server(prepared_mason, ("--jobs", "2")).start()
    yield running
    running.kill()


@pytest.fixture
def token(server: Server, request: pytest.FixtureRequest) -> str:
    """A token that is called as the test is."""
    return create_token(state(server), request.node.name, Scope.RUN)


@pytest.fixture(scope="module")
def other(server: Server) -> str:
    return create_token(state(server), "other", Scope.ADMIN)


def state(server: Server) -> Any:
    return open_state(MasonEnvironment(server.mason.home))


def ask(server: Server, method: str, path: str, token: str, **options: Any) -> httpx.Response:
    return server.request(method, path, headers={"Authorization": f"Bearer {token}"}, **options)


def status(server: Server, token: str, job_id: str) -> str:
    found: str = ask(server, "GET", f"/api/job/{job_id}", token).json()["Data"][0]["Status"]
    return found


def test_calls_that_run_or_wait_are_cancelled_and_those_of_others_go_on(
    server: Server, token: str, other: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    ends, notes = tmp_path / "ends", tmp_path / "notes"

    def begin(token: str, word: str) -> str:
        body = {"file": str(ends), "note": str(notes), "word": word}
        reply = ask(server, "POST", "/api/test/until?wait=0&config_id=files", token, json=body)
        assert reply.status_code == 202, reply.text
        job: str = reply.json()["Data"][0]["JobID"]
        return job

    others = begin(other, "others")
    runs = begin(token, "runs")
    until(lambda: status(server, other, runs) == "running", "the call runs")
    waits = begin(token, "waits")
    assert status(server, other, waits) == "queued"

    result = server.mason("token", "revoke", request.node.name)

    assert result.exit_code == 0
    assert "Cancelled what it began and what was not over: 2 calls." in result.stderr
    until(lambda: status(server, other, runs) == "cancelled", "the call that ran is cancelled", 20)
    assert status(server, other, waits) == "cancelled"
    assert status(server, other, others) == "running"
    ends.touch()
    until(lambda: status(server, other, others) == "succeeded", "the call of another token ends")
    assert notes.read_text() == "others\n"


def test_a_call_that_reads_and_has_no_record_is_cancelled_too(
    server: Server, token: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = f"/api/test/until?wait=60&config_id=files&file={tmp_path / 'never'}&began={tmp_path / 'began'}"
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, server, "GET", path, token)
        until((tmp_path / "began").exists, "the call has begun")

        assert server.mason("token", "revoke", request.node.name).exit_code == 0

        reply = asked.result(30)
    assert reply.json()["Errors"] == ["Interrupted."]


def test_schedules_are_paused_with_the_reason_until_they_are_deployed_again(
    server: Server, token: str, other: str, request: pytest.FixtureRequest
) -> None:
    def deploy(token: str) -> httpx.Response:
        params = {"deploy": "true", "schedule_name": "nightly", "config_id": "files"}
        return ask(
            server, "POST", "/api/workflow/table/infer", token, params=params, json={**INFER, "schedule": "@daily"}
        )

    def shown() -> dict[str, Any]:
        schedules = ask(server, "GET", "/api/schedules?config_id=files", other).json()["Data"]
        found: dict[str, Any] = next(each for each in schedules if each["Name"] == "nightly")
        return found

    assert deploy(token).status_code == 200
    assert shown()["NextDueAt"]

    result = server.mason("token", "revoke", request.node.name)

    assert "Paused the schedules that it deployed: nightly. Deploying one again resumes it." in result.stderr
    reason = f'The token "{request.node.name}" was revoked.'
    assert {key: shown().get(key) for key in ("Paused", "Error", "NextDueAt")} == {
        "Paused": True,
        "Error": reason,
        "NextDueAt": None,
    }
    triggered = ask(server, "POST", "/api/schedule/trigger?config_id=files", other, json={"schedule_name": "nightly"})
    assert triggered.status_code == 409
    assert triggered.json()["Errors"] == [f'The schedule "nightly" is paused: {reason} Deploy it again to resume it.']

    assert deploy(other).status_code == 200
    assert ("Paused" in shown(), "Error" in shown(), bool(shown()["NextDueAt"])) == (False, False, True)


def test_schedules_that_another_scheduler_has_are_named(
    server: Server, token: str, request: pytest.FixtureRequest
) -> None:
    deployed = {"Name": "hourly", "DeployedBy": request.node.name}
    state(server).add_record(RecordKind.SCHEDULE, "airflow:hourly", "deployed", deployed)

    result = server.mason("token", "revoke", request.node.name)

    assert result.stderr.splitlines() == [
        f'Revoked the token "{request.node.name}".',
        "warning: The schedule hourly, which it deployed, is with airflow and goes on: delete it there.",
    ]
