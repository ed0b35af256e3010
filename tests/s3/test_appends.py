"""Appends at once on a store: each is in the table at the end, once, from one process or several."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

import mason.pipeline.tables.object_lease as object_lease
from mason.clients.s3.connection import S3Connection
from mason.clients.s3.objects import S3Objects
from mason.clients.s3.storage import S3StorageClient
from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.jobs.query.inputs import ReadyTable
from mason.pipeline.reading.scan import plan_scan
from mason.pipeline.sql.query import SqlQuery, fetch_rows
from mason.pipeline.tables.commit import ChangedMeanwhile, CommitRecord, CommittedFile, Overtaken, open_table
from mason.pipeline.tables.objects import TableObjects
from mason.pipeline.tables.room import room_of
from mason.pipeline.tables.versions import plan_vacuum, roll_back, vacuum
from mason.testing import Place
from tests.conftest import PROJECT
from tests.merge.test_appends import AT_ONCE, Meanwhile, at_once
from tests.s3.test_commit import below, deaths, outsiders, read, write
from tests.seaweed import Seaweed

pytestmark = pytest.mark.timeout(400)


class Table:
    """A table on the store, and the numbers that are appended to it, each from a folder of its own."""

    def __init__(self, place: Place, storage: str) -> None:
        self._place, self.storage, self.path = place, storage, place.below("out").path

    def given(self, number: int, text: str = "") -> None:
        self._place.write(f"in-{number}/a.csv", (text or f"n\n{number}\n").encode())

    def planned(self, number: int, mode: Mode = Mode.APPEND, **options: object) -> MergeWork:
        settings = MergeOptions(mode=mode, **options)  # type: ignore[arg-type]
        source = self._place.below(f"in-{number}").path
        return MergeWork.plan(
            MergeJob(Location(source, self.storage), Location(self.path, self.storage), settings).to_job()
        )

    def run(self, number: int, mode: Mode = Mode.APPEND, **options: object) -> None:
        self.planned(number, mode, **options).run(InProcessRunner(), f"job{number}", lambda *_: None)

    def numbers(self) -> list[int]:
        table = ReadyTable("t", plan_scan(Location(self.path, self.storage))).sql_table()
        rows = fetch_rows(InProcessRunner(), SqlQuery(statement="select n from t", tables=[table]))
        return sorted(rows["n"].to_pylist())

    def versions(self) -> list[int]:
        return [each.number for each in open_table(Location(self.path, self.storage)).history()]

    def check_settled(self) -> None:
        """Others see what Mason sees, and nothing is left of those that lost."""
        current = open_table(Location(self.path, self.storage)).current()
        assert current is not None
        names = self._place.contents()
        assert {name for name in names if name.startswith("out/part-")} == {
            f"out/{each.path}" for each in current.files
        }
        assert [
            name for name in names if name.startswith((".mason/tables/out/leases/", ".mason/tables/out/kept/"))
        ] == []


@pytest.fixture
def table(seaweed: Seaweed, bucket: str) -> Table:
    storage = S3StorageClient(seaweed.configuration())
    return Table(Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}")), storage.address())


def test_sixty_appends_at_once_are_all_in_the_table(table: Table) -> None:
    for number in range(AT_ONCE):
        table.given(number)

    failed = at_once([lambda n=n: table.run(n) for n in range(AT_ONCE)])

    assert failed == [], "\n".join(failed)
    assert table.numbers() == list(range(AT_ONCE))
    assert table.versions() == list(range(AT_ONCE, 0, -1))
    table.check_settled()


def test_the_appends_at_once_catch_a_commit_that_ignores_who_was_faster(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ignore(path: str, history: object, record: object, *, kept: object, **_: object) -> Any:
        return record, kept

    monkeypatch.setattr("mason.pipeline.tables.objects.follow_newest", ignore)
    for number in range(6):
        table.given(number)

    assert at_once([lambda n=n: table.run(n) for n in range(6)]) == []

    assert table.numbers() != list(range(6))


APPENDING = textwrap.dedent(
    """
    import sys
    sys.path.insert(0, {project!r})
    from mason.engines.storage.models.location import Location
    from mason.pipeline.driving.execution import InProcessRunner
    from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
    from mason.pipeline.jobs.merge.work import MergeWork

    for number in {numbers!r}:
        read, written = (Location(each, {storage!r}) for each in (f"{place}/in-{{number}}", {output!r}))
        job = MergeJob(read, written, MergeOptions(mode=Mode.APPEND))
        MergeWork.plan(job.to_job()).run(InProcessRunner(), f"job{{number}}", lambda *_: None)
    """
)


def test_appends_of_several_processes_at_once_are_all_in_the_table(table: Table) -> None:
    for number in range(16):
        table.given(number)
    place = table.path.rpartition("/")[0]
    processes = []
    for writer in range(4):
        numbers = list(range(writer, 16, 4))
        code = APPENDING.format(
            project=str(PROJECT), place=place, numbers=numbers, output=table.path, storage=table.storage
        )
        processes.append(subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True))

    ends = [(process.communicate(timeout=200)[1], process.returncode) for process in processes]

    assert [said for said, code in ends if code] == []
    assert table.numbers() == list(range(16))
    assert table.versions() == list(range(16, 0, -1))
    table.check_settled()


def test_an_append_that_meets_a_replacement_is_added_to_that_and_reads_no_data_again(table: Table) -> None:
    for number in (1, 2, 3):
        table.given(number)
    table.run(1)
    meanwhile = Meanwhile(lambda: table.run(2, Mode.REPLACE))

    table.planned(3).run(meanwhile, "job3", lambda *_: None)

    assert (table.numbers(), meanwhile.rounds) == ([2, 3], 1)
    table.check_settled()


def test_appends_beside_a_rollback_and_a_vacuum_are_in_the_table(table: Table) -> None:
    for number in (1, 2, 3, 4):
        table.given(number)
    table.run(1)
    table.run(2)
    back = Meanwhile(lambda: roll_back(Location(table.path, table.storage), "1", "back"))
    table.planned(3).run(back, "job3", lambda *_: None)
    planned = table.planned(4)
    vacuum(plan_vacuum(Location(table.path, table.storage), 0, 0))

    planned.run(InProcessRunner(), "job4", lambda *_: None)

    assert table.numbers() == [1, 3, 4]
    table.check_settled()


@pytest.fixture
def store(seaweed: Seaweed) -> S3Objects:
    return S3Objects(S3Connection.of(seaweed.configuration()).client())


@pytest.fixture
def path(bucket: str) -> str:
    return f"{bucket}/{uuid4().hex}/orders"


def append(store: Any, path: str, row: int, meanwhile: Callable[[], object] = lambda: None) -> CommitRecord:
    """Add a file of one row to whatever is there, after something happened meanwhile."""
    table, job = TableObjects(store, path), f"append{row}"
    expected = table.current()
    with table.stage(job) as staging:
        record = stage_row(store, staging, row)
        meanwhile()
        return table.publish(staging, record, expected=expected, kept=files(expected), may_follow=lambda *_: True)


def stage_row(store: Any, staging: str, row: int) -> CommitRecord:
    job, name = f"append{row}", f"part-append{row}.parquet"
    store.write(f"{staging}/{name}", str(row).encode())
    return CommitRecord(job, 0, None, job, [CommittedFile(name, 1, len(str(row)))], 1, 0, "", adds=True)


def files(commit: CommitRecord | None) -> Any:
    return commit.files if commit else ()


def test_death_at_any_moment_of_an_append_that_lost_the_race_leaves_the_old_table_or_the_new(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, path, [1])
    rows, died = iter(range(100, 10_000, 10)), 0
    before, tried = [1], [0]

    def kill(mortal: Any) -> None:
        tried[:] = [next(rows)]
        append(mortal, path, tried[0], meanwhile=lambda: append(store, path, tried[0] + 1))

    def sweep() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(object_lease, "EXPIRY_SECONDS", -60)
            TableObjects(store, path).sweep()

    for _ in deaths(store, path, kill):
        died += 1
        found = read(store, path, TableObjects(store, path).current())
        others = [tried[0] + 1] if tried[0] + 1 in found else []
        assert found in (sorted([*before, *others]), sorted([*before, *others, *tried])), (
            "a row is lost, or there twice"
        )
        sweep()
        assert outsiders(store, path) == found
        committed = {each.id for each in TableObjects(store, path).history()}
        left = below(store, f"{room_of(path)}/leases")  # of one that may still commit, until its number is taken
        assert below(store, f"{room_of(path)}/data") <= committed | {each.removesuffix(".lease") for each in left}
        before = found
    assert died >= 10
    append(store, path, 1_000_000)
    sweep()
    assert below(store, f"{room_of(path)}/leases") == set()
    assert below(store, f"{room_of(path)}/data") == {each.id for each in TableObjects(store, path).history()}


class Interrupted:
    """A store that lets something happen once, before a new commit is written or after a lease is read."""

    def __init__(self, store: S3Objects, call: str, part: str, happen: Callable[[], object]) -> None:
        self._store, self._call, self._part, self._happen = store, call, part, [happen]

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)

        def call(path: str, *more: Any) -> Any:
            if name == self._call == "write_new" and self._part in path and self._happen:
                self._happen.pop()()
            done = real(path, *more)
            if name == self._call == "read" and self._part in path and self._happen:
                self._happen.pop()()
            return done

        return call


def overtaken(store: S3Objects, path: str, between: Callable[[], object]) -> None:
    """Append a row, lose the race at the last moment, let something happen, and publish the same again."""
    slow = Interrupted(store, "write_new", "/commits/", lambda: append(store, path, 2))
    table = TableObjects(slow, path)  # type: ignore[arg-type]
    expected = table.current()
    with table.stage("append3") as staging:
        record = stage_row(store, staging, 3)
        again = {"expected": expected, "kept": files(expected), "may_follow": lambda *_: True}
        with pytest.raises(Overtaken):
            table.publish(staging, record, **again)  # type: ignore[arg-type]
        between()
        table.publish(staging, record, **again)  # type: ignore[arg-type]


def test_an_append_that_is_overtaken_at_the_last_moment_takes_the_next_number(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mason.pipeline.tables.objects.TURN_SECONDS", 0)  # as if the other were in another process
    write(store, path, [1])

    overtaken(store, path, between=lambda: None)

    assert read(store, path, TableObjects(store, path).current()) == outsiders(store, path) == [1, 2, 3]


def test_an_append_that_lost_and_was_taken_for_dead_cannot_commit(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mason.pipeline.tables.objects.TURN_SECONDS", 0)
    write(store, path, [1])

    def sweep() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(object_lease, "EXPIRY_SECONDS", -60)
            TableObjects(store, path).sweep()

    with pytest.raises(ChangedMeanwhile):
        overtaken(store, path, between=sweep)

    assert read(store, path, TableObjects(store, path).current()) == outsiders(store, path) == [1, 2]
    assert below(store, f"{room_of(path)}/leases") == set()


def test_a_sweep_that_meets_an_append_on_its_way_to_the_next_number_removes_nothing_of_it(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep has read that the job lost; before it removes anything, the job goes on and commits."""
    monkeypatch.setattr("mason.pipeline.tables.objects.TURN_SECONDS", 0)
    write(store, path, [1])
    slow = Interrupted(store, "write_new", "/commits/", lambda: append(store, path, 2))
    table = TableObjects(slow, path)  # type: ignore[arg-type]
    expected = table.current()
    with table.stage("append3") as staging:
        record = stage_row(store, staging, 3)
        again = {"expected": expected, "kept": files(expected), "may_follow": lambda *_: True}
        with pytest.raises(Overtaken):
            table.publish(staging, record, **again)  # type: ignore[arg-type]
        sweeper = Interrupted(store, "read", "/leases/", lambda: table.publish(staging, record, **again))  # type: ignore[arg-type]
        monkeypatch.setattr(object_lease, "EXPIRY_SECONDS", -60)
        TableObjects(sweeper, path).sweep()  # type: ignore[arg-type]

    assert read(store, path, TableObjects(store, path).current()) == outsiders(store, path) == [1, 2, 3]
