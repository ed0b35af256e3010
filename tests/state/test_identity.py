"""No state is taken for a new one: what is left of one is called damaged, and an open one that is gone is missed."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from mason.errors import StateFailed
from mason.state.home import check_state, open_state, pin_state, read_state
from mason.state.models import Kind, RecordKind
from mason.state.postgres import PostgresStore
from mason.state.sqlite import MIGRATIONS, SqliteStore
from mason.state.store import StateStore
from mason.util.environment import STATE_ID_VARIABLE, MasonEnvironment
from tests.conftest import PROJECT, Mason
from tests.postgres import Postgres


@pytest.fixture(autouse=True)
def unpinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test pins in this process is forgotten with it."""
    for name in (STATE_ID_VARIABLE, "MASON_HOME", "MASON_STATE"):
        monkeypatch.setenv(name, "")


def pinned(env: MasonEnvironment) -> MasonEnvironment:
    """Return the environment as a server has it that opened the state."""
    return replace(env, state_id=pin_state(env))


class TestWhatIsFoundInItsPlace:
    @pytest.mark.parametrize("open_it", [open_state, read_state])
    def test_an_empty_file_is_a_damaged_state_and_no_new_one(self, env: MasonEnvironment, open_it: object) -> None:
        env.home.mkdir()
        env.state_file.touch()

        with pytest.raises(StateFailed, match=r"state\.db is empty: .*damaged.*Restore it from a backup"):
            open_it(env)  # type: ignore[operator]
        assert env.state_file.stat().st_size == 0

    @pytest.mark.parametrize("open_it", [open_state, read_state])
    def test_a_file_without_its_tables_is_a_damaged_state_and_no_new_one(
        self, env: MasonEnvironment, open_it: object
    ) -> None:
        env.home.mkdir()
        with sqlite3.connect(env.state_file) as db:
            db.execute("CREATE TABLE of_somebody_else (x)")
        db.close()

        with pytest.raises(StateFailed, match=r"state\.db has none of Mason's tables: .*damaged"):
            open_it(env)  # type: ignore[operator]
        with sqlite3.connect(env.state_file) as db:
            assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("of_somebody_else",)]
        db.close()

    @pytest.mark.parametrize("open_it", [open_state, read_state])
    def test_a_log_without_its_file_is_a_state_that_is_gone(self, env: MasonEnvironment, open_it: object) -> None:
        store = open_state(env)
        store.add_record(RecordKind.JOB, "j", "succeeded", {})
        env.state_file.unlink()

        with pytest.raises(StateFailed, match=r"state\.db is gone, and its log state\.db-wal is still there"):
            open_it(env)  # type: ignore[operator]
        assert not env.state_file.exists()
        store.close()

    def test_a_link_to_nothing_is_a_state_that_is_not_mounted(self, env: MasonEnvironment, tmp_path: Path) -> None:
        env.home.mkdir()
        env.state_file.symlink_to(tmp_path / "disk" / "state.db")

        for open_it in (open_state, read_state):
            with pytest.raises(StateFailed, match=r"state\.db is a link to .*disk/state\.db, which is not there"):
                open_it(env)

    def test_a_folder_in_its_place_is_one_clear_message(self, mason: Mason) -> None:
        (mason.home / "state.db").mkdir(parents=True)

        for command in (["operator"], ["token", "create", "--name", "a"], ["run", "--port", "0"]):
            result = mason(*command)

            assert (result.exit_code, result.stderr.count("\n")) == (1, 1), result.stderr
            assert "home/state.db is a folder, and should be the file with Mason's state." in result.stderr
            assert "Move it away, or choose another MASON_HOME." in result.stderr

    def test_what_is_no_file_at_all_is_named_and_nobody_waits_for_it(self, mason: Mason) -> None:
        mason.home.mkdir()
        os.mkfifo(mason.home / "state.db")

        result = mason("operator")

        assert result.exit_code == 1
        assert "home/state.db is not a file" in result.stderr


class TestANewOne:
    def test_a_new_state_that_could_not_be_made_whole_is_not_there(self, env: MasonEnvironment) -> None:
        env.home.mkdir()
        script = "import sys; from pathlib import Path; from mason.state.sqlite import SqliteStore; "
        done = subprocess.run(
            [sys.executable, "-c", f"{script}SqliteStore(Path({str(env.state_file)!r}))"],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            preexec_fn=_write_little,
            check=False,
        )

        assert done.returncode == 1
        assert "StateFailed" in done.stderr
        assert list(env.home.iterdir()) == []
        open_state(env).close()

    def test_it_is_for_its_owner_alone_and_leaves_nothing_beside_it(self, env: MasonEnvironment) -> None:
        open_state(env).close()

        assert stat.S_IMODE(env.state_file.stat().st_mode) == 0o600
        assert [each.name for each in env.home.iterdir() if each.is_file()] == ["state.db"]

    def test_where_no_file_has_two_names_it_is_renamed_into_place(
        self, env: MasonEnvironment, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "link", _no_links)

        first = open_state(env)
        first.add_record(RecordKind.JOB, "j", "succeeded", {})

        assert open_state(env).get_record(RecordKind.JOB, "j")
        assert [each.name for each in env.home.glob(".state.db*")] == []

    def test_an_older_state_gets_an_id_and_keeps_what_it_has(self, env: MasonEnvironment) -> None:
        env.home.mkdir()
        with sqlite3.connect(env.state_file) as db:
            for statement in MIGRATIONS[0]:
                db.execute(statement)
            db.execute("INSERT INTO settings VALUES ('current_configuration', 'aws')")
            db.execute("PRAGMA user_version = 1")
        db.close()

        reader = read_state(env)

        assert reader.get_current_configuration() == "aws"
        assert len(reader.get_id()) == 32
        assert open_state(env).get_id() == reader.get_id()


