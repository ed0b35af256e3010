"""A Spark Connect server that knows nothing of Mason."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from mason.clients.spark.connection import close_session, open_session
from mason.clients.spark.runners import build_runner
from mason.errors import ClientFailed, UnreadableFile
from mason.pipeline.work.tasks import without_beats
from tests.cluster import connect_server
from tests.ports import free_port
from tests.spark.conftest import KERNELS


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with connect_server(tmp_path_factory.mktemp("connect")) as port:
        yield port


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(KERNELS)


def test_tasks_run_with_the_code_that_was_sent_along(port: int) -> None:
    runner = build_runner({"runner": {"type": "connect", "url": f"sc://localhost:{port}"}})

    results = dict(without_beats(runner.run("spark_kernels:whereabouts", [b"a", b"b", b"c"])))

    told = [json.loads(results[number]) for number in range(3)]
    assert [each["task"] for each in told] == ["a", "b", "c"]
    assert all(".zip" in each["mason"] for each in told)
    assert os.getpid() not in {each["pid"] for each in told}
    with pytest.raises(UnreadableFile, match="a.csv: it is torn"):
        list(runner.run("spark_kernels:unreadable", [b"a.csv"]))
    runner.close()
    runner.close()


def test_a_server_that_is_not_there_is_named_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mason.clients.spark.runners.connect._RETRIES", 1)
    runner = build_runner({"runner": {"type": "connect", "url": f"sc://localhost:{free_port()}/;token=s3cret"}})
    with pytest.raises(ClientFailed, match=r"at localhost:\d+ does not answer: .*Connection refused") as raised:
        list(runner.run("spark_kernels:echo", [b"a"]))
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spark_version": "3.5"}, r"at localhost:\d+ is Spark 4\.\S+, not 3\.5\.$"),
        ({"conf": {"spark.sql.warehouse.dir": "x"}}, r"at localhost:\d+ refuses the session: .*CANNOT_MODIFY"),
    ],
)
def test_a_session_that_cannot_be_used_is_ended_and_the_reason_is_told(
    port: int, options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []

    def opening(url: str, *, retries: int) -> Any:
        opened.append(open_session(url, retries=retries))
        return opened[-1]

    monkeypatch.setattr("mason.clients.spark.connection.open_session", opening)
    runner = build_runner({"runner": {"type": "connect", "url": f"sc://localhost:{port}", **options}})

    with pytest.raises(ClientFailed, match=message):
        list(runner.run("spark_kernels:echo", [b"a"]))

    (session,) = opened
    assert session.is_stopped
    again = open_session(f"sc://localhost:{port}/;session_id={session.session_id}", retries=1)
    with pytest.raises(Exception, match="SESSION_CLOSED"):
        assert again.version
    close_session(again)
