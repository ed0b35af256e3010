"""The connections of this process to a PostgreSQL: a few, kept open, and replaced when the server was restarted.

The schema is the steps that lead to it. A step that was released is never changed.
"""

from __future__ import annotations

import atexit
import os
import re
import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar
from urllib.parse import quote

from psycopg import Connection, OperationalError, ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from mason.errors import InvalidConfiguration

SCHEMA = "mason"
"""Mason's tables have a schema of their own, so that a database may be shared with others."""

# Texts are compared byte by byte, as in SQLite: what is sorted must not depend on where a database was made.
_TEXT = 'TEXT COLLATE "C" NOT NULL'

MIGRATIONS: Sequence[Sequence[str]] = (
    (
        f"""CREATE TABLE registrations (
            number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            kind {_TEXT}, namespace {_TEXT}, command {_TEXT}, digest {_TEXT},
            definition {_TEXT}, source {_TEXT}, registered_at {_TEXT},
            UNIQUE (kind, namespace, command, digest))""",
        f"""CREATE TABLE current_registrations (
            kind {_TEXT}, namespace {_TEXT}, command {_TEXT}, digest {_TEXT},
            PRIMARY KEY (kind, namespace, command))""",
        f"CREATE TABLE object_files (digest {_TEXT}, path {_TEXT}, content BYTEA NOT NULL, PRIMARY KEY (digest, path))",
        f"""CREATE TABLE configurations (
            id {_TEXT} PRIMARY KEY, text {_TEXT}, source {_TEXT}, checked_by {_TEXT}, saved_at {_TEXT})""",
        f"CREATE TABLE settings (name {_TEXT} PRIMARY KEY, value {_TEXT})",
        f"""CREATE TABLE records (
            kind {_TEXT}, id {_TEXT}, status {_TEXT}, document {_TEXT}, version INTEGER NOT NULL,
            created_at {_TEXT}, updated_at {_TEXT}, PRIMARY KEY (kind, id))""",
        "CREATE INDEX records_by_time ON records (kind, created_at)",
        "CREATE INDEX records_by_status ON records (kind, status, created_at)",
        f"""CREATE TABLE leases (
            name {_TEXT} PRIMARY KEY, owner {_TEXT}, fence INTEGER NOT NULL, expires_at DOUBLE PRECISION NOT NULL)""",
        f"""CREATE TABLE run_steps (
            run {_TEXT}, step {_TEXT}, number INTEGER NOT NULL, status {_TEXT}, document {_TEXT},
            updated_at {_TEXT}, PRIMARY KEY (run, step))""",
    ),
    (
        f"CREATE TABLE identity (id {_TEXT})",
        "INSERT INTO identity (id) VALUES (replace(gen_random_uuid()::text, '-', ''))",
    ),
)


T = TypeVar("T")

MOST_CONNECTIONS = 8
_BUSY_SECONDS = 30
_PATIENCE = 5.0
"""So long a statement whose connection broke is tried again: a restart takes less."""

_BETWEEN_TRIES = 0.05
_DOWN_SECONDS = 0.25
"""So long nobody else tries to reach a server that could not be reached."""

