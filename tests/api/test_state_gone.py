"""A server whose state is gone, or is another one, stops serving; and no server opens without a token that must not."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from mason.state.home import open_state
from mason.state.tokens import Scope, create_token
from mason.util.environment import MasonEnvironment
from tests.api.conftest import Start
from tests.api.support import Server, until
from tests.conftest import PROJECT, Mason

TOKENLESS = "This call needs a token."


def delete_home(home: Path) -> None:
    shutil.rmtree(home)


def empty_file(home: Path) -> None:
    os.truncate(home / "state.db", 0)


def move_another_there(home: Path) -> None:
    other = MasonEnvironment(home.parent / "other")
    open_state(other).close()
    other.state_file.replace(home / "state.db")


def write_another_there(home: Path) -> None:
    other = MasonEnvironment(home.parent / "other")
    open_state(other).close()
    (home / "state.db").write_bytes(other.state_file.read_bytes())


@pytest.mark.parametrize("change", [delete_home, empty_file, move_another_there, write_another_there])
def test_a_server_whose_state_is_gone_or_another_stops_serving(start: Start, change: Callable[[Path], None]) -> None:
    server = start()
    header = {"Authorization": f"Bearer {create_token(_state(server), 'ci', Scope.ADMIN)}"}
    assert server.get("/api/tables?database_name=shop&config_id=files", headers=header).status_code == 200

    change(server.mason.home)
    until(lambda: server.get("/readyz").status_code == 503, "the server is not ready", 5)

    for asked in (server.get("/api/configs", headers=header), server.get("/api/configs")):
        assert (asked.status_code, "The state cannot be used." in asked.text) == (503, True), asked.text
    called = server.post("/api/test/sleep?wait=5", headers=header, json={"seconds": 0})
    assert called.status_code == 503, called.text
    assert server.get("/healthz").status_code == 200
    assert "state.db" in server.log_text()
    assert change is not delete_home or not server.mason.home.exists()


def test_a_server_serves_again_when_its_state_is_back(start: Start) -> None:
    server = start()
    away = server.mason.home.with_name("away")

    server.mason.home.rename(away)
    assert server.get("/readyz").status_code == 503
    away.rename(server.mason.home)

    until(lambda: server.get("/readyz").status_code == 200, "the server is ready", 5)
    assert server.post("/api/test/sleep?config_id=files", json={"seconds": 0}).status_code == 200


def test_workers_that_start_later_make_no_state_and_wait_for_theirs(start: Start) -> None:
    server = start("--workers", "2")
    assert server.process is not None
    away = server.mason.home.with_name("away")
    server.mason.home.rename(away)

    for worker in _workers(server.process.pid):
        os.kill(worker, signal.SIGKILL)

    server.wait_for_log("is gone: a server uses the state that was there")
    assert [_status(server, path) for path in ("/readyz", "/api/configs", "/healthz")] == [503, 503, 200]
    assert not server.mason.home.exists()
    away.rename(server.mason.home)
    for path in ("/readyz", "/api/configs"):  # another worker may answer each of them
        until(lambda path=path: _status(server, path) == 200, f"the server answers at {path}")  # type: ignore[misc]


@pytest.mark.parametrize("how", [("--require-token",), ()])
def test_a_server_that_requires_a_token_does_not_start_without_one(
    prepared_mason: Mason, tmp_path: Path, how: tuple[str, ...]
) -> None:
    lost = Mason(prepared_mason.folder, tmp_path / "home", {} if how else {"MASON_REQUIRE_TOKEN": "1"})

    result = lost("run", "--port", "0", *how)

    assert (result.exit_code, result.stdout) == (1, "")
    assert "--require-token: there is no token yet." in result.stderr
    assert "mason token create" in result.stderr
    assert not lost.home.exists()


def test_a_server_that_requires_a_token_never_opens_without_one(start: Start) -> None:
    server = start("--create-token", MASON_REQUIRE_TOKEN="1")
    assert server.get("/api/configs").status_code == 401

    with sqlite3.connect(server.mason.home / "state.db") as db:
        db.execute("DELETE FROM records WHERE kind = 'token'")
    db.close()
    time.sleep(0.1)

    asked = server.get("/api/configs")
    assert (asked.status_code, TOKENLESS in asked.text) == (401, True)


def test_the_docker_image_requires_a_token() -> None:
    lines = (PROJECT / "Dockerfile").read_text().splitlines()

    assert "ENV MASON_REQUIRE_TOKEN=1" in lines


def _state(server: Server):  # type: ignore[no-untyped-def]
    return open_state(MasonEnvironment(server.mason.home))


def _status(server: Server, path: str) -> int:
    """Return how a server answers; a worker that ends meanwhile may break a connection."""
    found: list[int] = []

    def ask() -> bool:
        with suppress(httpx.TransportError):
            found.append(httpx.get(f"{server.url}{path}", timeout=60, trust_env=False).status_code)
        return bool(found)

    until(ask, "the server answers")
    return found[0]


def _workers(pid: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            said = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(said[1]) == pid and b"spawn_main" in (status.parent / "cmdline").read_bytes():
            found.append(int(status.parent.name))
    return sorted(found)
