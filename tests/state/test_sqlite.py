"""The embedded state store: one file, made when it is needed, and told what is wrong with it."""

from __future__ import annotations

import multiprocessing
import sqlite3
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from mason.errors import StateFailed
from mason.state.home import open_state, read_state
from mason.state.models import Kind, Name
from mason.state.sqlite import MIGRATIONS, SqliteStore
from mason.util.environment import MasonEnvironment
from tests.state.test_store import new


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
        for statement in MIGRATIONS[0]:
            db.execute(statement)
        db.execute("PRAGMA user_version = 1")
    db.close()

    read_state(env).close()

    with sqlite3.connect(env.state_file) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    db.close()


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


def store_with_room_for(env: MasonEnvironment, pages: int) -> SqliteStore:
    open_state(env).close()
    store = SqliteStore(env.state_file)
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    return store


def test_processes_that_make_a_store_at_the_same_moment_all_get_one(tmp_path: Path) -> None:
    count, context = 8, multiprocessing.get_context("fork")
    with context.Pool(count, _meet_at, (context.Barrier(count),)) as processes:
        for number in range(100):
            processes.map(_make_together, [tmp_path / f"{number}.db"] * count, chunksize=1)


_barrier: Barrier


def _meet_at(barrier: Barrier) -> None:
    global _barrier
    _barrier = barrier


def _make_together(file: Path) -> None:
    _barrier.wait()
    SqliteStore(file).close()