_ENDED_BY_SERVER = ("57P01", "57P02", "57P03")  # it stops, it crashed, it is not up yet
_UNLESS_TOLD: Mapping[str, str | int] = {
    "application_name": "mason",
    "client_encoding": "utf8",
    "connect_timeout": 5,
    # A server that vanished without a word is noticed within half a minute.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


_BEGIN = f"SET search_path = {SCHEMA}; SET lock_timeout = '{_BUSY_SECONDS}s'".encode()


class Connections:
    """Hands out connections: each is one thread's as long as it works with it."""

    def __init__(self, address: str) -> None:
        self._parameters = _parameters(address)
        self._idle: list[Connection[Any]] = []
        self._slots = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._lock = threading.Lock()
        self._preparing = threading.Lock()
        self._prepared = False
        self._down_until = 0.0
        self._failure = ""

    @property
    def name(self) -> str:
        """Where the database is, without a word on who may use it."""
        host, port, database = (str(self._parameters.get(key, "")) for key in ("host", "port", "dbname"))
        place = quote(host, safe=",:[]") + (f":{port}" if port else "")
        return f"postgresql://{place}/{database}"

    @property
    def password(self) -> str:
        return str(self._parameters.get("password") or "")

    def prepare(self, work: Callable[[], None]) -> None:
        """Do what has to be done once before anything else."""
        with self._preparing:
            if not self._prepared:
                work()
                self._prepared = True

    def run(self, work: Callable[[Connection[Any]], T]) -> T:
        """Do some work with a connection; should that break meanwhile, again with another one.

        So the work may have been done already when it is done again: nobody knows how far the server came.

        Raises:
            psycopg.Error: the database refuses it, or cannot be reached.
        """
        end: float | None = None
        while True:
            try:
                with self._one() as connection:
                    return work(connection)
            except _Broken as broken:
                end = end or time.monotonic() + _PATIENCE
                if time.monotonic() > end:
                    raise broken.reason from None
            except OperationalError:
                if end is None or time.monotonic() > end:
                    raise
            time.sleep(_BETWEEN_TRIES)

    def close(self) -> None:
        """Close what nobody uses; who comes later opens a new one."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    @contextmanager
    def _one(self) -> Iterator[Connection[Any]]:
        if not self._slots.acquire(timeout=_BUSY_SECONDS):
            raise OperationalError(f"all of {MOST_CONNECTIONS} connections were busy for {_BUSY_SECONDS} seconds")
        try:
            connection = self._take() or self._open()
            try:
                yield connection
            except OperationalError as error:
                if connection.closed or error.sqlstate in _ENDED_BY_SERVER:
                    connection.close()
                    raise _Broken(error) from error
                raise
            finally:
                self._give_back(connection)
        finally:
            self._slots.release()

    def _take(self) -> Connection[Any] | None:
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if _is_quiet(connection):
                    return connection
                connection.close()
        return None

    def _give_back(self, connection: Connection[Any]) -> None:
        if connection.info.transaction_status is TransactionStatus.IDLE:
            self._idle.append(connection)
        else:  # it is closed, or who had it was interrupted
            connection.close()

    def _open(self) -> Connection[Any]:
        if time.monotonic() < self._down_until:
            raise OperationalError(self._failure)
        try:
            connection = Connection.connect(**self._parameters, autocommit=True)
        except OperationalError as error:
            self._failure, self._down_until = str(error), time.monotonic() + _DOWN_SECONDS
            raise
        try:
            connection.execute(_BEGIN)
        except BaseException:
            connection.close()
            raise
        return connection


class _Broken(Exception):
    """Raised when the connection is gone; `reason` is what was said of it."""

    def __init__(self, reason: OperationalError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def connections_to(address: str) -> Connections:
    """Return the connections of this process to a database: the same for everybody who asks."""
    return _connections(address, os.getpid())


@cache
def _connections(address: str, process: int) -> Connections:
    # A process that was forked must not use connections of its parent: hence the second argument.
    made = Connections(address)
    atexit.register(made.close)
    return made


def _parameters(address: str) -> dict[str, Any]:
    """Return what an address says. Nothing of one that cannot be read is shown: its password may be anywhere in it."""
    try:
        given = conninfo_to_dict(address)
    except ProgrammingError:
        raise _unreadable() from None
    host, database, port = (str(given.get(key, "")) for key in ("host", "dbname", "port"))
    if "@" in host + database or not re.fullmatch(r"[0-9,]*", port):
        raise _unreadable()
    return {**_UNLESS_TOLD, **given}


def _unreadable() -> InvalidConfiguration:
    return InvalidConfiguration(
        [
            "The address of the state store cannot be read. It is postgresql://USER:PASSWORD@HOST:PORT/DATABASE; "
            "in a password, @ is written %40, / %2F, : %3A and % %25."
        ]
    )


def _is_quiet(connection: Connection[Any]) -> bool:
    """Say whether the server has said nothing since: it does so only to take leave."""
    if connection.closed:
        return False
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)
