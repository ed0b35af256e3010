"""The commit on a store without rename: the old table or the new one, whoever dies when, and whoever else writes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

import mason.pipeline.tables.object_lease as object_lease
from mason.clients.s3.connection import S3Connection
from mason.clients.s3.objects import S3Objects
from mason.errors import BadPath, ClientFailed, Conflict, Unsupported
from mason.pipeline.storage.object_store import StoredObject
from mason.pipeline.tables.commit import CommitRecord, CommittedFile
from mason.pipeline.tables.objects import TableObjects
from mason.pipeline.tables.room import room_of
from tests.seaweed import Seaweed

CHANGING = ("write", "write_new", "rewrite", "copy", "delete")


@pytest.fixture
def store(seaweed: Seaweed) -> S3Objects:
    return S3Objects(S3Connection.of(seaweed.configuration()).client())


@pytest.fixture
def path(bucket: str) -> str:
    return f"{bucket}/{uuid4().hex}/orders"


class Killed(BaseException):
    """What a process that is dead would say."""


class Mortal:
    """A store that a process uses which dies at its n-th change, before or after that took effect.

    From then on nothing it does, cleaning up included, reaches the store: that is what being dead is.
    """

    def __init__(self, store: S3Objects, at: int, *, after: bool) -> None:
        self._store, self._left, self._after = store, at, after
        self.dead = False
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)

        def call(*arguments: Any) -> Any:
            with self._lock:
                if self.dead:
                    raise Killed
                if name not in CHANGING:
                    return real(*arguments)
                self._left -= 1
                self.dead = self._left < 0
                if self.dead and not self._after:
                    raise Killed
                done = real(*arguments)
                if self.dead:
                    raise Killed
                return done

        return call


def write(store: Any, path: str, rows: Iterable[int], job: str = "", table: TableObjects | None = None) -> CommitRecord:
    """Replace the table by files of one row each."""
    job = job or uuid4().hex[:12]
    table = table or TableObjects(store, path)
    expected = table.current()
    with table.stage(job) as staging:
        files = []
        for row in rows:
            name = f"year=2026/part-{job}-{row}.parquet"
            store.write(f"{staging}/{name}", str(row).encode())
            files.append(CommittedFile(name, 1, len(str(row))))
        store.write(f"{staging}/.mason/quarantine/{job}-0.rejects", b"{}\n")
        record = CommitRecord(job, 0, None, job, files, len(files), 1, "")
        return table.publish(staging, record, expected=expected)


def read(store: S3Objects, path: str, record: CommitRecord | None) -> list[int]:
    """Return the rows of a version, as Mason reads them."""
    contents = [store.read(each.place_in(path)) for each in (record.files if record else ())]
    assert None not in contents, "a file of the version is gone"
    return sorted(int(content[0]) for content in contents if content)


def outsiders(store: S3Objects, path: str) -> list[int]:
    """Return the rows that somebody sees who lists the prefix."""
    found = [each.path for each in store.below(path) if "/_" not in each.path[len(path) :]]
    return sorted(int(content[0]) for each in found if (content := store.read(each)))


def below(store: S3Objects, folder: str) -> set[str]:
    """Return the names directly below a folder of Mason's own."""
    return {each.path[len(folder) + 1 :].partition("/")[0] for each in store.below(folder)}


def check_tidy(store: S3Objects, path: str) -> None:
    """Check that others see what Mason sees, and that nothing is left of a job that did not commit."""
    table = TableObjects(store, path)
    assert outsiders(store, path) == read(store, path, table.current())
    assert below(store, f"{room_of(path)}/data") == {each.id for each in table.history()}
    assert below(store, f"{room_of(path)}/leases") == set()
    current = table.current()
    assert [each.rpartition("/")[2] for each in table.quarantine()] == ([f"{current.id}-0.rejects"] if current else [])


def test_a_version_is_read_by_mason_and_by_others(store: S3Objects, path: str) -> None:
    record = write(store, path, [1, 2, 3])

    current = TableObjects(store, path).current()
    assert current is not None
    assert (current.id, current.files) == (record.id, record.files)
    assert read(store, path, record) == [1, 2, 3]
    check_tidy(store, path)


def test_a_reader_of_the_old_version_is_not_disturbed_by_the_new_one(store: S3Objects, path: str) -> None:
    old = write(store, path, [1, 2, 3])

    new = write(store, path, [4])

    assert read(store, path, old) == [1, 2, 3]
    assert read(store, path, new) == [4]
    assert (new.number, new.parent) == (2, old.id)
    check_tidy(store, path)


