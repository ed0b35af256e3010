"""Drivers without the state: they tell through a storage what becomes of their jobs, and nothing is done twice."""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

from mason.clients.local.execution import LocalExecutionClient
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan, JobRecord, JobStatus
from mason.engines.storage.models.location import Location, TableRef
from mason.errors import BadInput, ClientFailed, UnreadableFile
from mason.pipeline.driving import far_drivers, job_books, job_watch
from mason.pipeline.driving.driver_process import ChildDriver, DriverLaunch, drive
from mason.pipeline.driving.execution import PipelineExecutionClient
from mason.pipeline.driving.far_drivers import EVENTS, find_commit
from mason.pipeline.driving.job_events import JobEvents, events_folder
from mason.pipeline.driving.job_progress import JobProgress
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.tables.commit import open_table
from mason.pipeline.types.python_values import from_typed, to_typed
from mason.state.home import open_state
from mason.state.models import RecordKind
from mason.testing.execution import ExecutionContract
from mason.util.environment import MasonEnvironment
from tests.conftest import write
from tests.patience import until

_PATIENCE = 60.0


class FarClient(LocalExecutionClient):
    """The local engine with drivers that have no state."""

    def far_driver(self) -> ChildDriver | None:
        return None if os.environ.get("MASON_HOME", "").startswith("/nowhere") else ChildDriver()


class Started:
    """Stands for a place that takes drivers and never runs them."""

    def __init__(self) -> None:
        self.launches: list[DriverLaunch] = []

    def start(self, launch: DriverLaunch) -> None:
        self.launches.append(launch)


class WaitingClient(LocalExecutionClient):
    """Drivers that a test runs itself, when it is time."""

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        super().__init__(configuration)
        self.started = Started()

    def far_driver(self) -> Started:
        return self.started


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MASON_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent.parent))
    yield


@pytest.fixture
def merge(tmp_path: Path) -> Job:
    write(tmp_path, {"in/a.csv": "id,name\n1,Ann\n2,Bob\n"})
    return MergeJob(Location(str(tmp_path / "in")), Location(str(tmp_path / "out" / "people"))).to_job()


def planned(client: PipelineExecutionClient, job: Job) -> JobPlan:
    return client.plan_job(job, response=Response())[0]


def submit(client: PipelineExecutionClient, job: Job) -> JobRecord:
    return client.submit_job(planned(client, job), response=Response())[0]


def get(client: PipelineExecutionClient, job_id: str) -> JobRecord:
    return client.get_job(job_id, response=Response())[0]


class TestContract(ExecutionContract):
    """All that is demanded of an engine holds for one whose drivers are elsewhere, but for what it shows at once."""

    @pytest.fixture
    def client(self, tmp_path: Path) -> FarClient:
        return FarClient({"jobs_path": str(tmp_path / "jobs")})


def test_a_job_without_the_state_is_followed_through_its_events(merge: Job, tmp_path: Path) -> None:
    client = FarClient({})
    accepted = submit(client, merge)

    done, _ = client.wait_job(accepted.id, response=Response(), timeout=_PATIENCE)

    assert (done.status, done.details["RowsOut"]) == (JobStatus.SUCCEEDED, 2)
    assert pq.read_table(tmp_path / "out" / "people").num_rows == 2
    assert EVENTS not in done.details
    assert list((tmp_path / "out" / ".mason" / "jobs" / accepted.id).glob("*.json"))
    assert done.details["Log"][-1].endswith("Committed.")


def test_who_waits_for_a_job_sees_how_far_it_is(merge: Job, caplog: pytest.LogCaptureFixture) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    told = {"TasksDone": 3, "Tasks": 10, "RowsIn": 30, "InputBytesDone": 250, "InputBytes": 1000, "SecondsLeft": 6}
    JobEvents(launch.events).write(JobStatus.RUNNING, told)

    with caplog.at_level("INFO", "mason.pipeline"):
        client.wait_job(accepted.id, response=Response(), timeout=0.1)

    shown = next(each.progress for each in caplog.records if isinstance(each.__dict__.get("progress"), JobProgress))
    assert str(shown) == "3 of 10 tasks, 30 records"
    assert (shown.share, shown.seconds_left) == (0.25, 6)


