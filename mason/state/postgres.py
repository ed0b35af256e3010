"""The state store on a PostgreSQL, for servers on several machines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection

from mason.errors import BadInput, StateFailed
from mason.state.postgres_connections import MIGRATIONS, SCHEMA, connections_to
from mason.state.registering import Row, Statements
from mason.state.sql_store import SqlStore, T, require_any
from mason.util.redaction import Redactor

_LOCK = 0x6D61736F6E  # "mason": any number will do that others do not take
_DEFINITIONS = """
    SELECT 'r', kind || '/' || namespace || '/' || command, digest FROM current_registrations
    UNION ALL SELECT 'c', id, saved_at FROM configurations
    UNION ALL SELECT 's', name, value FROM settings
    UNION ALL SELECT 't', id, version::text FROM records WHERE kind = 'token'
    ORDER BY 1, 2
"""
_ADVICE = {
    "password": "Check the user and the password in `state` or MASON_STATE.",
    "role": "Check the user in `state` or MASON_STATE.",
    "permission denied": f'The user needs CREATE on the database, or a schema "{SCHEMA}" of its own.',
    "database system is": "It starts or stops just now; try again.",
    "does not exist": "Make the database first: createdb does.",
    "too many": "Allow more connections (max_connections), or run fewer workers.",
    "No space left": "The disk of the database is full: free some space. Nothing was changed.",
    "read-only transaction": "It takes no changes. Is it a standby? Give the address of the primary.",
    "lock timeout": "Another process held it for too long; try again.",
}
_UNREACHABLE = "Is it running, and is the address in `state` or MASON_STATE right?"
_PLACE = re.compile(
    r"connection (failed|is bad): |connection to server (at|on) .*? failed: |FATAL: +"
    r"|Is the server running.*|This probably means.*"
)


class PostgresStore(SqlStore):
    """A state store in a database that several machines share. Any number of threads may use it."""

    clock = "extract(epoch FROM clock_timestamp())::float8"
    is_far = True

    def __init__(self, address: str, *, state_id: str = "") -> None:
        """Open the state in a database, making its tables when there are none.

        Args:
            state_id: the only state that will do, as a server knows it that has opened it before; any by default.
        """
        self._state_id = state_id
        self._connections = connections_to(address)
        self._name = self._connections.name
        self._redact = Redactor([self._connections.password])
        with self._explain_errors():
            self._connections.prepare(lambda: self._connections.run(self._check_version))

    def get_changes(self) -> int:
        # Which transactions are over and which are not: as long as that is the same, everybody sees the same.
        return hash(self._read("SELECT pg_current_snapshot()::text")[0])

    def get_definitions_mark(self) -> int:
        return hash(tuple(self._read(_DEFINITIONS)))

    def describe(self) -> str:
        return f"PostgreSQL {self._read('SHOW server_version')[0][0]}, {self._name}"

    def close(self) -> None:
        self._connections.close()

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        if any("\0" in value for value in values if isinstance(value, str)):
            return []  # PostgreSQL keeps no such text, so that there is none
        return self._run(lambda connection: _Statements(connection).rows(query, values))

    def _write(self, statement: str, values: Sequence[Any]) -> int:
        return self._run(lambda connection: _Statements(connection).run(statement, values))

    def _write_returning(self, statement: str, values: Sequence[Any]) -> list[Row]:
        return self._run(lambda connection: _Statements(connection).rows(statement, values))

    def _write_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        def work(connection: Connection[Any]) -> None:
            with connection.transaction():
                _Statements(connection).run_many(statement, values)

        self._run(work)

    def _alone(self, work: Callable[[Statements], T]) -> T:
        def run_locked(connection: Connection[Any]) -> T:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                return work(_Statements(connection))

        return self._run(run_locked)

    def _run(self, work: Callable[[Connection[Any]], T]) -> T:
        with self._explain_errors():
            return self._connections.run(work)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.DataError as error:
            raise BadInput(f"{self._name} cannot keep this: {self._describe_error(error)}.") from error
        except psycopg.Error as error:
            message = self._describe_error(error)
            raise StateFailed(f"{self._name}: {message}.", hint=_advice(error, message)) from error

    def _describe_error(self, error: psycopg.Error) -> str:
        """Return the message on one line, without what is said of the place: that stands before it already."""
        return self._redact(_PLACE.sub("", " ".join(str(error).split()))).strip(" .")

    def _check_version(self, connection: Connection[Any]) -> None:
        if not _version(connection):
            require_any(self._state_id, self._name)
        if _version(connection) < len(MIGRATIONS):
            _migrate(connection)
        version = _version(connection)
        if version > len(MIGRATIONS):
            raise StateFailed(
                f"{self._name} was made by a newer Mason (its schema is {version}, this program knows "
                f"{len(MIGRATIONS)}).",
                hint="Upgrade Mason, or choose another database.",
            )
        self.require_id(self._state_id)


class _Statements:
    """A connection, asked in the words that all stores have."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        return self._connection.execute(_sql(query), values).fetchall()

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._connection.execute(_sql(statement), values).rowcount

    def run_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_sql(statement), values)


def _sql(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()


def _version(connection: Connection[Any]) -> int:
    made = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.schema_version",)).fetchone()
    if made is None or made[0] is None:
        return 0
    row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    return int(row[0] or 0) if row else 0


def _migrate(connection: Connection[Any]) -> None:
    with connection.transaction():
        # Two processes that start at once: the second waits here, and finds the work done.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY)")
        for number in range(_version(connection), len(MIGRATIONS)):
            for statement in MIGRATIONS[number]:
                connection.execute(_sql(statement))
            connection.execute("INSERT INTO schema_version (version) VALUES (%s)", (number + 1,))


def _advice(error: psycopg.Error, message: str) -> str:
    found = next((advice for part, advice in _ADVICE.items() if part in message), "")
    return found or (_UNREACHABLE if isinstance(error, psycopg.OperationalError) else "")
