"""The embedded state store: one SQLite file under MASON_HOME, safe with many processes.

Its schema is the steps that lead to it. A step that was released is never changed.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mason.errors import StateFailed
from mason.state.registering import Row, Statements
from mason.state.sql_store import SqlStore, T, require_any
from mason.state.sqlite_file import RESTORE, FileMark, is_state, make_state, require_same
from mason.util.disk_room import LEAST_ROOM, DiskRoom

MIGRATIONS: Sequence[Sequence[str]] = (
    (
        """CREATE TABLE registrations (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL, namespace TEXT NOT NULL, command TEXT NOT NULL, digest TEXT NOT NULL,
            definition TEXT NOT NULL, source TEXT NOT NULL, registered_at TEXT NOT NULL,
            UNIQUE (kind, namespace, command, digest))""",
        """CREATE TABLE current_registrations (
            kind TEXT NOT NULL, namespace TEXT NOT NULL, command TEXT NOT NULL, digest TEXT NOT NULL,
            PRIMARY KEY (kind, namespace, command))""",
        """CREATE TABLE object_files (
            digest TEXT NOT NULL, path TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (digest, path))""",
        """CREATE TABLE configurations (
            id TEXT PRIMARY KEY, text TEXT NOT NULL, source TEXT NOT NULL, checked_by TEXT NOT NULL,
            saved_at TEXT NOT NULL)""",
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        """CREATE TABLE records (
            kind TEXT NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL, document TEXT NOT NULL,
            version INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
            PRIMARY KEY (kind, id))""",
        "CREATE INDEX records_by_time ON records (kind, created_at)",
        """CREATE TABLE leases (
            name TEXT PRIMARY KEY, owner TEXT NOT NULL, fence INTEGER NOT NULL, expires_at REAL NOT NULL)""",
    ),
    (
        """CREATE TABLE run_steps (
            run TEXT NOT NULL, step TEXT NOT NULL, number INTEGER NOT NULL, status TEXT NOT NULL,
            document TEXT NOT NULL, updated_at TEXT NOT NULL, PRIMARY KEY (run, step)) WITHOUT ROWID""",
    ),
    ("CREATE INDEX records_by_status ON records (kind, status, created_at)",),
    (
        "CREATE TABLE identity (id TEXT NOT NULL)",
        "INSERT INTO identity (id) VALUES (lower(hex(randomblob(16))))",
    ),
)


_BUSY_SECONDS = 30
_LITTLE_ROOM = 256 * 1024
_WRITABLE = "Make MASON_HOME writable, or choose another one."
_ADVICE = {
    "readonly": _WRITABLE,
    "unable to open": _WRITABLE,
    "locked": f"Another process held it for more than {_BUSY_SECONDS} seconds; try again.",
    "malformed": f"The file is damaged. {RESTORE}",
    "not a database": f"The file is damaged. {RESTORE}",
}


class SqliteStore(SqlStore):
    """A state store in a file. One that is opened for reading works where nothing can be written, too.

    With `synchronous` NORMAL what was written outlives the process, but the last moments may not outlive a power cut.
    """

    clock = "(julianday('now') - 2440587.5) * 86400.0"

    def __init__(
        self, file: Path | None, *, for_reading: bool = False, synchronous: str = "FULL", state_id: str = ""
    ) -> None:
        """Open the state in a file, or one in memory.

        Args:
            state_id: the only state that will do, as a server knows it that has opened it before; any by default.
        """
        self._file = file
        self._name = str(file) if file else "nothing kept yet"
        self._lock = threading.RLock()
        with self._explain_errors():
            if file and not is_state(file):
                require_any(state_id, self._name)
                make_state(file, _fill)
            self._opened = FileMark.of(file) if file else None
            self._db = _open_to_read(file) if file and for_reading else _open_to_write(file)
            self._check_version(file)
            self.require_id(state_id)
            if synchronous != "FULL":
                self._db.execute(f"PRAGMA synchronous = {synchronous}")

    def get_changes(self) -> int:
        return int(self._read("PRAGMA data_version")[0][0])

    def describe(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}, {self._name}"

    def close(self) -> None:
        self._db.close()

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._explain_errors(), self._lock:
            self._require_same_file()
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
        with self._explain_errors(), self._lock:
            self._require_same_file()
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _require_same_file(self) -> None:
        # SQLite goes on with a file that was deleted, and with one whose name is another's by now.
        if self._file and self._opened:
            require_same(self._file, self._opened)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StateFailed(f"{self._name}: {error}.", hint=self._advice(str(error))) from error
        except OSError as error:
            raise StateFailed(f"{self._name}: {error.strerror}.", hint=_WRITABLE) from error

    def _advice(self, message: str) -> str:
        # SQLite calls a full disk an I/O error when it cannot even make room for its log.
        folder = Path(self._name).parent
        room = DiskRoom.of(folder)
        if "full" in message or ("disk I/O" in message and room.free < _LITTLE_ROOM):
            room_left = room.describe(f"The file system of {folder}", needed=LEAST_ROOM)
            return f"{room_left} Please free some space. Nothing was changed."
        return next((advice for part, advice in _ADVICE.items() if part in message), "")

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _check_version(self, file: Path | None) -> None:
        if file and not self._version():
            raise StateFailed(f"{self._name} has none of Mason's tables: the state is damaged.", hint=RESTORE)
        if self._version() < len(MIGRATIONS):
            if file:
                self._db.close()
                self._db = _open_to_write(file)
            with self._writing() as db:  # another process may have done some by now
                _migrate(db)
        if self._version() > len(MIGRATIONS):
            raise StateFailed(
                f"{self._name} was made by a newer Mason (its schema is {self._version()}, this program knows "
                f"{len(MIGRATIONS)}).",
                hint="Upgrade Mason, or choose another MASON_HOME.",
            )


def _fill(file: Path) -> None:
    """Make what is an empty file a state, with a log of its own where the file system can have one."""
    db = _open(f"{file.as_uri()}?mode=rw")
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        _migrate(db)
        db.execute("COMMIT")
    finally:
        db.close()  # which writes the log into the file: that alone gets the other name


def _migrate(db: sqlite3.Connection) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    for number in range(version, len(MIGRATIONS)):
        for statement in MIGRATIONS[number]:
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {number + 1}")


def _open_to_write(file: Path | None) -> sqlite3.Connection:
    # The file is readable by nobody else: it holds configurations, and these may hold secrets. SQLite's own files take
    # after it.
    return _open(f"{file.as_uri()}?mode=rw") if file else _open(":memory:")


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