def test_a_driver_that_fails_says_why(tmp_path: Path, merge: Job) -> None:
    client = FarClient({})
    plan = planned(client, merge)
    (tmp_path / "in" / "a.csv").write_text("id,name\n1,Somebody else\n", encoding="utf-8")

    with pytest.raises(UnreadableFile, match="a.csv: it was changed after the plan was made"):
        client.run_job(plan, response=Response())


def test_a_job_without_an_output_needs_a_place_for_its_events(tmp_path: Path) -> None:
    write(tmp_path, {"in/a.csv": "id\n1\n"})
    query = QueryJob(
        statement="select id from t",
        database="shop",
        tables={"t": TableRef("t", Location(str(tmp_path / "in")))},
        parameters={},
        limit=10,
    ).to_job()

    with pytest.raises(BadInput, match="jobs_path"):
        submit(FarClient({}), query)
    assert submit(FarClient({"jobs_path": str(tmp_path / "jobs")}), query).id


def test_events_lie_beside_the_output_or_where_the_configuration_says() -> None:
    job = Job("merge", {}, {"path": Location("/lake/shop/orders/", "s3://?region=x")})

    assert events_folder(job, "1a") == Location("/lake/shop/.mason/jobs/1a", "s3://?region=x")
    assert events_folder(job, "1a", "/jobs/") == Location("/jobs/1a", "s3://?region=x")


def test_the_highest_number_decides_and_half_an_event_is_passed_over(tmp_path: Path) -> None:
    events = JobEvents(Location(str(tmp_path / "events")))
    for number in range(5):
        events.write(JobStatus.RUNNING, {"Tasks": number})
    (tmp_path / "events" / "00000006.json").write_text('{"Status": "succ', encoding="utf-8")
    (tmp_path / "events" / "99999999.txt").write_text("{}", encoding="utf-8")

    newest = JobEvents(Location(str(tmp_path / "events"))).newest()

    assert newest and (newest.number, newest.document) == (5, {"Tasks": 4})
    assert len(list((tmp_path / "events").glob("0*.json"))) == 4, "what nobody needs any more is removed"


def test_a_driver_that_was_started_again_goes_on_with_the_next_number(tmp_path: Path) -> None:
    JobEvents(Location(str(tmp_path))).write(JobStatus.RUNNING, {})
    JobEvents(Location(str(tmp_path))).beat()

    newest = JobEvents(Location(str(tmp_path))).newest()

    assert newest and newest.number == 2