class TestAnOpenOne:
    def test_it_misses_its_file(self, env: MasonEnvironment) -> None:
        store = open_state(env)
        shutil.rmtree(env.home)

        assert_nothing_works(store, "is gone")
        assert not env.home.exists()

    def test_it_misses_what_was_in_its_file(self, env: MasonEnvironment) -> None:
        store = open_state(env)
        os.truncate(env.state_file, 0)

        assert_nothing_works(store, "is empty")

    def test_it_takes_no_other_file_for_its_own(self, env: MasonEnvironment, tmp_path: Path) -> None:
        other = MasonEnvironment(tmp_path / "other")
        open_state(other).close()
        store = open_state(env)
        other.state_file.replace(env.state_file)

        assert_nothing_works(store, "was replaced")


class TestThePinnedOne:
    def test_it_is_not_made_anew_when_it_is_gone(self, env: MasonEnvironment) -> None:
        server = pinned(env)
        shutil.rmtree(env.home)

        for look in (open_state, read_state, check_state):
            with pytest.raises(StateFailed, match=r"state\.db is gone: a server uses the state that was there"):
                look(server)
        assert not env.home.exists()

    def test_another_one_in_its_place_is_refused(self, env: MasonEnvironment, tmp_path: Path) -> None:
        server = pinned(env)
        other = MasonEnvironment(tmp_path / "other")
        open_state(other).close()
        env.state_file.write_bytes(other.state_file.read_bytes())  # in place: the file is the same, its content is not

        for look in (open_state, read_state, check_state):
            with pytest.raises(StateFailed, match=r"state\.db is another state than the one that the server opened"):
                look(server)

    def test_what_it_starts_is_told_and_another_home_is_not_concerned(self, env: MasonEnvironment) -> None:
        server = pinned(env)

        told = MasonEnvironment.of(server.variables)
        elsewhere = MasonEnvironment.of({**server.variables, "MASON_HOME": "/elsewhere"})

        assert told.state_id == server.state_id != ""
        assert elsewhere.state_id == ""

    def test_a_database_whose_tables_were_dropped_is_not_filled_anew(
        self, env: MasonEnvironment, database: str, postgres: Postgres
    ) -> None:
        server = pinned(replace(env, state=database))
        postgres.execute(database, "DROP SCHEMA mason CASCADE")

        with pytest.raises(StateFailed):
            check_state(server)
        done = _in_a_process(server, "open_state")
        assert "is gone: a server uses the state that was there" in done.stderr
        with pytest.raises(StateFailed):  # there is still none
            PostgresStore(database).list_registrations(Kind.OPERATOR)

    def test_another_state_in_the_database_is_refused(
        self, env: MasonEnvironment, database: str, postgres: Postgres
    ) -> None:
        server = pinned(replace(env, state=database))
        postgres.execute(database, "UPDATE mason.identity SET id = 'another'")

        with pytest.raises(StateFailed, match="is another state than the one that the server opened"):
            check_state(server)
        assert "is another state than the one" in _in_a_process(server, "open_state").stderr


def assert_nothing_works(store: StateStore, message: str) -> None:
    with pytest.raises(StateFailed, match=message):
        store.get_changes()
    with pytest.raises(StateFailed, match=message):
        store.list_registrations(Kind.OPERATOR)
    with pytest.raises(StateFailed, match=message):
        store.add_record(RecordKind.JOB, "j", "running", {})
    store.close()


def _in_a_process(env: MasonEnvironment, function: str) -> subprocess.CompletedProcess[str]:
    script = f"from mason.state.home import *; from mason.util.environment import *; {function}(MasonEnvironment.of())"
    variables = {**os.environ, **env.variables, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(
        [sys.executable, "-c", script], env=variables, capture_output=True, text=True, timeout=60, check=False
    )


def _write_little() -> None:
    """Make every file end after some kilobytes, as a full disk would."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def _no_links(*_: object, **__: object) -> NoReturn:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def test_the_store_is_made_by_whoever_comes_first(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "state.db").close()
    before = SqliteStore(tmp_path / "state.db").get_id()

    assert SqliteStore(tmp_path / "state.db").get_id() == before
