"""PostgreSQL as the state store: how it is chosen, what is said when it is wrong, and what a restart does to it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from mason.errors import AlreadyExists, InvalidConfiguration, MissingDependency, StateFailed
from mason.state.address import state_address
from mason.state.home import open_run_state, open_state, read_state
from mason.state.models import Record, RecordKind, SavedConfiguration
from mason.state.postgres import PostgresStore
from mason.state.postgres_connections import MIGRATIONS, MOST_CONNECTIONS
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from tests.postgres import PASSWORD, Postgres, Wire

WRITTEN = "a%20p%40ss%2Fword"


def settle(env: MasonEnvironment, text: str) -> MasonEnvironment:
    env.home.mkdir(exist_ok=True)
    env.settings_file.write_text(text)
    return env


class TestWhichStore:
    def test_without_a_word_it_is_the_file(self, env: MasonEnvironment) -> None:
        assert state_address(env) == ""
        assert state_address(settle(env, "# nothing yet\n")) == ""

    def test_settings_yaml_names_it_with_a_password_from_the_environment(
        self, env: MasonEnvironment, database: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STATE_PASSWORD", PASSWORD)
        settle(env, f"state: {database.replace(WRITTEN, '{{ STATE_PASSWORD }}')}\n")

        for open_it in (open_state, read_state, open_run_state):
            assert isinstance(open_it(env), PostgresStore)
        assert not env.state_file.exists()

    def test_the_environment_wins_and_a_file_env_has_what_it_does_not_say(self, env: MasonEnvironment) -> None:
        settle(env, "state: postgresql://one/a\n")
        (env.home / ".env").write_text("WHOLE='postgres://u:p%40@two/b'\n")
        variables = {"MASON_HOME": str(env.home), "MASON_STATE": "{{WHOLE}}"}

        assert state_address(MasonEnvironment.of(variables)) == "postgres://u:p%40@two/b"

    def test_a_process_that_is_started_for_this_one_has_the_same_state(self, env: MasonEnvironment) -> None:
        there = replace(env, state="postgresql://one/a")

        assert MasonEnvironment.of(there.variables) == there
        assert "postgresql" not in repr(there)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("stat: postgresql://h/d\n", r'settings\.yaml:1: stat: "stat" is not a setting\. Did you mean "state"\?'),
            ("- state\n", "not a list of keys"),
            ("state: [1]\n", r"settings\.yaml: state is not an address of a state store\. It is postgresql://"),
            ("state: redis://u:topsecret@h/0\n", r"settings\.yaml: state is not an address of a state store"),
            ("state: postgresql://u:{{NOT_SET}}@h/d\n", r"state: the variable NOT_SET is not set"),
            ("state: postgresql://u:{{secret:file:x}}@h/d\n", r"\{\{secret:file:x\}\} is not the name of a variable"),
            ("state: postgresql://u:top secret@h/d?sslmode\n", "address of the state store cannot be read"),
            ("state: {a\n", r"settings\.yaml:2: broken YAML"),
        ],
    )
    def test_what_is_wrong_with_it_is_told_without_its_password(
        self, env: MasonEnvironment, text: str, message: str
    ) -> None:
        with pytest.raises(InvalidConfiguration, match=message) as caught:
            open_state(settle(env, text))
        assert "secret@" not in str(caught.value)

    def test_a_missing_extra_says_what_to_install(self, env: MasonEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "mason.state.postgres")
        monkeypatch.setitem(sys.modules, "psycopg", None)

        with pytest.raises(MissingDependency, match=r"pip install 'mason-data\[postgres\]'"):
            open_state(replace(env, state="postgresql://h/d"))


class TestWhatIsWrong:
    @pytest.mark.parametrize(
        ("before", "after", "message"),
        [
            ("/test_", "/nothing_", r'database "nothing_\d+" does not exist\. Make the database first'),
            (WRITTEN, "topsecret", r"password authentication failed .* Check the user and the password"),
            ("mason:", "nobody:", r"password authentication failed .* Check the user and the password"),
            (WRITTEN, "p@topsecret", "address of the state store cannot be read"),
            (WRITTEN, "p/topsecret", "address of the state store cannot be read"),
            (WRITTEN, "12/topsecret", "address of the state store cannot be read"),
            (WRITTEN, "12%topsecret", "address of the state store cannot be read"),
        ],
    )
    def test_who_cannot_enter_is_told_why(self, database: str, before: str, after: str, message: str) -> None:
        with pytest.raises((StateFailed, InvalidConfiguration), match=message) as caught:
            PostgresStore(database.replace(before, after))
        assert "topsecret" not in str(caught.value) and WRITTEN not in str(caught.value)

    def test_a_server_that_is_not_there_is_one_message_at_once(self, database: str, postgres: Postgres) -> None:
        began = time.monotonic()
        with pytest.raises(
            StateFailed, match=r"^postgresql://127\.0\.0\.1:1/test_\d+: Connection refused\. Is it running"
        ):
            PostgresStore(database.replace(f":{postgres.port}", ":1"))
        assert time.monotonic() - began < 5

    def test_a_user_who_may_make_nothing_is_told_what_is_needed(self, database: str, postgres: Postgres) -> None:
        postgres.execute(database, "CREATE ROLE reader LOGIN PASSWORD 'reads'")

        with pytest.raises(StateFailed, match="permission denied .*needs CREATE on the database"):
            PostgresStore(database.replace(f"mason:{WRITTEN}", "reader:reads"))

    def test_a_store_of_a_newer_mason_is_refused(self, database: str, postgres: Postgres) -> None:
        PostgresStore(database).close()
        postgres.execute(database, f"INSERT INTO mason.schema_version VALUES ({len(MIGRATIONS) + 1})")

        with pytest.raises(StateFailed, match="made by a newer Mason"):
            PostgresStore(database + "?application_name=another")  # as another process would

    def test_tables_of_others_in_the_database_are_not_in_the_way(self, database: str, postgres: Postgres) -> None:
        postgres.execute(database, "CREATE TABLE records (mine TEXT)")

        PostgresStore(database).add_record(RecordKind.JOB, "j", "queued", {})

        with psycopg.connect(database) as connection:
            assert connection.execute("SELECT count(*) FROM public.records").fetchone() == (0,)


def test_many_threads_need_few_connections(database: str) -> None:
    store = PostgresStore(database)
    with ThreadPoolExecutor(32) as threads:
        list(threads.map(lambda number: store.add_record(RecordKind.JOB, str(number), "queued", {}), range(200)))

    with psycopg.connect(database) as connection:
        open_now = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'mason' AND datname = current_database()"
        ).fetchone()
    assert open_now is not None and 1 <= open_now[0] <= MOST_CONNECTIONS


def test_while_the_server_is_down_every_call_says_so_and_later_none(postgres: Postgres, database: str) -> None:
    store = PostgresStore(database)
    store.add_record(RecordKind.JOB, "j", "queued", {})
    postgres.stop()
    try:
        for _ in range(3):
            with pytest.raises(StateFailed, match="Is it running"):
                store.get_record(RecordKind.JOB, "j")
    finally:
        postgres.start()

    assert wait_for(store, "j").status == "queued"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["restarted", "crashed"])
def test_what_was_said_to_be_written_is_there_after_a_restart_and_nothing_twice(
    postgres: Postgres, database: str, how: signal.Signals
) -> None:
    store, over = PostgresStore(database), threading.Event()
    counted_so_far = dict.fromkeys((f"j{number}" for number in range(6)), 0)

    def count(name: str) -> tuple[Record, int]:
        """Add one to a record again and again; return it as it was last said to be, and how often that failed."""
        record, failures = store.add_record(RecordKind.JOB, name, "running", {"Count": 0}), 0
        while not over.is_set():
            try:
                record = store.update_record(record, "running", {"Count": record.document["Count"] + 1})
                counted_so_far[name] = record.document["Count"]
            except StateFailed:
                failures += 1
                record = wait_for(store, name)
        return record, failures

    def go_on() -> None:
        """Wait until all of them have counted on."""
        aims = {name: count + 10 for name, count in counted_so_far.items()}
        end = time.monotonic() + 60
        while any(counted_so_far[name] < aim for name, aim in aims.items()):
            assert time.monotonic() < end, counted_so_far
            time.sleep(0.01)

    with ThreadPoolExecutor(6) as threads:
        counting = [threads.submit(count, name) for name in counted_so_far]
        try:
            for _ in range(2):
                go_on()
                postgres.stop(how)
                postgres.start()
            go_on()
        finally:
            over.set()
        counted = [each.result(60) for each in counting]

    for record, failures in counted:
        assert store.get_record(RecordKind.JOB, record.id) == record
        assert record.version == record.document["Count"] + 1
        assert failures <= 2 and record.version > 20


def wait_for(store: StateStore, name: str) -> Record:
    """Return a record as soon as the server is back."""
    end = time.monotonic() + 30
    while True:
        try:
            found = store.get_record(RecordKind.JOB, name)
            assert found is not None
            return found
        except StateFailed:
            assert time.monotonic() < end
            time.sleep(0.05)


def test_two_processes_make_the_tables_at_once(database: str) -> None:
    """Each address is a process of its own to Mason: none waits for the other before it asks the server."""
    addresses = [f"{database}?application_name=mason{number}" for number in range(6)]
    with ThreadPoolExecutor(6) as threads:
        stores = list(threads.map(PostgresStore, addresses))

    assert stores[0].list_digests() == set()
    for each in stores:
        each.close()


def test_a_file_and_a_server_sort_the_same(tmp_path: Path, database: str) -> None:
    """Whatever the language of the machine that the server is on."""
    written = [SavedConfiguration(name, "", "", "") for name in ("b", "B", "ä", "a", "A", "_", "1")]
    read = []
    for env in (MasonEnvironment(tmp_path / "file"), MasonEnvironment(tmp_path / "server", state=database)):
        open_state(env).save_configurations(written)
        read.append([each.id for each in read_state(env).list_configurations()])

    assert read[0] == read[1] == ["1", "A", "B", "_", "a", "b", "ä"]


def test_an_answer_that_is_lost_on_its_way_is_asked_for_again_and_nothing_is_done_twice(
    postgres: Postgres, database: str
) -> None:
    wire = Wire(postgres.port)
    store = PostgresStore(database.replace(f":{postgres.port}", f":{wire.port}"))

    wire.lose_answer_to(b"INSERT INTO records")
    record = store.add_record(RecordKind.JOB, "j", "queued", {})
    wire.lose_answer_to(b"UPDATE records")
    record = store.update_record(record, "running", {})
    wire.lose_answer_to(b"FROM records")
    assert store.get_record(RecordKind.JOB, "j") == record
    wire.lose_answer_to(b"INSERT INTO records")
    with pytest.raises(AlreadyExists):
        store.add_record(RecordKind.JOB, "j", "queued", {"Other": True})

    assert record.version == 2 and wire.lost == 4
    store.close()
    wire.close()
