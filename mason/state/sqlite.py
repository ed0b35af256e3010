"""The embedded state store: one SQLite file under MASON_HOME, safe with many processes."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mason.errors import StateFailed
from mason.state.migrations import MIGRATIONS
from mason.state.sql_store import Row, SqlStore, Statements, T
from mason.util.disk_room import LEAST_ROOM, DiskRoom

_BUSY_SECONDS = 30
_LITTLE_ROOM = 256 * 1024
_ADVICE = {
    "readonly": "Make MASON_HOME writable, or choose another one.",
    "unable to open": "Make MASON_HOME writable, or choose another one.",
    "locked": f"Another process held it for more than {_BUSY_SECONDS} seconds; try again.",
    "malformed": "The file is damaged: restore it from a backup, or move it away and register again.",
    "not a database": "The file is damaged: restore it from a backup, or move it away and register again.",
}


class SqliteStore(SqlStore):
    """A state store in a file. One that is opened for reading works where nothing can be written, too.

    With `synchronous` NORMAL what was written outlives the process, but the last moments may not outlive a power cut.
    """

    clock = "(julianday('now') - 2440587.5) * 86400.0"

    def __init__(self, file: Path | None, *, for_reading: bool = False, synchronous: str = "FULL") -> None:
        self._name = str(file) if file else "nothing kept yet"
        self._lock = threading.RLock()
        with self._explained():
            self._db = _open_to_read(file) if file and for_reading else _open_to_write(file)
            self._check_version(file)
            if synchronous != "FULL":
                self._db.execute(f"PRAGMA synchronous = {synchronous}")

    def get_changes(self) -> int:
        return int(self._read("PRAGMA data_version")[0][0])

    def describe(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}, {self._name}"

    def close(self) -> None:
        self._db.close()

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._explained(), self._lock:
            return self._db.execute(query, values).fetchall()

    def _write(self, statement: str, values: Sequence[Any]) -> int:
        return self._alone(lambda db: db.run(statement, values))

    def _write_returning(self, statement: str, values: Sequence[Any]) -> list[Row]:
        return self._alone(lambda db: db.rows(statement, values))

    def _write_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        self._alone(lambda db: db.run_many(statement, values))

    def _alone(self, work: Callable[[Statements], T]) -> T:
        with self._writing() as db:
            return work(_SqliteStatements(db))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._explained(), self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StateFailed(f"{self._name}: {error}.", hint=self._advice(str(error))) from error

    def _advice(self, message: str) -> str:
        # SQLite calls a full disk an I/O error when it cannot even make room for its log.
        folder = Path(self._name).parent
        room = DiskRoom.of(folder)
        if "full" in message or ("disk I/O" in message and room.free < _LITTLE_ROOM):
            told = room.describe(f"The file system of {folder}", needed=LEAST_ROOM)
            return f"{told} Please free some space. Nothing was changed."
        return next((advice for part, advice in _ADVICE.items() if part in message), "")

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _check_version(self, file: Path | None) -> None:
        if self._version() < len(MIGRATIONS):
            self._db.close()
            self._db = _open_to_write(file)
            self._migrate()
        if self._version() > len(MIGRATIONS):
            raise StateFailed(
                f"{self._name} was made by a newer Mason (its schema is {self._version()}, this program knows "
                f"{len(MIGRATIONS)}).",
                hint="Upgrade Mason, or choose another MASON_HOME.",
            )

    def _migrate(self) -> None:
        with self._writing() as db:
            for number in range(self._version(), len(MIGRATIONS)):  # another process may have done some by now
                for statement in MIGRATIONS[number]:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {number + 1}")


def _open_to_write(file: Path | None) -> sqlite3.Connection:
    if file is None:
        return _open(":memory:")
    # Readable by nobody else: it holds configurations, and these may hold secrets. SQLite's own files take after it.
    with suppress(OSError):  # where it cannot be, SQLite says so in its own words
        file.touch(mode=0o600)
    db = _open(f"{file.as_uri()}?mode=rw")
    if db.execute("PRAGMA user_version").fetchone()[0] == 0:
        _begin_log(db)
    return db


def _begin_log(db: sqlite3.Connection) -> None:
    """Have a log of its own for a file; that stays as it was where the file system cannot do it.

    Of several processes that want this at the same moment SQLite refuses some at once, and does not wait as it does
    elsewhere.
    """
    end = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _open_to_read(file: Path) -> sqlite3.Connection:
    db = _open(f"{file.as_uri()}?mode=ro")
    try:
        db.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        # On a read-only file system SQLite cannot make its index of the log; without a log it can do without.
        log = file.with_name(file.name + "-wal")
        if log.exists() and log.stat().st_size > 0:
            raise
        db.close()
        return _open(f"{file.as_uri()}?mode=ro&immutable=1")
    return db


def _open(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)


class _SqliteStatements:
    """A connection that is inside of a transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        return self._db.execute(query, values).fetchall()

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._db.execute(statement, values).rowcount

    def run_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        self._db.executemany(statement, values)
