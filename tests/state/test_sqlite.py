"""The embedded state store keeps what it was given, whoever else is writing."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from mason.errors import AlreadyExists, AlreadyRegistered, Conflict, StateFailed
from mason.state.home import open_state, read_state
from mason.state.migrations import MIGRATIONS
from mason.state.models import Kind, Name, NewRegistration, Outcome, RecordKind, Registration, SavedConfiguration
from mason.state.sqlite import SqliteStore
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment

GET = Name(Kind.OPERATOR, "table", "get")


def new(name: Name = GET, digest: str = "a" * 64, content: bytes = b"x") -> NewRegistration:
    return NewRegistration(Registration(name, digest, {"command": name.command}, "somewhere"), {"__init__.py": content})


@pytest.fixture
def store(env: MasonEnvironment) -> Iterator[StateStore]:
    store = open_state(env)
    yield store
    store.close()


def test_a_registration_is_current_and_keeps_its_files(store: StateStore) -> None:
    assert store.register([new()], replace=False) == [Outcome.ADDED]

    (current,) = store.list_registrations(Kind.OPERATOR)
    assert (current.name, current.digest, current.current) == (GET, "a" * 64, True)
    assert store.get_files("a" * 64) == {"__init__.py": b"x"}


def test_the_same_registration_again_changes_nothing(store: StateStore) -> None:
    store.register([new()], replace=False)
    before = store.get_history(GET)

    assert store.register([new()], replace=True) == [Outcome.UNCHANGED]
    assert store.get_history(GET) == before


def test_other_content_is_refused_unless_it_may_replace(store: StateStore) -> None:
    store.register([new()], replace=False)

    with pytest.raises(AlreadyRegistered, match="table:get is registered with other content"):
        store.register([new(digest="b" * 64)], replace=False)
    assert store.register([new(digest="b" * 64)], replace=True) == [Outcome.REPLACED]
    assert [each.digest[0] for each in store.get_history(GET)] == ["b", "a"]


def test_one_refusal_refuses_the_whole_batch(store: StateStore) -> None:
    store.register([new()], replace=False)

    with pytest.raises(AlreadyRegistered):
        store.register([new(Name(Kind.OPERATOR, "table", "list")), new(digest="b" * 64)], replace=False)
    assert [each.name.command for each in store.list_registrations(Kind.OPERATOR)] == ["get"]


def test_an_earlier_version_can_be_made_current_again(store: StateStore) -> None:
    store.register([new()], replace=False)
    store.register([new(digest="b" * 64)], replace=True)

    store.set_current(GET, "a" * 64)

    assert [each.digest[0] for each in store.list_registrations(Kind.OPERATOR)] == ["a"]


def test_a_removed_name_takes_its_versions_and_files_along(store: StateStore) -> None:
    store.register([new(), new(Name(Kind.OPERATOR, "table", "list"), "c" * 64)], replace=False)

    store.remove_registration(GET)

    assert store.get_history(GET) == []
    assert store.get_files("a" * 64) == {}
    assert store.get_files("c" * 64) == {"__init__.py": b"x"}


def test_a_name_and_a_namespace_cannot_be_the_same_word(store: StateStore) -> None:
    store.register([new()], replace=False)

    with pytest.raises(AlreadyRegistered, match="have one name"):
        store.register([new(Name(Kind.OPERATOR, "", "table"), "d" * 64)], replace=True)


def test_configurations_are_kept_as_they_were_written(store: StateStore) -> None:
    store.save_configurations([SavedConfiguration("1", "id: 1 # mine\n", "a.yaml", "0.1.0")])
    store.set_current_configuration("1")

    (saved,) = store.list_configurations()
    assert (saved.id, saved.text, saved.source) == ("1", "id: 1 # mine\n", "a.yaml")
    assert store.get_current_configuration() == "1"


def test_a_record_is_added_once_and_changed_only_by_who_saw_its_last_version(store: StateStore) -> None:
    first = store.add_record(RecordKind.JOB, "j1", "queued", {"rows": 0})
    second = store.update_record(first, "running", {"rows": 10})

    with pytest.raises(AlreadyExists):
        store.add_record(RecordKind.JOB, "j1", "queued", {})
    with pytest.raises(Conflict, match="changed by another process"):
        store.update_record(first, "failed", {})
    assert store.get_record(RecordKind.JOB, "j1") == second
    assert store.get_record(RecordKind.RUN, "j1") is None


def test_records_are_listed_newest_first_by_status_and_page(store: StateStore) -> None:
    for number in range(5):
        store.add_record(RecordKind.JOB, f"j{number}", "queued" if number % 2 else "running", {})

    assert [each.id for each in store.list_records(RecordKind.JOB)] == ["j4", "j3", "j2", "j1", "j0"]
    assert [each.id for each in store.list_records(RecordKind.JOB, status="queued")] == ["j3", "j1"]
    assert [each.id for each in store.list_records(RecordKind.JOB, limit=2, offset=2)] == ["j2", "j1"]


def test_a_lease_has_one_holder_until_it_is_released_or_expires(store: StateStore) -> None:
    first = store.acquire_lease("out", "me", 60)
    assert first is not None
    assert store.acquire_lease("out", "you", 60) is None
    assert store.renew_lease(first, 60)

    store.release_lease(first)
    second = store.acquire_lease("out", "you", 0)
    assert second is not None and second.fence > first.fence
    third = store.acquire_lease("out", "me", 60)  # the second one expired at once
    assert third is not None and third.fence > second.fence
    assert not store.renew_lease(second, 60)


def test_reading_where_nothing_is_kept_creates_nothing(env: MasonEnvironment) -> None:
    assert read_state(env).list_registrations(Kind.OPERATOR) == []
    assert not env.home.exists()


def test_the_store_writes_ahead_where_the_file_system_allows_it(env: MasonEnvironment) -> None:
    open_state(env).close()
    with sqlite3.connect(env.state_file) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def test_a_store_of_a_newer_mason_is_refused(env: MasonEnvironment) -> None:
    open_state(env).close()
    with sqlite3.connect(env.state_file) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.close()

    for open_it in (open_state, read_state):
        with pytest.raises(StateFailed, match="made by a newer Mason"):
            open_it(env)


def test_an_older_store_is_migrated_also_by_a_reader(env: MasonEnvironment) -> None:
    env.home.mkdir()
    with sqlite3.connect(env.state_file) as db:
        db.execute("CREATE TABLE of_another_time (x)")
    db.close()

    read_state(env).close()

    with sqlite3.connect(env.state_file) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    db.close()


def test_an_empty_file_that_a_full_disk_left_behind_is_as_good_as_none(env: MasonEnvironment) -> None:
    env.home.mkdir()
    env.state_file.touch()

    assert read_state(env).list_registrations(Kind.OPERATOR) == []


def test_a_damaged_store_is_reported_with_its_name(env: MasonEnvironment) -> None:
    env.home.mkdir()
    env.state_file.write_bytes(b"this is not a database, whatever it is called" * 100)

    with pytest.raises(StateFailed, match=r"state\.db: file is not a database.*damaged"):
        read_state(env)


def test_a_full_store_says_so_and_keeps_what_it_had(env: MasonEnvironment) -> None:
    store = store_with_room_for(env, pages=40)
    store.register([new()], replace=False)

    with pytest.raises(StateFailed, match="full.*free some space"):
        store.register([new(Name(Kind.OPERATOR, "table", "big"), "b" * 64, b"x" * 1_000_000)], replace=False)
    assert [each.name.command for each in store.list_registrations(Kind.OPERATOR)] == ["get"]
    store.close()


def test_many_processes_register_at_once_and_none_is_lost(env: MasonEnvironment) -> None:
    processes = 8
    open_state(env).close()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        outcomes = pool.starmap(_register, [(env.home, number) for number in range(processes)])

    assert outcomes == [Outcome.ADDED] * processes
    assert len(read_state(env).list_registrations(Kind.OPERATOR)) == processes


def test_many_processes_want_a_lease_and_one_gets_it(env: MasonEnvironment) -> None:
    open_state(env).close()
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        got = pool.starmap(_acquire, [(env.home, f"p{number}") for number in range(16)])

    assert sum(got) == 1


def _register(home: Path, number: int) -> Outcome:
    store = open_state(MasonEnvironment(home))
    return store.register([new(Name(Kind.OPERATOR, "table", f"c{number}"), f"{number:064}")], replace=False)[0]


def _acquire(home: Path, owner: str) -> bool:
    return open_state(MasonEnvironment(home)).acquire_lease("out", owner, 60) is not None


def store_with_room_for(env: MasonEnvironment, pages: int) -> SqliteStore:
    open_state(env).close()
    store = SqliteStore(env.state_file)
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    return store