def test_files_that_are_kept_are_shown_on(store: S3Objects, path: str) -> None:
    old = write(store, path, [1, 2])
    table = TableObjects(store, path)

    with table.stage("adding") as staging:
        store.write(f"{staging}/part-adding-3.parquet", b"3")
        record = CommitRecord("adding", 0, None, "adding", [CommittedFile("part-adding-3.parquet", 1, 1)], 1, 0, "")
        table.publish(staging, record, expected=old, kept=old.files)

    assert outsiders(store, path) == read(store, path, table.current()) == [1, 2, 3]


def test_what_was_at_the_prefix_before_makes_room_and_is_kept(store: S3Objects, path: str) -> None:
    store.write(f"{path}/year=2025/theirs.parquet", b"7")

    record = write(store, path, [1])

    assert outsiders(store, path) == [1]
    assert store.read(f"{room_of(path)}/kept/{record.id}/year=2025/theirs.parquet.kept") is not None


def test_a_prefix_with_tables_below_it_and_a_whole_bucket_do_not_become_tables(store: S3Objects, path: str) -> None:
    write(store, f"{path}/deep/one", [1])
    write(store, f"{path}/two", [2])

    with pytest.raises(BadPath, match="there are tables in it: deep/one, two"):
        write(store, path, [3])
    with pytest.raises(BadPath, match="it is a whole bucket"):
        write(store, path.partition("/")[0], [3])

    for name, rows in (("deep/one", [1]), ("two", [2])):
        assert read(store, f"{path}/{name}", TableObjects(store, f"{path}/{name}").current()) == rows
        check_tidy(store, f"{path}/{name}")


def test_a_job_that_fails_leaves_nothing(store: S3Objects, path: str) -> None:
    write(store, path, [1])
    table = TableObjects(store, path)

    with pytest.raises(ZeroDivisionError), table.stage("failing") as staging:
        store.write(f"{staging}/part-failing-2.parquet", b"2")
        raise ZeroDivisionError

    check_tidy(store, path)


def test_of_many_writers_at_once_one_wins_and_the_others_leave_nothing(store: S3Objects, path: str) -> None:
    write(store, path, [0])
    ready = threading.Barrier(6)
    outcomes: list[str] = []

    def replace(number: int) -> None:
        table = TableObjects(store, path)
        expected = table.current()
        job = f"writer{number}"
        try:
            with table.stage(job) as staging:
                store.write(f"{staging}/part-{job}.parquet", str(number).encode())
                store.write(f"{staging}/.mason/quarantine/{job}-0.rejects", b"{}\n")
                files = [CommittedFile(f"part-{job}.parquet", 1, 1)]
                ready.wait(30)
                table.publish(staging, CommitRecord(job, 0, None, job, files, 1, 1, ""), expected=expected)
            outcomes.append("won")
        except Conflict:
            outcomes.append("lost")

    threads = [threading.Thread(target=replace, args=[number]) for number in range(1, 7)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)

    assert sorted(outcomes) == ["lost"] * 5 + ["won"]
    assert [each.number for each in TableObjects(store, path).history()] == [2, 1]
    check_tidy(store, path)


def deaths(store: S3Objects, path: str, kill: Callable[[Mortal], None]) -> Iterator[None]:
    """Let a job die at each of its changes in turn, and give the table over to be looked at after each."""
    for at in range(200):
        for after in (False, True):
            mortal = Mortal(store, at, after=after)
            try:
                kill(mortal)
            except Killed:
                yield
            else:
                return
    raise AssertionError("the job never came to its end")


def check_deaths(store: S3Objects, path: str, publish: Callable[[Any, str, list[int]], object]) -> int:
    """Kill a replace at every moment; after each death the next command must find one whole table, and tidy up."""
    write(store, path, [1, 2])
    died = 0
    rows = iter(range(10, 10_000, 10))
    wanted: list[int] = []

    def kill(mortal: Mortal) -> None:
        first = next(rows)
        wanted[:] = [first, first + 1]
        publish(mortal, path, list(wanted))

    before = [1, 2]
    for _ in deaths(store, path, kill):
        died += 1
        found = read(store, path, TableObjects(store, path).current())
        assert found in (before, wanted), "neither the old table nor the new one"
        TableObjects(store, path).sweep()
        assert outsiders(store, path) == found
        before = [died]
        write(store, path, before)
        TableObjects(store, path).sweep()
        check_tidy(store, path)
    return died


def test_death_at_any_moment_leaves_the_old_table_or_the_new(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_lease, "EXPIRY_SECONDS", -60)

    assert check_deaths(store, path, write) >= 20


def test_the_deaths_catch_a_commit_that_is_not_atomic(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_lease, "EXPIRY_SECONDS", -60)

    def broken(mortal: Any, table: str, rows: list[int]) -> None:
        old = TableObjects(mortal, table).current()
        mortal.delete([each.place_in(table) for each in old.files] if old else [])
        write(mortal, table, rows)

    with pytest.raises(AssertionError, match="a file of the version is gone"):
        check_deaths(store, path, broken)


