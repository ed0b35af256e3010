"""Jobs and runs that are over are removed when they were kept long enough, and nothing else is, on every store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mason.clients.local.scheduler import LocalSchedulerClient
from mason.clients.response import Response
from mason.errors import InvalidConfiguration
from mason.state.heartbeat import Heartbeat
from mason.state.home import open_state
from mason.state.models import RecordKind, RunStep
from mason.state.schedules import LOCAL, find_schedule
from mason.state.sql_store import SqlStore
from mason.testing.scheduler.fixtures import a_deployment
from mason.util.environment import MasonEnvironment
from mason.util.processes import this_host
from mason.workflows.retention import prune, retention_of
from mason.workflows.schedules.schedule_loop import ScheduleLoop
from tests.conftest import Mason, write

MONTH = timedelta(days=30)
LONG_AGO = "2020-01-01T00:00:00.000000+00:00"
GONE = {"Host": this_host(), "Pid": 2**22 + 1, "Started": "0"}


class Kept:
    """A state, and records in it that are as old as a test wants them."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store

    def add(self, kind: RecordKind, record_id: str, status: str, at: str = LONG_AGO, **document: Any) -> None:
        self.store.add_record(kind, record_id, status, document)
        self.age(record_id, at)

    def age(self, record_id: str, at: str = LONG_AGO) -> None:
        values = (at, at, record_id)
        self.store.do_alone(lambda db: db.run("UPDATE records SET created_at = ?, updated_at = ? WHERE id = ?", values))

    def ids(self, kind: RecordKind) -> set[str]:
        return {each.id for each in self.store.list_records(kind, limit=10_000)}

    def count(self, table: str) -> int:
        count: int = self.store.do_alone(lambda db: db.rows(f"SELECT count(*) FROM {table}")[0][0])
        return count


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def env(request: pytest.FixtureRequest, env: MasonEnvironment) -> MasonEnvironment:
    return env if request.param == "SQLite" else replace(env, state=request.getfixturevalue("database"))


@pytest.fixture
def kept(env: MasonEnvironment) -> Iterator[Kept]:
    store = open_state(env)
    assert isinstance(store, SqlStore)
    yield Kept(store)
    store.close()


def test_what_is_over_and_old_is_removed_and_the_rest_stays(kept: Kept) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="microseconds")
    for kind in (RecordKind.CALL, RecordKind.JOB):
        for status in ("succeeded", "failed", "cancelled", "lost"):
            kept.add(kind, f"old_{status}", status)
            kept.add(kind, f"new_{status}", status, yesterday)
    kept.add(RecordKind.CALL, "waits", "queued")
    kept.add(RecordKind.TOKEN, "ci", "active")

    assert prune(kept.store, MONTH) == {"jobs": 8, "runs": 0}

    new = {"new_succeeded", "new_failed", "new_cancelled", "new_lost"}
    assert kept.ids(RecordKind.CALL) == {"waits", *new}
    assert kept.ids(RecordKind.JOB) == new
    assert kept.ids(RecordKind.TOKEN) == {"ci"}
    assert prune(kept.store, MONTH) == {"jobs": 0, "runs": 0}


def test_what_runs_stays_and_what_has_lost_its_process_does_not(kept: Kept) -> None:
    calls, runs = ({"Process": Heartbeat(kept.store, name, name).process} for name in ("server:1", "run:alive"))
    assert kept.store.acquire_lease("job:alive", "1", 60)
    kept.add(RecordKind.CALL, "alive", "running", **calls)
    kept.add(RecordKind.JOB, "alive", "running")
    kept.add(RecordKind.RUN, "alive", "running", **runs)
    kept.add(RecordKind.RUN, "of_another_scheduler", "running")
    kept.add(RecordKind.CALL, "gone", "running", Process=GONE)
    kept.add(RecordKind.JOB, "gone", "running")
    kept.add(RecordKind.RUN, "gone", "running", Process=GONE)

    assert prune(kept.store, MONTH) == {"jobs": 2, "runs": 1}

    assert kept.ids(RecordKind.CALL) == kept.ids(RecordKind.JOB) == {"alive"}
    assert kept.ids(RecordKind.RUN) == {"alive", "of_another_scheduler"}
    assert kept.store.is_held("job:alive")


def test_with_a_run_its_steps_go_and_with_both_their_leases(kept: Kept) -> None:
    for name, at in (("old", LONG_AGO), ("new", datetime.now(UTC).isoformat(timespec="microseconds"))):
        kept.add(RecordKind.RUN, name, "succeeded", at)
        kept.store.save_run_steps([RunStep(name, f"step_{number}", number, "succeeded", {}) for number in range(3)])
        kept.store.acquire_lease(f"run:{name}", name, 0)
        kept.store.acquire_lease(f"job:{name}", name, 0)
    kept.add(RecordKind.JOB, "old", "succeeded")

    assert prune(kept.store, MONTH) == {"jobs": 1, "runs": 1}

    assert kept.store.list_run_steps("old") == []
    assert len(kept.store.list_run_steps("new")) == 3
    assert (kept.count("run_steps"), kept.count("leases")) == (3, 2)


