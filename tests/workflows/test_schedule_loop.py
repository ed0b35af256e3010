"""What is due is run once: after a restart, beside other processes, and whatever the clock does."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue
from typing import Any

import pytest

from mason.clients.local.scheduler import LocalSchedulerClient
from mason.clients.response import Response
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import PathNotFound
from mason.state.home import open_state
from mason.state.models import RecordKind
from mason.state.schedules import LOCAL, change_schedule, find_schedule
from mason.state.store import StateStore
from mason.state.tokens import Scope, create_token
from mason.testing.scheduler.fixtures import a_deployment
from mason.util.environment import MasonEnvironment
from mason.util.processes import ProcessId, this_host
from mason.workflows.revocation import revoke
from mason.workflows.schedules.due import Firing
from mason.workflows.schedules.schedule_loop import ScheduleLoop
from tests.api.support import until

MONDAY = datetime(2026, 11, 16, 5, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass
class Run:
    """A run that ends when the test says so."""

    code: int | None = 0
    stopped: bool = False

    def poll(self) -> int | None:
        return self.code

    def stop(self) -> None:
        self.stopped = True


@dataclass
class World:
    """A clock that the test sets, schedules, and what was started."""

    env: MasonEnvironment
    now: datetime = MONDAY
    started: list[tuple[str, str]] = field(default_factory=list)
    goes_on: bool = False
    begins: bool = True

    def __post_init__(self) -> None:
        self.store: StateStore = open_state(self.env)
        self.loop = self.another()

    def another(self, **more: Any) -> ScheduleLoop:
        return ScheduleLoop(open_state(self.env), self.start, clock=lambda: self.now, **more)

    def deploy(self, name: str = "nightly", expression: str = "0 6 * * *") -> None:
        kept = {**a_deployment(name, expression).to_dict(), "DoneUpTo": self.now.isoformat()}
        change_schedule(self.store, LOCAL, name, lambda _: kept)

    def start(self, name: str, document: Mapping[str, Any]) -> Run:
        firing = Firing.of(document)
        assert firing
        self.started.append((name, firing.due_at))
        if self.begins:
            status = "running" if self.goes_on else "succeeded"
            self.store.add_record(RecordKind.RUN, firing.run_id, status, {})
        return Run(None if self.goes_on else 0)

    def look_at(self, moment: datetime) -> list[str]:
        """Look at a moment and return when what is started was due."""
        self.now = moment
        return [firing.due_at for firing in self.loop.start_due()]

    def document(self, name: str = "nightly") -> Mapping[str, Any]:
        return find_schedule(self.store, LOCAL, name).document

    def end_run(self) -> None:
        firing = Firing.of(self.document())
        assert firing
        record = self.store.get_record(RecordKind.RUN, firing.run_id)
        assert record
        self.store.update_record(record, "succeeded", {})
        self.goes_on = False


@pytest.fixture
def world(env: MasonEnvironment) -> World:
    return World(env)


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def shared(request: pytest.FixtureRequest, env: MasonEnvironment) -> World:
    """A world in which others look at the schedules, too."""
    return World(env if request.param == "SQLite" else replace(env, state=request.getfixturevalue("database")))


def test_what_is_due_is_run_once_and_not_before(world: World) -> None:
    world.deploy()

    assert world.look_at(MONDAY + HOUR - timedelta(seconds=1)) == []
    assert world.look_at(MONDAY + HOUR) == ["2026-11-16T06:00:00+00:00"]
    assert world.look_at(MONDAY + HOUR + timedelta(seconds=1)) == []
    assert world.look_at(MONDAY + HOUR + DAY) == ["2026-11-17T06:00:00+00:00"]


def test_of_what_was_missed_the_newest_is_run_after_a_restart(world: World) -> None:
    world.deploy()
    world.look_at(MONDAY + HOUR)
    world.loop = world.another()

    assert world.look_at(MONDAY + 5 * DAY) == ["2026-11-20T06:00:00+00:00"]
    assert world.look_at(MONDAY + 5 * DAY + timedelta(minutes=1)) == []


def test_a_restart_in_the_minute_of_a_run_does_not_repeat_it(world: World) -> None:
    world.deploy()
    world.look_at(MONDAY + HOUR)

    world.loop = world.another()

    assert world.look_at(MONDAY + HOUR + timedelta(seconds=5)) == []


def test_what_was_due_before_it_was_deployed_is_not_run(world: World) -> None:
    world.deploy(expression="0 4 * * *")

    assert world.look_at(MONDAY + HOUR) == []


def test_two_processes_never_run_one_thing_twice(shared: World) -> None:
    for number in range(10):
        shared.deploy(f"every_minute_{number}", "* * * * *")
    loops = [shared.another(most_runs=100) for _ in range(3)]

    for minute in range(1, 11):
        shared.now = MONDAY + timedelta(minutes=minute)
        threads = [threading.Thread(target=loop.start_due) for loop in loops]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(shared.started) == 100
    assert len(set(shared.started)) == 100


def test_a_run_whose_process_died_before_it_began_is_taken_over(world: World) -> None:
    world.deploy()
    world.begins = False
    world.look_at(MONDAY + HOUR)
    dead = {**world.document()["Firing"], "Process": {"Host": this_host(), "Pid": 2**22 + 1, "Started": "1"}}
    change_schedule(world.store, LOCAL, "nightly", lambda before: {**before, "Firing": dead})
    world.begins, world.loop = True, world.another()

    assert world.look_at(MONDAY + 2 * HOUR) == ["2026-11-16T06:00:00+00:00"]
    assert world.document()["Firing"]["RunID"] == dead["RunID"]
    assert world.look_at(MONDAY + 3 * HOUR) == []


def test_a_run_that_another_process_is_about_to_begin_is_left_to_it(world: World) -> None:
    world.deploy()
    world.begins = False
    world.look_at(MONDAY + HOUR)
    me = ProcessId.of(os.getpid())
    assert world.document()["Firing"]["Process"]["Pid"] == me.pid

    world.loop = world.another()

    assert world.look_at(MONDAY + 2 * HOUR) == []


def test_of_another_machine_a_run_is_taken_over_when_it_has_not_begun_for_long(world: World) -> None:
    world.deploy()
    world.begins = False
    world.look_at(MONDAY + HOUR)
    other = {**world.document()["Firing"], "Process": {"Host": "another", "Pid": os.getpid(), "Started": "1"}}
    change_schedule(world.store, LOCAL, "nightly", lambda before: {**before, "Firing": other})
    world.loop = world.another()

    assert world.look_at(MONDAY + HOUR + timedelta(minutes=9)) == []
    assert world.look_at(MONDAY + HOUR + timedelta(minutes=11)) == ["2026-11-16T06:00:00+00:00"]


def test_while_a_run_goes_on_moments_pass_and_the_newest_is_run_after_it(world: World) -> None:
    world.deploy(expression="0 * * * *")
    world.goes_on = True

    assert world.look_at(MONDAY + HOUR) == ["2026-11-16T06:00:00+00:00"]
    assert world.look_at(MONDAY + 2 * HOUR) == []
    assert world.look_at(MONDAY + 4 * HOUR) == []
    world.end_run()
    assert world.look_at(MONDAY + 4 * HOUR + timedelta(minutes=5)) == ["2026-11-16T09:00:00+00:00"]


class TestClocks:
    def test_a_jump_forward_runs_the_newest_and_nothing_else(self, world: World) -> None:
        world.deploy(expression="*/5 * * * *")

        assert world.look_at(MONDAY + 3 * DAY + timedelta(minutes=7)) == ["2026-11-19T05:05:00+00:00"]
        assert world.look_at(MONDAY + 3 * DAY + timedelta(minutes=8)) == []

    def test_a_jump_back_repeats_nothing(self, world: World) -> None:
        world.deploy()
        world.look_at(MONDAY + HOUR)

        assert world.look_at(MONDAY) == []
        assert world.look_at(MONDAY + HOUR) == []
        assert world.look_at(MONDAY + HOUR + DAY) == ["2026-11-17T06:00:00+00:00"]

    def test_a_clock_that_was_a_year_ahead_does_not_stop_the_schedule_for_a_year(self, world: World) -> None:
        world.deploy()
        assert world.look_at(MONDAY + 365 * DAY) != []

        assert world.look_at(MONDAY) == []
        assert world.look_at(MONDAY + HOUR) == ["2026-11-16T06:00:00+00:00"]
        assert world.look_at(MONDAY + HOUR) == []

    def test_the_hour_that_a_clock_repeats_runs_nothing_twice(self, world: World) -> None:
        world.now = datetime(2026, 10, 24, 12, 0, tzinfo=UTC)
        world.deploy(expression="30 2 * * * Europe/Berlin")
        night = datetime(2026, 10, 25, 0, 0, tzinfo=UTC)

        found = [due for minutes in range(0, 180, 5) for due in world.look_at(night + timedelta(minutes=minutes))]

        assert found == ["2026-10-25T00:30:00+00:00"]


def test_a_trigger_is_run_at_once_and_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASON_HOME", str(world.env.home))
    world.deploy(expression="")

    run, _ = LocalSchedulerClient({}).trigger_schedule("nightly", response=Response())

    assert [firing.run_id for firing in world.loop.start_due()] == [run]
    assert world.loop.start_due() == []


def test_a_schedule_that_is_deleted_is_not_run_any_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASON_HOME", str(world.env.home))
    world.deploy()

    LocalSchedulerClient({}).delete_schedule("nightly", response=Response())

    assert world.look_at(MONDAY + HOUR) == []


def test_only_so_many_runs_go_on_at_once_and_the_others_have_their_turn(world: World) -> None:
    for name in "abc":
        world.deploy(name, "0 6 * * *")
    world.loop = world.another(most_runs=2)
    world.goes_on = True

    assert len(world.look_at(MONDAY + HOUR)) == 2
    assert world.look_at(MONDAY + HOUR) == []
    for _, run in world.loop._runs.values():
        assert isinstance(run, Run)
        run.code = 0
    assert len(world.look_at(MONDAY + HOUR)) == 1


def test_a_run_that_could_not_begin_is_an_error_of_its_schedule_until_the_next(world: World) -> None:
    world.deploy()
    world.begins = False
    world.look_at(MONDAY + HOUR)
    world.look_at(MONDAY + 2 * HOUR)
    assert "did not begin (exit code 0)" in world.document()["LastError"]
    world.begins = True

    assert world.look_at(MONDAY + HOUR + DAY) == ["2026-11-17T06:00:00+00:00"]
    assert "LastError" not in world.document()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PathNotFound("/gone"), 'Path "/gone" not found.'),
        (KeyError("Folder"), "This should not have happened: KeyError: 'Folder'"),
    ],
)
def test_a_run_that_cannot_be_started_is_an_error_of_its_schedule(world: World, error: Exception, said: str) -> None:
    def refuse(name: str, document: Mapping[str, Any]) -> Run:
        raise error

    world.deploy()
    world.loop = ScheduleLoop(open_state(world.env), refuse, clock=lambda: world.now)

    world.look_at(MONDAY + HOUR)

    assert world.document()["LastError"] == said


def test_a_schedule_that_would_not_be_taken_today_still_fires(world: World) -> None:
    world.deploy(expression="0 */24 * * *")

    assert world.look_at(MONDAY + DAY) == ["2026-11-17T00:00:00+00:00"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"Schedule": "0 6 * * * Mars/Olympus_Mons"}, 'there is no time zone "Mars/Olympus_Mons"'),
        ({"DoneUpTo": "yesterday"}, "Invalid isoformat string: 'yesterday'"),
        ({"DoneUpTo": None}, "argument must be str"),
    ],
)
def test_a_schedule_that_cannot_be_read_stops_no_other_and_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch, wrong: Mapping[str, Any], said: str
) -> None:
    monkeypatch.setenv("MASON_HOME", str(world.env.home))
    for name in ("a", "b", "c"):
        world.deploy(name)
    change_schedule(world.store, LOCAL, "b", lambda before: {**before, **wrong})
    before, _ = LocalSchedulerClient({}).list_schedules(response=Response())

    world.look_at(MONDAY + HOUR)
    world.look_at(MONDAY + HOUR)

    assert [name for name, _ in world.started] == ["a", "c"]
    assert said in world.document("b")["LastError"]
    after, _ = LocalSchedulerClient({}).list_schedules(response=Response())
    for listed in (before, after):
        assert [each.name for each in listed if not each.error] == ["a", "c"]
        assert said in listed[1].error


def test_that_a_schedule_cannot_be_read_is_written_down_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.deploy(expression="0 6 * * * Mars/Olympus_Mons")

    for second in range(3):
        world.look_at(MONDAY + timedelta(seconds=second))

    assert len([record for record in caplog.records if "cannot be read" in record.message]) == 1


def test_a_schedule_that_cannot_be_read_is_run_when_it_is_triggered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MASON_HOME", str(world.env.home))
    world.deploy(expression="0 6 * * * Mars/Olympus_Mons")
    world.look_at(MONDAY)

    run, _ = LocalSchedulerClient({}).trigger_schedule("nightly", response=Response())

    assert [firing.run_id for firing in world.loop.start_due()] == [run]
    assert world.loop.start_due() == []


def test_what_goes_on_is_stopped_at_the_end(world: World) -> None:
    world.deploy()
    world.goes_on = True
    world.look_at(MONDAY + HOUR)
    ((_, run),) = world.loop._runs.values()
    stop: SimpleQueue[int] = SimpleQueue()
    stop.put(15)

    assert world.loop.run(stop) == 15

    assert isinstance(run, Run)
    assert run.stopped


class TestDeployedAgain:
    @pytest.fixture
    def client(self, world: World, monkeypatch: pytest.MonkeyPatch) -> LocalSchedulerClient:
        monkeypatch.setenv("MASON_HOME", str(world.env.home))
        return LocalSchedulerClient({})

    def test_with_the_same_schedule_what_was_missed_is_still_due(
        self, world: World, client: LocalSchedulerClient
    ) -> None:
        world.deploy()

        client.register_dag(a_deployment("nightly", "0 6 * * *"), response=Response())

        assert world.look_at(MONDAY + HOUR) == ["2026-11-16T06:00:00+00:00"]

    def test_with_another_schedule_it_begins_now(self, world: World, client: LocalSchedulerClient) -> None:
        world.deploy()

        client.register_dag(a_deployment("nightly", "0 7 * * *"), response=Response())

        done_up_to = datetime.fromisoformat(world.document()["DoneUpTo"])
        assert abs(datetime.now(UTC) - done_up_to) < timedelta(minutes=1)

    def test_what_was_triggered_before_is_still_run(self, world: World, client: LocalSchedulerClient) -> None:
        world.deploy(expression="")
        run, _ = client.trigger_schedule("nightly", response=Response())

        client.register_dag(a_deployment("nightly", "0 7 * * *"), response=Response())

        assert [firing.run_id for firing in world.loop.start_due()] == [run]

    def test_the_listing_says_what_is_next_and_what_was_last(self, world: World, client: LocalSchedulerClient) -> None:
        world.deploy()
        world.look_at(MONDAY + HOUR)

        ((schedule,), _) = client.list_schedules(response=Response())

        assert isinstance(schedule, Schedule)
        assert schedule.to_dict() == {
            "Name": "nightly",
            "Schedule": "0 6 * * *",
            "Workflow": f"table:infer@sha256:{'0' * 64}",
            "NextDueAt": "2026-11-17T06:00:00+00:00",
            "LastDueAt": "2026-11-16T06:00:00+00:00",
            "LastRunID": world.document()["Firing"]["RunID"],
        }


class TestRevokedTokens:
    def test_a_schedule_that_is_paused_is_not_run_and_what_was_missed_is_not_made_up_for(self, world: World) -> None:
        deploy_with_token(world)
        revoke(world.store, "ci")

        assert world.look_at(MONDAY + 2 * HOUR) == []
        world.deploy()  # by a command, and at once: the clock of a deployment is the machine's
        assert "Paused" not in world.document()
        assert world.document()["DoneUpTo"] > MONDAY.isoformat()

    def test_its_run_that_goes_on_is_stopped(self, world: World) -> None:
        deploy_with_token(world)
        world.goes_on = True
        world.look_at(MONDAY + 2 * HOUR)
        (_, run) = world.loop._runs["nightly"]
        assert isinstance(run, Run)

        revoke(world.store, "ci")
        for _ in range(2):
            world.look_at(MONDAY + 3 * HOUR)

        until(lambda: run.stopped, "the run is asked to stop")

    def test_one_that_was_deployed_in_the_moment_in_which_its_token_was_revoked_is_paused_when_it_is_due(
        self, world: World
    ) -> None:
        create_token(world.store, "ci", Scope.RUN)
        revoke(world.store, "ci")
        deploy_with_token(world, is_new=False)

        assert world.look_at(MONDAY + 2 * HOUR) == []
        assert world.document()["Paused"] == 'The token "ci" was revoked.'


def deploy_with_token(world: World, *, is_new: bool = True) -> None:
    if is_new:
        create_token(world.store, "ci", Scope.RUN)
    world.deploy()
    change_schedule(
        world.store, LOCAL, "nightly", lambda before: {**before, "DeployedBy": "ci", "DoneUpTo": MONDAY.isoformat()}
    )
