"""What the client does with answers that a healthy Airflow does not give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from mason.clients.airflow.rest import AirflowApi
from mason.clients.airflow.scheduler import AirflowSchedulerClient
from mason.clients.response import Response
from mason.errors import ClientFailed, Forbidden
from mason.state.home import open_state
from mason.state.schedules import MAY_CHANGE, change_schedule
from mason.util.environment import MasonEnvironment


class Failing(ThreadingHTTPServer):
    """Lets everybody in, and then answers with 500 as often as it should; it keeps what it was asked."""

    failures = 0
    asked: list[str]


class Answer(BaseHTTPRequestHandler):
    server: Failing

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/auth/token":
            self.reply(201, {"access_token": "t"})
            return
        self.server.asked.append(self.command)
        self.server.failures -= 1
        self.reply(200, {}) if self.server.failures < 0 else self.reply(500, {"detail": "Database error"})

    def reply(self, status: int, body: dict[str, str]) -> None:
        text = json.dumps(body).encode()
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
    allowed = MAY_CHANGE.set(lambda schedule: schedule["Configuration"] == "own")

    with pytest.raises(Forbidden, match='The schedule "nightly" is of a configuration that you may not use'):
        getattr(client, verb)("nightly", response=Response())

    MAY_CHANGE.reset(allowed)
    assert server.asked == []