def test_a_job_that_was_taken_for_dead_cannot_commit(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = write(store, path, [1])
    slow = TableObjects(store, path)

    with pytest.raises(Conflict), slow.stage("slow") as staging:
        store.write(f"{staging}/part-slow.parquet", b"2")
        monkeypatch.setattr(object_lease, "EXPIRY_SECONDS", -60)
        TableObjects(store, path).sweep()
        monkeypatch.undo()
        slow.publish(
            staging,
            CommitRecord("slow", 0, None, "slow", [CommittedFile("part-slow.parquet", 1, 1)], 1, 0, ""),
            expected=old,
        )

    check_tidy(store, path)


def test_a_job_that_lives_is_not_swept(store: S3Objects, path: str) -> None:
    table = TableObjects(store, path)

    with table.stage("living") as staging:
        store.write(f"{staging}/part-living.parquet", b"5")
        TableObjects(store, path).sweep()
        record = CommitRecord("living", 0, None, "living", [CommittedFile("part-living.parquet", 1, 1)], 1, 0, "")
        table.publish(staging, record, expected=None)

    assert outsiders(store, path) == [5]


class Slow(S3Objects):
    """A store that copies only when it is told to, as one does that has very much to copy."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.copying, self.go_on = threading.Event(), threading.Event()

    def copy(self, source: str, target: str) -> None:
        self.copying.set()
        assert self.go_on.wait(30)
        super().copy(source, target)


class Later(S3Objects):
    """A store as it is seen long after the last commit; whoever lives has renewed the lease since."""

    def below(self, folder: str) -> Iterator[StoredObject]:
        for each in super().below(folder):
            yield replace(each, age_seconds=10_000) if "/commits/" in each.path else each


def test_a_reader_leaves_a_version_to_its_writer_who_is_still_copying(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_lease, "BEAT_SECONDS", 0.05)
    slow, lease = Slow(store._client), f"{room_of(path)}/leases/writer.lease"
    reader = TableObjects(Later(store._client), path)
    writer = threading.Thread(target=write, args=[slow, path, [1, 2], "writer"])
    writer.start()
    try:
        assert slow.copying.wait(30)
        first = beats(store, lease)
        until(lambda: beats(store, lease) > first)

        assert not reader.settle()
        assert outsiders(store, path) == []
    finally:
        slow.go_on.set()
        writer.join(30)
    assert reader.settle()
    check_tidy(store, path)


def test_a_reader_finishes_what_a_writer_that_is_gone_has_begun_to_show(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = f"{room_of(path)}/leases/writer.lease"
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(S3Objects, "copy", lambda *_: die())
        write(store, path, [1, 2], "writer")
    reader = TableObjects(Later(store._client), path)
    assert beats(store, lease) > 0
    assert not reader.settle(), "its lease is young"

    monkeypatch.setattr("mason.pipeline.tables.objects.EXPIRY_SECONDS", -60)
    monkeypatch.setattr(object_lease, "EXPIRY_SECONDS", -60)
    assert reader.settle()
    check_tidy(store, path)


def die() -> None:
    raise Killed


def beats(store: S3Objects, lease: str) -> int:
    """Return how often a lease was renewed whose job is publishing."""
    found = store.read(lease)
    assert found is not None
    told = json.loads(found[0])
    assert told["state"] == "publishing"
    return int(told["beats"])


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


class Forgetful(S3Objects):
    """A store whose answer to a commit is lost: it was written, and nobody knows."""

    def write_new(self, path: str, content: bytes) -> str | None:
        tag = super().write_new(path, content)
        if "/commits/" in path:
            raise ClientFailed("The connection was closed.")
        return tag


def test_a_commit_whose_answer_is_lost_stands_and_is_finished(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, path, [1])

    with pytest.raises(ClientFailed):
        write(Forgetful(store._client), path, [2])

    assert read(store, path, TableObjects(store, path).current()) == [2]
    monkeypatch.setattr(object_lease, "EXPIRY_SECONDS", -60)
    TableObjects(store, path).sweep()
    check_tidy(store, path)


class Careless(S3Objects):
    """A store that takes conditions for decoration."""

    _kept_conditions: dict[tuple[str, str], bool] = {}

    def _write_if(self, path: str, content: bytes, condition: object) -> str | None:
        self.write(path, content)
        found: StoredObject | None = self.find(path)
        return found.tag if found else None


def test_a_store_without_conditional_writes_is_refused(store: S3Objects, path: str) -> None:
    with pytest.raises(Unsupported, match="without conditional writes"):
        write(Careless(store._client), path, [1])

    assert list(store.below(path)) == []