def test_that_an_end_was_asked_for_is_known_as_long_as_the_job_is(kept: Kept) -> None:
    kept.add(RecordKind.CALL, "hangs", "running", Process=Heartbeat(kept.store, "server:1", "1").process)
    for name in ("hangs", "over"):
        kept.store.add_record(RecordKind.CANCELLATION, name, "asked", {})
        kept.age(name)
    kept.add(RecordKind.CALL, "over", "cancelled")

    prune(kept.store, MONTH)

    assert kept.ids(RecordKind.CANCELLATION) == {"hangs"}


def test_more_than_a_page_is_removed_and_what_stays_stops_nothing(kept: Kept) -> None:
    def fill(kind: str, number: int, status: str) -> tuple[Any, ...]:
        return (kind, f"{kind}{number:04}", status, "{}", 1, LONG_AGO, LONG_AGO)

    rows = [fill("call", number, "queued" if number < 250 else "succeeded") for number in range(700)]
    columns = "kind, id, status, document, version, created_at, updated_at"
    insert = f"INSERT INTO records ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)"
    kept.store.do_alone(lambda db: db.run_many(insert, rows))

    assert prune(kept.store, MONTH) == {"jobs": 450, "runs": 0}

    assert kept.store.count_records(RecordKind.CALL) == {"queued": 250}


def test_the_last_run_of_a_schedule_stays_so_that_it_is_not_run_again(
    kept: Kept, env: MasonEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Begun:
        def __init__(self, name: str, document: Any) -> None:
            started.append(document["Firing"]["RunID"])
            kept.store.add_record(RecordKind.RUN, started[-1], "succeeded", {"Workflow": "a:b"})

        def poll(self) -> int:
            return 0

        def stop(self) -> None: ...

    started: list[str] = []
    for name, value in env.variables.items():
        monkeypatch.setenv(name, value)
    scheduler = LocalSchedulerClient({})
    scheduler.register_dag(a_deployment("yearly", "@yearly"), response=Response())
    scheduler.trigger_schedule("yearly", response=Response())
    ScheduleLoop(kept.store, Begun).start_due()
    for each in (*started, "before"):
        kept.add(RecordKind.RUN, each, "succeeded") if each == "before" else kept.age(each)

    assert prune(kept.store, MONTH) == {"jobs": 0, "runs": 1}

    ScheduleLoop(kept.store, Begun).start_due()
    ScheduleLoop(kept.store, Begun).start_due()
    assert len(started) == 1, "it was run once"
    assert find_schedule(kept.store, LOCAL, "yearly").document["Firing"]["RunID"] == started[0]


def test_how_long_is_in_the_settings_or_in_a_variable_which_wins(tmp_path: Any) -> None:
    env = MasonEnvironment(tmp_path)
    assert retention_of(env, {}) is None

    write(tmp_path, {"settings.yaml": "retention: 4w\n"})
    assert retention_of(env, {}) == timedelta(weeks=4)
    assert retention_of(env, {"MASON_RETENTION": "12h"}) == timedelta(hours=12)
    assert retention_of(env, {"MASON_RETENTION": "off"}) is None

    for wrong in ("retention: 30\n", "retention: month\n", "retention: [30d]\n"):
        write(tmp_path, {"settings.yaml": wrong})
        with pytest.raises(InvalidConfiguration, match=r"settings\.yaml: retention: .* Write it as 90m, 12h"):
            retention_of(env, {})
    with pytest.raises(InvalidConfiguration, match='MASON_RETENTION: "0d" is not a time'):
        retention_of(env, {"MASON_RETENTION": "0d"})


def test_the_command_removes_at_once(mason: Mason) -> None:
    store = open_state(MasonEnvironment(mason.home))
    assert isinstance(store, SqlStore)
    Kept(store).add(RecordKind.JOB, "old", "succeeded")

    refused, wrong = mason("state", "prune"), mason("state", "prune", "--older-than", "soon")
    removed = mason("state", "prune", "--older-than", "30d")

    assert (refused.exit_code, wrong.exit_code) == (1, 1)
    assert "Nothing says how long jobs and runs are kept." in refused.stderr
    assert '"soon" is not a time that something can be kept. Write it as' in wrong.stderr
    assert (removed.exit_code, removed.stderr.strip()) == (0, "Removed 1 jobs and 0 runs."), removed.stderr
    assert Kept(store).ids(RecordKind.JOB) == set()
