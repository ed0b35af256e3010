"""An engine that takes questions and never answers: who asks for its jobs waits, and nobody else."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from tests.api.conftest import Start
from tests.api.support import Server
from tests.conftest import write

_CONFIGURATION = """
id: silent
storage_engine: local
metastore_engine: local
execution_engine: athena
clients:
  athena:
    configuration:
      aws_region: us-east-1
      access_key: a
      secret_key: b
      output_location: s3://b/c
      endpoint: http://127.0.0.1:{port}
"""
_SOON = 30
"""Less than the engine is waited for, and than the job takes that stays; far more than what is asked for here."""
_FOLLOWERS = 40
"""More than a machine of many processors has threads for what is short."""


@pytest.fixture
def server(start: Start) -> Iterator[Server]:
    """A server with the configuration of such an engine, beside that of the tests, which is the current one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = start()
        write(server.mason.folder, {"silent.yaml": _CONFIGURATION.format(port=listener.getsockname()[1])})
        assert server.mason("config", "silent.yaml").exit_code == 0
        yield server


def test_an_engine_that_never_answers_keeps_nobody_waiting_but_who_asks_for_its_jobs(server: Server) -> None:
    assert server.post("/api/config", params={"set_current": "silent"}).status_code == 200
    job = server.post("/api/test/sleep", params={"wait": 0}, json={"seconds": 60}).json()["Data"][0]["JobID"]
    place = urlsplit(server.url)
    head = f"GET /api/job/{job}/events HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n"
    with ExitStack() as followers:
        for _ in range(_FOLLOWERS):
            connection = followers.enter_context(socket.create_connection((place.hostname, place.port)))
            connection.sendall(head.encode())
        time.sleep(1)
        began = time.monotonic()

        assert server.get("/readyz").status_code == 200
        assert server.post("/api/test/sleep", json={"seconds": 0}).status_code == 200

        assert time.monotonic() - began < _SOON


def test_of_a_job_the_engine_of_its_own_configuration_is_asked(server: Server) -> None:
    merge = {"input_path": "in", "output_path": "merged"}
    job = server.post("/api/table/merge", params={"wait": 0}, json=merge).json()["Data"][0]["JobID"]
    server.wait_for_job(job)
    assert server.post("/api/config", params={"set_current": "silent"}).status_code == 200
    began = time.monotonic()

    told = server.job(job)
    log = server.get(f"/api/job/{job}/log").json()["Data"][0]["Log"]

    assert (told["Status"], told["RowsOut"]) == ("succeeded", 2)
    assert log
    assert time.monotonic() - began < _SOON
