"""Whether a process lives is seen from any machine."""

from __future__ import annotations

import os
from typing import Any

import pytest

from mason.state.heartbeat import Heartbeat, is_gone
from mason.state.models import RecordKind
from mason.state.sqlite import SqliteStore
from mason.util.processes import this_process
from mason.workflows.runs.recorded_runs import list_runs, show_run

ELSEWHERE = {"Host": "another machine", "Pid": os.getpid(), "Started": "1", "Lease": "run:r"}


@pytest.fixture
def store() -> SqliteStore:
    return SqliteStore(None)


def test_a_process_of_this_machine_is_there_or_not(store: SqliteStore) -> None:
    assert not is_gone(store, this_process())
    assert is_gone(store, {**this_process(), "Pid": 2**22 + 1})
    assert is_gone(store, {**this_process(), "Started": "1"})


def test_a_process_elsewhere_is_gone_when_its_lease_is(store: SqliteStore) -> None:
    heartbeat = Heartbeat(store, "run:r", "r")
    there: dict[str, Any] = {**heartbeat.process, "Host": "another machine"}

    assert not is_gone(store, there)
    heartbeat.stop()
    assert is_gone(store, there)


def test_of_a_process_elsewhere_that_holds_no_lease_nothing_is_known(store: SqliteStore) -> None:
    assert not is_gone(store, {key: value for key, value in ELSEWHERE.items() if key != "Lease"})


def test_who_claims_what_another_holds_does_not_let_it_go(store: SqliteStore) -> None:
    holder = Heartbeat(store, "run:r", "r")
    Heartbeat(store, "run:r", "r").stop()

    assert store.is_held("run:r")
    holder.stop()


def test_a_run_of_another_machine_is_lost_when_it_shows_no_sign_of_life(store: SqliteStore) -> None:
    lease = store.acquire_lease("run:r", "r", 60)
    assert lease is not None
    store.add_record(RecordKind.RUN, "r", "running", {"Workflow": "a:b@sha256:0", "Process": ELSEWHERE})

    assert show_run(store, "r")["Status"] == "running"
    store.release_lease(lease)
    assert [each["Status"] for each in list_runs(store)] == ["lost"]
