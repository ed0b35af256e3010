"""What the client does with answers that a healthy Airflow does not give."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from mason.clients.airflow.rest import AirflowApi
from mason.clients.airflow.scheduler import AirflowSchedulerClient
from mason.clients.airflow.task_log import failure_in
from mason.clients.response import Response
from mason.errors import ClientFailed, Forbidden, NotFound
from mason.state.home import open_state
from mason.state.schedules import MAY_USE, change_schedule
from mason.util.environment import MasonEnvironment


class Failing(ThreadingHTTPServer):
    """Lets everybody in, and then answers with 500 as often as it should; it keeps what it was asked."""

    failures = 0
    page = b"{}"
    asked: list[str]


class Answer(BaseHTTPRequestHandler):
    server: Failing

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/auth/token":
            self.reply(201, b'{"access_token": "t"}')
            return
        self.server.asked.append(self.command)
        self.server.failures -= 1
        failed = self.server.failures >= 0
        self.reply(500, b'{"detail": "Database error"}') if failed else self.reply(200, self.server.page)

    def reply(self, status: int, text: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_DELETE = answer


@pytest.fixture
def server() -> Iterator[Failing]:
    with Failing(("127.0.0.1", 0), Answer) as server:
        server.asked = []
        thread = Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def api(server: Failing) -> AirflowApi:
    return AirflowApi(f"http://127.0.0.1:{server.server_port}", "admin", "secret")


def test_what_changes_nothing_twice_is_asked_again_when_airflow_fails(server: Failing) -> None:
    server.failures = 2

    api(server).pause("flow", paused=True)

    assert server.asked == ["PATCH"] * 3


def test_a_run_is_not_started_twice_when_airflow_fails(server: Failing) -> None:
    server.failures = 1

    with pytest.raises(ClientFailed, match="with 500: Database error"):
        api(server).start_run("flow", "run")
    assert server.asked == ["POST"]


@pytest.mark.parametrize("verb", ["trigger_schedule", "delete_schedule"])
def test_a_schedule_that_whoever_asks_may_not_change_stays_as_it_is(
    server: Failing, env: MasonEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("MASON_HOME", str(env.home))
    url = f"http://127.0.0.1:{server.server_port}"
    client = AirflowSchedulerClient({"url": url, "dags_folder": str(tmp_path)})
    change_schedule(open_state(env), "airflow", "nightly", lambda _: {"Name": "nightly", "Configuration": "others"})
    allowed = MAY_USE.set(lambda schedule: schedule["Configuration"] == "own")

    with pytest.raises(Forbidden, match='The schedule "nightly" uses operators or configurations that you may not use'):
        getattr(client, verb)("nightly", response=Response())

    MAY_USE.reset(allowed)
    assert server.asked == []


def _always(told: dict[str, Any], before: Any) -> dict[str, Any]:
    return told


def test_a_schedule_that_whoever_asks_may_not_use_is_neither_listed_nor_named(
    server: Failing, env: MasonEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dag(name: str) -> dict[str, Any]:
        return {"dag_id": name, "tags": [], "description": "", "is_paused": False}

    monkeypatch.setenv("MASON_HOME", str(env.home))
    client = AirflowSchedulerClient({"url": f"http://127.0.0.1:{server.server_port}", "dags_folder": str(tmp_path)})
    for name, config_id in (("mine", "own"), ("nightly", "others")):
        told = {"Name": name, "Configuration": config_id}
        change_schedule(open_state(env), "airflow", name, partial(_always, told))
    server.page = json.dumps({"dags": [dag("mine"), dag("nightly"), dag("of_another_mason")]}).encode()
    allowed = MAY_USE.set(lambda schedule: schedule["Configuration"] == "own")

    listed, _ = client.list_schedules(response=Response())
    with pytest.raises(NotFound) as unknown:
        client.delete_schedule("..", response=Response())

    MAY_USE.reset(allowed)
    assert [each.name for each in listed] == ["mine", "of_another_mason"]
    assert "mine" in str(unknown.value)
    assert "nightly" not in str(unknown.value)


@pytest.mark.parametrize("page", [b"<html>Please log in</html>", b"[1]", b"null"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda api: api.task_log("flow", "run", "step"),
        lambda api: api.task_states("flow", "run"),
        lambda api: api.run_state("flow", "run"),
        lambda api: api.active_runs("flow"),
        lambda api: api.scheduler_runs(),
        lambda api: api.import_errors("flow.py"),
        lambda api: api.dag("flow"),
        lambda api: list(api.dags("mason")),
    ],
)
def test_an_answer_that_is_none_of_airflows_is_an_error_like_any_other(
    server: Failing, ask: Callable[[AirflowApi], Any], page: bytes
) -> None:
    server.page = page

    with pytest.raises(ClientFailed, match="answers GET /api/v2/.* with something that is not Airflow's"):
        ask(api(server))


@pytest.mark.parametrize(
    "page", [b"{}", b'{"try_number": null}', b'{"try_number": 1}', b'{"try_number": 1, "content": 1}']
)
def test_a_log_of_another_shape_does_not_take_the_result_of_a_run_with_it(server: Failing, page: bytes) -> None:
    server.page = page

    with pytest.raises(ClientFailed):  # who tells the result does without the reason
        api(server).task_log("flow", "run", "step")


def test_of_a_log_with_records_of_another_shape_is_told_what_can_be_read() -> None:
    assert failure_in([{"event": "x", "error_detail": [{"exc_type": "OSError"}, "torn"]}]) == "OSError"
    assert failure_in([{"error_detail": "no list"}, {"event": 1}]) == ""
    assert failure_in([{"event": "error: no such table"}, {"error_detail": [{}]}]) == "no such table"
