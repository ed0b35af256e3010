"""Two servers on one PostgreSQL: they share what is registered and the queue, and nothing is run twice."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from mason.api.server.calls.call import Call
from mason.api.server.calls.call_queue import CallQueue
from mason.errors import StateFailed
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.models import Kind, RecordKind
from mason.state.postgres import PostgresStore
from mason.state.tokens import Scope, create_token, revoke_token
from mason.util.environment import MasonEnvironment
from tests.api.support import CallsInThreads, Server, children_of, is_alive, operator, prepared, until
from tests.conftest import Mason
from tests.postgres import Postgres, Wire

TOKEN = "a-token-of-the-administrator"


class Pair:
    """Two servers, each with a home of its own: all that they share is the database, and a disk with the data."""

    def __init__(self, folder: Path, address: str) -> None:
        first = prepared(folder / "work", folder / "one" / "home", address)
        second = Mason(first.folder, folder / "two" / "home", first.variables)
        second.home.parent.mkdir()
        self.address = address
        self.folder = first.folder
        self.servers = [Server(each, ("--jobs", "3"), {"MASON_TOKEN": TOKEN}) for each in (first, second)]

    def start(self) -> Pair:
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(Server.start, self.servers))
        return self

    def post(self, number: int, wait: float = 0, **body: object) -> httpx.Response:
        """Begin a call at one of the servers, by turns: one that takes so many seconds, or until there is a file."""
        server = self.servers[number % 2]
        headers = {"Authorization": f"Bearer {TOKEN}", "Idempotency-Key": str(body.get("word", number))}
        path, given = ("/api/test/until", body) if "file" in body else ("/api/test/sleep", {"seconds": 0, **body})
        return server.post(path, params={"wait": wait}, json=given, headers=headers)

    def store(self) -> PostgresStore:
        return PostgresStore(self.address)

    def status(self, job: str) -> str:
        record = self.store().get_record(RecordKind.CALL, job)
        return record.status if record else ""

    def stop(self) -> None:
        for each in self.servers:
            if each.process is not None and each.process.poll() is None:
                each.kill()


@pytest.fixture(scope="module")
def pair(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    made = Pair(tmp_path_factory.mktemp("pair"), postgres.new_database()).start()
    yield made
    made.stop()
    made.store().close()


def ended(store: PostgresStore, *statuses: str) -> bool:
    return not set(store.count_records(RecordKind.CALL)) - {*statuses}


def running_now(store: PostgresStore) -> set[str]:
    return {each.id for each in store.list_records(RecordKind.CALL, status="running")}


def words(file: Path) -> Counter[str]:
    return Counter(file.read_text().split() if file.exists() else [])


def test_two_servers_share_the_queue_and_run_nothing_twice(pair: Pair) -> None:
    file = pair.folder / "shared.txt"
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda number: pair.post(number, note=str(file), word=f"w{number}"), range(60)))
    assert {each.status_code for each in replies} <= {200, 202}

    store = pair.store()
    until(lambda: ended(store, "succeeded"), "every job is done")

    assert words(file) == {f"w{number}": 1 for number in range(60)}
    ran = Counter(each.document["Process"]["Pid"] for each in store.list_records(RecordKind.CALL, limit=1000))
    assert set(ran) == {each.process.pid for each in pair.servers if each.process}


def test_a_key_that_was_used_at_one_server_has_the_same_answer_at_the_other(pair: Pair) -> None:
    file = pair.folder / "key.txt"
    with ThreadPoolExecutor(8) as threads:
        replies = list(
            threads.map(lambda number: pair.post(number, wait=30, note=str(file), word="key", seconds=0.3), range(8))
        )

    assert [each.json()["Data"] for each in replies] == [[{"Slept": 0.3}]] * 8
    assert words(file) == {"key": 1}


def test_what_is_registered_or_allowed_at_one_is_so_at_the_other(pair: Pair) -> None:
    one, other = pair.servers
    folder = operator(
        pair.folder / "later",
        "test",
        "late",
        "resp.add_data({'Late': True})",
        swagger="paths:\n  /test/late:\n    get:\n",
    )
    env = MasonEnvironment.of(one.mason.environment())
    register(env, pair.store(), read_definitions(folder, [OPERATORS]).valid, replace=False)
    text = create_token(pair.store(), "reader", Scope.RUN)
    headers = {"Authorization": f"Bearer {text}"}

    until(lambda: other.get("/api/test/late", headers=headers).status_code == 200, "the other server knows both")
    revoke_token(pair.store(), "reader")
    until(lambda: other.get("/api/test/late", headers=headers).status_code == 401, "the token is worth nothing")


_PAUSE = 0.3
"""Between two calls of a caller: more than the servers can do would only have to be done in the end."""


class Load:
    """Callers who send one call after the other, each again and with the same key until it is accepted."""

    def __init__(self, pair: Pair, file: Path) -> None:
        self.replies: dict[str, list[int]] = {}
        self._pair, self._file = pair, file
        self._over = threading.Event()

    @contextmanager
    def sent(self, callers: int) -> Iterator[None]:
        with ThreadPoolExecutor(callers) as threads:
            senders = [threads.submit(self._send, number) for number in range(callers)]
            try:
                yield
            finally:
                self._over.set()
        for each in senders:
            each.result()

    def _send(self, number: int) -> None:
        for each in range(10_000):
            if self._over.is_set():
                return
            word = f"w{number}-{each}"
            statuses = self.replies.setdefault(word, [])
            while not statuses or statuses[-1] == 503:
                statuses.append(self._pair.post(number, note=str(self._file), word=word).status_code)
                if statuses[-1] == 503:
                    time.sleep(0.05)
                assert len(statuses) < 600
            time.sleep(_PAUSE)

    def go_on(self) -> None:
        """Wait until more of them were accepted."""
        before = len(self.replies)
        until(lambda: len(self.replies) > before + 20, "calls are accepted")


def test_a_restart_of_the_database_under_load_loses_nothing_and_repeats_nothing(pair: Pair, postgres: Postgres) -> None:
    load = Load(pair, pair.folder / "load.txt")
    with load.sent(callers=6):
        load.go_on()
        postgres.stop()
        postgres.start()  # nobody need have noticed
        load.go_on()
        began, go = pair.folder / "meanwhile.began", pair.folder / "meanwhile.go"
        ends_meanwhile = pair.post(
            0, note=str(pair.folder / "load.txt"), word="meanwhile", began=str(began), file=str(go)
        )
        job = ends_meanwhile.json()["Data"][0]["JobID"]
        until(began.exists, "it runs")
        postgres.stop()
        go.touch()
        until(lambda: "meanwhile" in words(pair.folder / "load.txt"), "it has done its work, and nobody can be told")
        refused = pair.post(1, word="refused")
        assert (refused.status_code, pair.servers[1].get("/readyz").status_code) == (503, 503)
        (error,) = refused.json()["Errors"]
        asked = refused.headers["X-Request-ID"]
        told = f"The state cannot be used. The server's log says more, under the request {asked}. Try again later."
        assert error == told, "nobody can tell whether whoever asks has a token, so that no address is told"
        (logged,) = [each for each in pair.servers[1].log_lines() if each.get("request") == asked and "message" in each]
        said = logged["message"]
        assert re.match(r"postgresql://127.0.0.1:\d+/test_\d+: .* (try again\.|Is it running, .*)$", said), said
        assert pair.servers[1].get("/healthz").status_code == 200
        until(lambda: sum(503 in each for each in load.replies.values()) >= 6, "nobody waits any longer")
        postgres.start()
        load.go_on()

    store = pair.store()
    until(lambda: ended(store, "succeeded"), "every job is done")
    assert words(pair.folder / "load.txt") == dict.fromkeys([*load.replies, "meanwhile"], 1)
    assert {status for statuses in load.replies.values() for status in statuses} <= {200, 202, 503}
    assert pair.status(job) == "succeeded"
    for server in pair.servers:
        assert server.get("/readyz").json() == {"status": "ok", "queued": 0, "running": 0}


def test_a_server_that_dies_leaves_what_waits_to_the_other_and_what_ran_is_lost(pair: Pair) -> None:
    """The last one of the pair: one of the servers does not come back."""
    file, go, store = pair.folder / "dies.txt", pair.folder / "dies.go", pair.store()
    long = [pair.post(0, note=str(file), word=f"long{number}", file=str(go)) for number in range(6)]
    until(lambda: store.count_records(RecordKind.CALL).get("running") == 6, "both servers are busy")
    running = store.list_records(RecordKind.CALL, status="running")
    waiting = [pair.post(0, note=str(file), word=f"short{number}") for number in range(6)]
    assert [each.status_code for each in (*long, *waiting)] == [202] * 12
    dying, living = pair.servers

    assert dying.process and living.process
    family = children_of(dying.process.pid)

    dying.kill()
    until(lambda: not any(map(is_alive, family)), "what it ran has ended with it")
    go.touch()

    of_dead = [each.id for each in running if each.document["Process"]["Pid"] == dying.process.pid]
    assert len(of_dead) == 3
    for job in of_dead:
        reply = living.get(f"/api/job/{job}", headers={"Authorization": f"Bearer {TOKEN}"})
        assert reply.json()["Data"][0]["Status"] == "lost"
    until(lambda: store.count_records(RecordKind.CALL, "queued") == {}, "what waited was run by the other")
    until(lambda: running_now(store) <= set(of_dead), "what it ran itself, too")
    ran = words(file)
    assert {word: ran.pop(word) for word in list(ran) if word.startswith("short")} == {
        f"short{number}": 1 for number in range(6)
    }
    assert sorted(ran.values()) == [1, 1, 1]


def test_a_job_of_another_machine_is_lost_when_its_server_shows_no_sign_of_life(database: str) -> None:
    store = PostgresStore(database)
    process = {"Host": "another machine", "Pid": os.getpid(), "Started": "1", "Lease": "server:there"}
    lease = store.acquire_lease("server:there", "there", 60)
    assert lease is not None
    store.add_record(RecordKind.CALL, "job", "running", {"Process": process})

    queue = CallQueue(store, CallsInThreads(), parallel=1, most_queued=1, lost_seconds=0.1)
    queue.start()

    time.sleep(0.6)  # it has looked by now
    assert store.count_records(RecordKind.CALL) == {"running": 1}
    store.release_lease(lease)
    until(lambda: store.count_records(RecordKind.CALL) == {"lost": 1}, "it is lost")
    queue.stop(0)


@pytest.mark.parametrize(
    "statement", [b"INSERT INTO records", b"UPDATE records", b"succeeded"], ids=["accepted", "claimed", "ended"]
)
def test_a_call_is_run_once_though_nobody_knows_what_was_written_when_the_database_went_away(
    postgres: Postgres, database: str, statement: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mason.state.postgres_connections._PATIENCE", 0.2)
    wire = Wire(postgres.port)
    store, calls = PostgresStore(database.replace(f":{postgres.port}", f":{wire.port}")), CallsInThreads()
    queue = CallQueue(store, calls, parallel=2, most_queued=10, lost_seconds=0.1)
    queue.start()
    wire.lose_answer_to(statement, stay_cut=True)
    call = Call(kind=Kind.OPERATOR, namespace="test", command="once")
    with suppress(StateFailed):  # as whoever asked would be told
        queue.add(call)

    until(lambda: wire.lost == 1, "an answer was lost")
    time.sleep(0.5)  # the patience is over
    wire.mend()

    until(lambda: PostgresStore(database).count_records(RecordKind.CALL) == {"succeeded": 1}, "it is done")
    queue.stop(5)
    assert calls.ran == [call.id]
    store.close()
    wire.close()


def test_without_its_database_a_server_does_not_start(mason: Mason) -> None:
    variables = {"MASON_STATE": "postgresql://mason:topsecret@127.0.0.1:1/mason"}
    began = time.monotonic()

    result = mason("run", "--port", "0", "--workers", "2", variables=variables)

    assert result.exit_code == 1
    assert result.stderr.strip() == (
        "error: postgresql://127.0.0.1:1/mason: Connection refused. Is it running, and is the address in `state` or "
        "MASON_STATE right?"
    )
    assert time.monotonic() - began < 20