def test_a_driver_killed_before_its_commit_leaves_a_job_that_is_lost(
    merge: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    monkeypatch.setattr(far_drivers, "_START_SECONDS", -1.0)

    lost = get(client, accepted.id)

    assert lost.status is JobStatus.LOST
    assert lost.details["Error"] == (
        "The driver of the job never wrote a word, and nothing of it was committed. Run it again."
    )


def test_a_driver_killed_after_its_commit_leaves_a_job_that_succeeded(
    merge: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    assert drive(launch) is JobStatus.SUCCEEDED
    _forget_the_end(Path(launch.events.path))
    assert get(client, accepted.id).status is JobStatus.RUNNING
    monkeypatch.setattr(far_drivers, "_DEAD_SECONDS", -1.0)

    found = get(client, accepted.id)

    assert (found.status, found.details["RowsOut"]) == (JobStatus.SUCCEEDED, 2)


def test_a_driver_that_is_started_again_after_its_commit_commits_nothing_twice(merge: Job) -> None:
    client = WaitingClient({})
    submit(client, merge)
    [launch] = client.started.launches
    drive(launch)
    _forget_the_end(Path(launch.events.path))

    assert drive(launch) is JobStatus.SUCCEEDED
    assert drive(launch) is JobStatus.SUCCEEDED

    commit = find_commit(launch.job.output, launch.job_id)
    assert commit and commit.number == 1 and commit.rows == 2


def _forget_the_end(events: Path) -> None:
    """As if the driver had been killed after its commit, before it could say so."""
    for file in events.glob("*.json"):
        if json.loads(file.read_text(encoding="utf-8"))["Status"] != "running":
            file.unlink()


def test_a_clock_that_is_years_ahead_does_not_matter(merge: Job) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    JobEvents(launch.events).write(JobStatus.RUNNING, {"StartedAt": "2099-01-01T00:00:00+00:00"})

    first, second = get(client, accepted.id), get(client, accepted.id)

    assert first.status is second.status is JobStatus.RUNNING


@pytest.mark.parametrize("has_said_a_word", [True, False])
def test_a_machine_goes_by_its_own_clock_alone(
    merge: Job, monkeypatch: pytest.MonkeyPatch, has_said_a_word: bool
) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    if has_said_a_word:
        JobEvents(launch.events).write(JobStatus.RUNNING, {})
        get(client, accepted.id)
    a_day_later = time.monotonic() + 24 * 3600
    monkeypatch.setattr(far_drivers, "this_host", lambda: "a machine whose clock is a day ahead")
    monkeypatch.setattr(far_drivers, "time", SimpleNamespace(monotonic=lambda: a_day_later))

    assert get(client, accepted.id).status is JobStatus.RUNNING
    assert get(client, accepted.id).status is JobStatus.RUNNING
    monkeypatch.setattr(far_drivers, "time", SimpleNamespace(monotonic=lambda: a_day_later + 301))
    assert get(client, accepted.id).status is JobStatus.LOST


@pytest.mark.parametrize("seconds", [3600, -3600])
def test_a_clock_that_jumps_between_two_looks_does_not_make_a_driver_dead(
    merge: Job, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    JobEvents(launch.events).write(JobStatus.RUNNING, {})
    get(client, accepted.id)
    clock = SimpleNamespace(time=lambda: time.time() + seconds, monotonic=time.monotonic)
    monkeypatch.setattr(far_drivers, "time", clock)

    assert get(client, accepted.id).status is JobStatus.RUNNING


def test_a_machine_that_was_started_anew_looks_anew(merge: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    monkeypatch.setattr(far_drivers, "time", SimpleNamespace(monotonic=lambda: 1.0))

    assert get(client, accepted.id).status is JobStatus.RUNNING
    monkeypatch.setattr(far_drivers, "time", SimpleNamespace(monotonic=lambda: 302.0))
    assert get(client, accepted.id).status is JobStatus.LOST


def test_a_driver_that_slept_until_it_was_taken_for_gone_commits_nothing(
    merge: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    monkeypatch.setattr(far_drivers, "_START_SECONDS", -1.0)
    assert get(client, accepted.id).status is JobStatus.LOST

    assert drive(launch) is JobStatus.CANCELLED

    assert get(client, accepted.id).status is JobStatus.CANCELLED
    assert not (tmp_path / "out" / "people").exists()


def test_a_driver_that_commits_after_all_has_not_lost_its_job(merge: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    monkeypatch.setattr(far_drivers, "_START_SECONDS", -1.0)
    assert get(client, accepted.id).status is JobStatus.LOST
    (Path(launch.events.path) / "cancel").unlink()  # as if it had looked up just before

    assert drive(launch) is JobStatus.SUCCEEDED

    found = get(client, accepted.id)
    assert (found.status, found.details["RowsOut"]) == (JobStatus.SUCCEEDED, 2)
    assert "Error" not in found.details


def test_a_driver_whose_events_somebody_removed_is_noticed_by_its_silence(
    merge: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    JobEvents(launch.events).write(JobStatus.RUNNING, {})
    get(client, accepted.id)
    shutil.rmtree(launch.events.path)
    monkeypatch.setattr(far_drivers, "_DEAD_SECONDS", -1.0)

    lost = get(client, accepted.id)

    assert (lost.status, lost.details["Error"].split(",")[0]) == (JobStatus.LOST, "The driver of the job is gone")


def test_a_job_whose_events_nobody_can_read_does_not_hide_the_others(merge: Job, tmp_path: Path) -> None:
    client = WaitingClient({})
    unreadable, readable = submit(client, merge), submit(client, merge)
    folder = Path(client.started.launches[0].events.path)
    write(tmp_path, {str(folder.relative_to(tmp_path)): "no folder"})

    listed, _ = client.list_jobs(response=Response())

    with pytest.raises(ClientFailed, match="cannot be read"):
        get(client, unreadable.id)
    assert {each.id: each.status for each in listed} == dict.fromkeys([unreadable.id, readable.id], JobStatus.RUNNING)


def test_a_job_whose_driver_cannot_be_started_has_failed(merge: Job) -> None:
    class Refusing:
        def start(self, launch: DriverLaunch) -> None:
            raise ClientFailed("There is no room for another pod.")

    class RefusedClient(LocalExecutionClient):
        def far_driver(self) -> Refusing:
            return Refusing()

    client = RefusedClient({})

    with pytest.raises(ClientFailed, match="no room"):
        submit(client, merge)

    [job], _ = client.list_jobs(response=Response())
    assert (job.status, job.details["Error"]) == (JobStatus.FAILED, "There is no room for another pod.")


def test_a_driver_that_cannot_keep_its_lock_says_so(merge: Job, tmp_path: Path) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    write(tmp_path, {"file": "no folder"})

    driver = subprocess.run(
        [sys.executable, "-m", "mason.pipeline.driving.driver_process"],
        input=launch.to_bytes(),
        env={**os.environ, "MASON_RUNTIME_DIR": str(tmp_path / "file" / "runtime")},
        check=False,
    )

    assert driver.returncode == 1
    ended = get(client, accepted.id)
    assert ended.status is JobStatus.FAILED
    assert ended.details["Error"].startswith("The driver of the job cannot keep a lock on its machine")
    assert not (tmp_path / "out" / "people").exists()


def test_events_on_a_storage_that_refuses_writes_stop_the_job_before_it_begins(merge: Job, tmp_path: Path) -> None:
    client = WaitingClient({"jobs_path": str(tmp_path / "in" / "a.csv")})
    submit(client, merge)
    [launch] = client.started.launches

    with pytest.raises(ClientFailed, match="cannot be written to"):
        drive(launch)
    assert not (tmp_path / "out" / "people").exists()


def test_a_storage_that_refuses_writes_while_the_job_runs_does_not_keep_it_from_its_commit(
    merge: Job, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    (Path(launch.events.path) / "00000002.json.part").mkdir(parents=True)  # all after the first is refused
    monkeypatch.setattr(job_books, "_SECONDS_BETWEEN_TRIES", 0.0)

    assert drive(launch) is JobStatus.SUCCEEDED

    assert "The end of the job could not be written to" in caplog.text
    assert get(client, accepted.id).status is JobStatus.RUNNING
    monkeypatch.setattr(far_drivers, "_DEAD_SECONDS", -1.0)
    found = get(client, accepted.id)
    assert (found.status, found.details["RowsOut"]) == (JobStatus.SUCCEEDED, 2)


def test_a_job_that_is_cancelled_before_its_driver_begins_does_nothing(
    merge: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = WaitingClient({})
    accepted = submit(client, merge)
    [launch] = client.started.launches
    monkeypatch.setattr(job_watch, "WAIT_SECONDS", 0.0)

    for _ in range(2):
        asked, _ = client.cancel_job(accepted.id, response=Response())
        assert asked.status is JobStatus.RUNNING

    assert drive(launch) is JobStatus.CANCELLED
    assert get(client, accepted.id).status is JobStatus.CANCELLED
    assert not (tmp_path / "out" / "people").exists()


def test_a_job_is_cancelled_through_its_events(tmp_path: Path) -> None:
    client = FarClient({"jobs_path": str(tmp_path / "jobs")})
    accepted = submit(client, _endless(tmp_path))
    until(lambda: get(client, accepted.id).details.get("Log"))

    client.cancel_job(accepted.id, response=Response())

    ended, _ = client.wait_job(accepted.id, response=Response(), timeout=_PATIENCE)
    assert ended.status is JobStatus.CANCELLED


def test_a_driver_that_is_killed_is_noticed_by_its_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = FarClient({"jobs_path": str(tmp_path / "jobs")})
    accepted = submit(client, _endless(tmp_path))
    until(lambda: get(client, accepted.id).details.get("Log"))
    _kill_drivers(os.getpid())
    get(client, accepted.id)
    monkeypatch.setattr(far_drivers, "_DEAD_SECONDS", -1.0)

    lost = until(lambda: found if (found := get(client, accepted.id)).status.is_final else None)

    assert lost.status is JobStatus.LOST
    assert "nothing of it was committed" in lost.details["Error"]


def _endless(folder: Path) -> Job:
    write(folder, {"numbers/a.csv": "n\n" + "".join(f"{each}\n" for each in range(1000))})
    statement = "select count(*) as n from t a, t b, t c, t d where (a.n * b.n + c.n * d.n) % 1009 = 500"
    return QueryJob(
        statement=statement,
        database="shop",
        tables={"t": TableRef("t", Location(str(folder / "numbers")))},
        parameters={},
        limit=10,
    ).to_job()


def _kill_drivers(parent: int) -> None:
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            status = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if b"mason.pipeline.driving.driver_process" in command and int(status[1]) == parent:
            os.kill(int(entry.name), signal.SIGKILL)


def test_submissions_with_one_token_start_one_driver(merge: Job) -> None:
    client = WaitingClient({})
    plan = planned(client, merge)

    ids = {client.submit_job(plan, token="today", response=Response())[0].id for _ in range(3)}

    assert len(ids) == len(client.started.launches) == 1
    assert open_state(MasonEnvironment.of()).get_record(RecordKind.JOB, ids.pop())


# Submits a merge with a token, and is killed at a moment of it.
_KILLED_SUBMITTER = """
import os, signal, sys
from mason.clients.response import Response
from mason.engines.storage.models.location import Location
from mason.pipeline.driving.driver_process import ChildDriver
from mason.pipeline.jobs.merge.job import MergeJob
from tests.jobs.test_far_drivers import FarClient

when, folder = sys.argv[1:]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

class Dying(ChildDriver):
    def start(self, launch):
        if when == "while the engine accepts":
            die()
        super().start(launch)
        die()

class DyingClient(FarClient):
    def far_driver(self):
        return Dying()

# A driver that was started is another process, and has to find the class.
DyingClient.__module__, DyingClient.__qualname__ = FarClient.__module__, FarClient.__qualname__
client = DyingClient({})
merge = MergeJob(Location(f"{folder}/in"), Location(f"{folder}/out/people"))
plan, _ = client.plan_job(merge.to_job(), response=Response())
if when == "before the engine is asked":
    die()
client.submit_job(plan, token="today", response=Response())
"""


@pytest.mark.parametrize("when", ["before the engine is asked", "while the engine accepts", "after it has accepted"])
def test_a_submitter_that_is_killed_and_asks_again_with_its_token_has_one_job(
    merge: Job, tmp_path: Path, when: str
) -> None:
    killed = subprocess.run([sys.executable, "-c", _KILLED_SUBMITTER, when, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    client = FarClient({})
    plan = planned(client, merge)

    for _ in range(3):
        accepted, _ = client.submit_job(plan, token="today", response=Response())
    done, _ = client.wait_job(accepted.id, response=Response(), timeout=_PATIENCE)

    assert (done.status, done.details["RowsOut"]) == (JobStatus.SUCCEEDED, 2)
    assert [each.id for each in client.list_jobs(response=Response())[0]] == [accepted.id]
    assert [each.rows for each in open_table(Location(str(tmp_path / "out" / "people"))).history()] == [2]


def test_a_second_driver_of_a_job_does_nothing_while_the_first_one_works(tmp_path: Path) -> None:
    client = FarClient({"jobs_path": str(tmp_path / "jobs")})
    job = _endless(tmp_path)
    accepted = submit(client, job)
    until(lambda: get(client, accepted.id).details.get("Log"))
    launch = client._launch(planned(client, job), accepted.id, Response())

    second = subprocess.run(
        [sys.executable, "-m", "mason.pipeline.driving.driver_process"],
        input=launch.to_bytes(),
        check=False,
        timeout=60,
    )

    assert second.returncode == 1
    assert get(client, accepted.id).status is JobStatus.RUNNING
    client.cancel_job(accepted.id, response=Response())
    assert client.wait_job(accepted.id, response=Response(), timeout=_PATIENCE)[0].status is JobStatus.CANCELLED


@pytest.mark.parametrize(
    "value",
    [
        Decimal("10.50"),
        dt.date(2026, 1, 2),
        dt.datetime(2026, 1, 2, 3, 4, 5, 6, dt.UTC),
        dt.time(1, 2, 3),
        dt.timedelta(days=-1, microseconds=7),
        b"\x00\xff",
        [("x", None), {"a": [Decimal("1")]}],
        {"$type": "decimal", "value": "a column that is called so"},
        {1: "one", "two": 2.5},
        math.inf,
        2**70,
    ],
)
def test_what_a_driver_shows_comes_back_with_its_types(value: object) -> None:
    back = from_typed(json.loads(json.dumps(to_typed(value))))

    assert back == value and type(back) is type(value)
