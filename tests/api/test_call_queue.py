"""The queue of calls, looked at without a server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from mason.api.server.calls.call import Call
from mason.api.server.calls.call_queue import CallQueue
from mason.clients.response import Response
from mason.configurations.saved import use_configuration
from mason.engines.execution.models.job import JobStatus
from mason.errors import TooMany
from mason.operators.calls.records import list_jobs
from mason.state.home import open_state
from mason.state.models import Kind, Record, RecordKind
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.util.processes import this_process
from tests.api.support import CallsInThreads


@pytest.fixture
def store(env: MasonEnvironment, monkeypatch: pytest.MonkeyPatch) -> Iterator[StateStore]:
    monkeypatch.setenv("MASON_HOME", str(env.home))  # where engines look for their jobs
    found = open_state(env)
    yield found
    found.close()


def call(name: str) -> Call:
    return Call(kind=Kind.OPERATOR, namespace="test", command="sleep", id=name, config_id="local")


def test_calls_that_may_not_be_written_down_take_a_place_in_the_queue_as_others_do(store: StateStore) -> None:
    queue = CallQueue(store, CallsInThreads(), parallel=1, most_queued=2)  # nobody works yet
    queue.add(call("one"), keep=False)
    queue.add(call("two"))
    assert (queue.status("one"), queue.status("two")) == (JobStatus.QUEUED, JobStatus.QUEUED)

    for keep in (False, True):
        with pytest.raises(TooMany, match="2 jobs are queued already"):
            queue.add(call("three"), keep=keep)
    queue.stop(0)


def test_callers_take_turns_and_each_keeps_its_order(store: StateStore) -> None:
    runner = CallsInThreads()
    queue = CallQueue(store, runner, parallel=1, most_queued=100)  # nobody works yet
    many = [("many", f"many-{number}") for number in range(20)]
    asked = [*many, ("few", "few-0"), ("few", "few-1"), ("one", "one-0")]
    done = [queue.add(replace(call(name), caller=caller)) for caller, name in asked]

    queue.start()
    for each in done:
        each.result(timeout=30)
    queue.stop(0)

    assert runner.ran[:7] == ["many-0", "few-0", "one-0", "many-1", "few-1", "many-2", "many-3"]
    assert sorted(runner.ran) == sorted(name for _, name in asked)


def test_a_filter_finds_jobs_however_many_others_are_newer(env: MasonEnvironment, store: StateStore) -> None:
    living = this_process()
    gone = {**living, "Started": "before this one"}
    for name, status, process in (("lost", "running", gone), ("runs", "running", living), ("was_lost", "lost", gone)):
        store.add_record(RecordKind.CALL, name, status, {**call(name).to_document(), "Process": process})
    for number in range(5):
        store.add_record(RecordKind.CALL, f"queued_{number}", "queued", call(f"queued_{number}").to_document())
    config = use_configuration(env, "local")

    def listed(most: int, status: str = "") -> list[str]:
        return [each.id for each in list_jobs(env, config, Response(), most=most, status=status)]

    assert listed(2) == ["queued_4", "queued_3"]
    assert listed(2, "running") == ["runs"]
    assert listed(3, "lost") == ["was_lost", "lost"]
    assert listed(9, "queued") == [f"queued_{number}" for number in range(4, -1, -1)]
    assert len(listed(100)) == 8


def test_who_asks_for_a_few_of_many_jobs_reads_long_pages(
    env: MasonEnvironment, store: StateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        store.add_record(RecordKind.CALL, f"other_{number}", "succeeded", call(f"other_{number}").to_document())
    pages: list[int] = []
    list_records = type(store).list_records

    def counted(self: StateStore, kind: RecordKind, **options: Any) -> list[Record]:
        pages.extend([options["limit"]] if kind is RecordKind.CALL else [])
        return list_records(self, kind, **options)

    monkeypatch.setattr(type(store), "list_records", counted)
    monkeypatch.setattr("mason.operators.calls.records._PAGE", 5)
    config = use_configuration(env, "local")

    assert list_jobs(env, config, Response(), most=1, name="test:none") == []
    assert pages == [1, 5, 5, 5]
    assert [each.id for each in list_jobs(env, config, Response(), most=2)] == ["other_11", "other_10"]
    assert pages[4:] == [2], "who has found enough reads no more"


def test_jobs_of_one_name_are_found_among_others(env: MasonEnvironment, store: StateStore) -> None:
    for number in range(6):
        command = "wanted" if number < 2 else "other"
        told = Call(kind=Kind.OPERATOR, namespace="test", command=command, id=f"{command}_{number}").to_document()
        store.add_record(RecordKind.CALL, f"{command}_{number}", "succeeded", told)
    config = use_configuration(env, "local")

    def listed(most: int, name: str) -> list[str]:
        return [each.id for each in list_jobs(env, config, Response(), most=most, name=name)]

    assert listed(1, "test:wanted") == ["wanted_1"]
    assert listed(100, "test:wanted") == ["wanted_1", "wanted_0"]
    assert listed(100, "test:none") == []
