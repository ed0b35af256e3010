"""The embedded state store: one SQLite file under MASON_HOME, safe with many processes."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from shutil import disk_usage
from typing import Any

from mason.errors import AlreadyExists, Conflict, StateFailed
from mason.state.migrations import MIGRATIONS
from mason.state.models import (
    Kind,
    Lease,
    Name,
    NewRegistration,
    Outcome,
    Record,
    RecordKind,
    Registration,
    RunStep,
    SavedConfiguration,
)
from mason.state.rules import decide_outcomes
from mason.state.store import StateStore

_BUSY_SECONDS = 30
_CURRENT_CONFIGURATION = "current_configuration"
_REGISTRATION = (
    "SELECT r.kind, r.namespace, r.command, r.digest, r.definition, r.source, r.registered_at, c.digest IS NOT NULL "
    "FROM registrations r LEFT JOIN current_registrations c USING (kind, namespace, command, digest) "
)
_RECORD = "SELECT kind, id, status, document, version, created_at, updated_at FROM records "
_DEFINITIONS = (
    "SELECT kind, namespace, command, digest FROM current_registrations ORDER BY 1, 2, 3",
    "SELECT id, saved_at FROM configurations ORDER BY 1",
    "SELECT name, value FROM settings ORDER BY 1",
    "SELECT id, version FROM records WHERE kind = 'token' ORDER BY 1",
)


_LITTLE_ROOM = 256 * 1024
_ADVICE = {
    "readonly": "Make MASON_HOME writable, or choose another one.",
    "unable to open": "Make MASON_HOME writable, or choose another one.",
    "locked": f"Another process held it for more than {_BUSY_SECONDS} seconds; try again.",
    "malformed": "The file is damaged: restore it from a backup, or move it away and register again.",
    "not a database": "The file is damaged: restore it from a backup, or move it away and register again.",
}


class SqliteStore(StateStore):
    """A state store in a file. One that is opened for reading works where nothing can be written, too.

    With `synchronous` NORMAL what was written outlives the process, but the last moments may not outlive a power cut.
    """

    def __init__(self, file: Path | None, *, for_reading: bool = False, synchronous: str = "FULL") -> None:
        self._name = str(file) if file else "the state in memory"
        self._lock = threading.RLock()
        with self._explained():
            self._db = _open_to_read(file) if file and for_reading else _open_to_write(file)
            self._check_version(file)
            if synchronous != "FULL":
                self._db.execute(f"PRAGMA synchronous = {synchronous}")

    def register(self, new: Sequence[NewRegistration], *, replace: bool) -> list[Outcome]:
        with self._writing() as db:
            rows = db.execute("SELECT kind, namespace, command, digest FROM current_registrations")
            current = {Name(Kind(kind), namespace, command): digest for kind, namespace, command, digest in rows}
            outcomes = decide_outcomes(current, [each.registration for each in new], replace=replace)
            for each, outcome in zip(new, outcomes, strict=True):
                if outcome is not Outcome.UNCHANGED:
                    _insert_registration(db, each)
        return outcomes

    def list_registrations(self, kind: Kind) -> list[Registration]:
        where = "WHERE r.kind = ? AND c.digest IS NOT NULL ORDER BY r.namespace, r.command"
        return [_registration(row) for row in self._read(_REGISTRATION + where, (kind,))]

    def get_history(self, name: Name) -> list[Registration]:
        where = "WHERE r.kind = ? AND r.namespace = ? AND r.command = ? ORDER BY r.number DESC"
        return [_registration(row) for row in self._read(_REGISTRATION + where, _key(name))]

    def set_current(self, name: Name, digest: str) -> None:
        with self._writing() as db:
            _set_current(db, name, digest)

    def remove_registration(self, name: Name) -> None:
        with self._writing() as db:
            for table in ("current_registrations", "registrations"):
                db.execute(f"DELETE FROM {table} WHERE kind = ? AND namespace = ? AND command = ?", _key(name))  # noqa: S608
            db.execute("DELETE FROM object_files WHERE digest NOT IN (SELECT digest FROM registrations)")

    def list_digests(self) -> set[str]:
        return {digest for (digest,) in self._read("SELECT DISTINCT digest FROM registrations", ())}

    def get_files(self, digest: str) -> dict[str, bytes]:
        return dict(self._read("SELECT path, content FROM object_files WHERE digest = ? ORDER BY path", (digest,)))

    def save_configurations(self, configurations: Sequence[SavedConfiguration]) -> None:
        with self._writing() as db:
            rows = [(each.id, each.text, each.source, each.checked_by, _now()) for each in configurations]
            db.executemany("INSERT OR REPLACE INTO configurations VALUES (?, ?, ?, ?, ?)", rows)

    def list_configurations(self) -> list[SavedConfiguration]:
        rows = self._read("SELECT id, text, source, checked_by, saved_at FROM configurations ORDER BY id", ())
        return [SavedConfiguration(*row) for row in rows]

    def get_current_configuration(self) -> str | None:
        rows = self._read("SELECT value FROM settings WHERE name = ?", (_CURRENT_CONFIGURATION,))
        return rows[0][0] if rows else None

    def set_current_configuration(self, config_id: str) -> None:
        with self._writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", (_CURRENT_CONFIGURATION, config_id)
            )

    def add_record(self, kind: RecordKind, record_id: str, status: str, document: Mapping[str, Any]) -> Record:
        now = _now()
        row = (kind, record_id, status, json.dumps(document), 1, now, now)
        with self._writing() as db:
            added = db.execute("INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", row).rowcount
        if not added:
            raise AlreadyExists(f'There is a {kind} "{record_id}" already.')
        return _record(row)

    def update_record(self, seen: Record, status: str, document: Mapping[str, Any]) -> Record:
        row = (seen.kind, seen.id, status, json.dumps(document), seen.version + 1, seen.created_at, _now())
        with self._writing() as db:
            changed = db.execute(
                "UPDATE records SET status = ?, document = ?, version = ?, updated_at = ? "
                "WHERE kind = ? AND id = ? AND version = ?",
                (row[2], row[3], row[4], row[6], seen.kind, seen.id, seen.version),
            ).rowcount
        if not changed:
            raise Conflict(f'The {seen.kind} "{seen.id}" was changed by another process, or removed.')
        return _record(row)

    def get_record(self, kind: RecordKind, record_id: str) -> Record | None:
        rows = self._read(_RECORD + "WHERE kind = ? AND id = ?", (kind, record_id))
        return _record(rows[0]) if rows else None

    def list_records(self, kind: RecordKind, *, status: str = "", limit: int = 100, offset: int = 0) -> list[Record]:
        where = "WHERE kind = ? AND (? = '' OR status = ?) ORDER BY created_at DESC, id LIMIT ? OFFSET ?"
        return [_record(row) for row in self._read(_RECORD + where, (kind, status, status, limit, offset))]

    def delete_record(self, kind: RecordKind, record_id: str) -> bool:
        with self._writing() as db:
            return db.execute("DELETE FROM records WHERE kind = ? AND id = ?", (kind, record_id)).rowcount == 1

    def oldest_record(self, kind: RecordKind, status: str) -> Record | None:
        where = "WHERE kind = ? AND status = ? ORDER BY created_at, id LIMIT 1"
        rows = self._read(_RECORD + where, (kind, status))
        return _record(rows[0]) if rows else None

    def count_records(self, kind: RecordKind, status: str = "") -> dict[str, int]:
        where, values = ("AND status = ?", (kind, status)) if status else ("", (kind,))
        query = f"SELECT status, count(*) FROM records WHERE kind = ? {where} GROUP BY status"  # noqa: S608
        return dict(self._read(query, values))

    def get_changes(self) -> int:
        return int(self._read("PRAGMA data_version", ())[0][0])

    def get_definitions_mark(self) -> int:
        return hash(tuple(tuple(self._read(query, ())) for query in _DEFINITIONS))

    def save_run_steps(self, steps: Sequence[RunStep]) -> None:
        rows = [(each.run, each.step, each.number, each.status, json.dumps(each.document), _now()) for each in steps]
        with self._writing() as db:
            db.executemany("INSERT OR REPLACE INTO run_steps VALUES (?, ?, ?, ?, ?, ?)", rows)

    def list_run_steps(self, run: str) -> list[RunStep]:
        query = "SELECT run, step, number, status, document, updated_at FROM run_steps WHERE run = ? ORDER BY number"
        return [
            RunStep(found, step, number, status, json.loads(document), updated_at)
            for found, step, number, status, document, updated_at in self._read(query, (run,))
        ]

    def acquire_lease(self, name: str, owner: str, seconds: float) -> Lease | None:
        now = time.time()
        with self._writing() as db:
            row = db.execute(
                "INSERT INTO leases (name, owner, fence, expires_at) VALUES (?, ?, 1, ?) "
                "ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, fence = fence + 1, "
                "expires_at = excluded.expires_at WHERE expires_at <= ? RETURNING fence",
                (name, owner, now + seconds, now),
            ).fetchone()
        return Lease(name, owner, row[0]) if row else None

    def renew_lease(self, lease: Lease, seconds: float) -> bool:
        return self._set_expiry(lease, time.time() + seconds)

    def release_lease(self, lease: Lease) -> None:
        self._set_expiry(lease, 0)

    def close(self) -> None:
        self._db.close()

    def _set_expiry(self, lease: Lease, expires_at: float) -> bool:
        # The row stays when a lease is given back: its fence must go on growing.
        with self._writing() as db:
            held = db.execute(
                "UPDATE leases SET expires_at = ? WHERE name = ? AND owner = ? AND fence = ?",
                (expires_at, lease.name, lease.owner, lease.fence),
            )
            return held.rowcount == 1

    def _read(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._explained(), self._lock:
            return self._db.execute(query, values).fetchall()

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
        if "full" in message or ("disk I/O" in message and disk_usage(Path(self._name).parent).free < _LITTLE_ROOM):
            return "The disk is full: free some space. Nothing was changed."
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
        db.execute("PRAGMA journal_mode = WAL")  # stays as it was where the file system cannot do it
    return db


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


def _insert_registration(db: sqlite3.Connection, new: NewRegistration) -> None:
    registration = new.registration
    db.executemany(
        "INSERT OR IGNORE INTO object_files (digest, path, content) VALUES (?, ?, ?)",
        [(registration.digest, path, content) for path, content in new.files.items()],
    )
    db.execute(
        "INSERT OR REPLACE INTO registrations (kind, namespace, command, digest, definition, source, registered_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *_key(registration.name),
            registration.digest,
            json.dumps(registration.definition),
            registration.source,
            _now(),
        ),
    )
    _set_current(db, registration.name, registration.digest)


def _set_current(db: sqlite3.Connection, name: Name, digest: str) -> None:
    db.execute("INSERT OR REPLACE INTO current_registrations VALUES (?, ?, ?, ?)", (*_key(name), digest))


def _key(name: Name) -> tuple[str, str, str]:
    return (name.kind, name.namespace, name.command)


def _registration(row: tuple[Any, ...]) -> Registration:
    kind, namespace, command, digest, definition, source, registered_at, current = row
    name = Name(Kind(kind), namespace, command)
    return Registration(name, digest, json.loads(definition), source, registered_at, bool(current))


def _record(row: tuple[Any, ...]) -> Record:
    kind, record_id, status, document, version, created_at, updated_at = row
    return Record(RecordKind(kind), record_id, status, json.loads(document), version, created_at, updated_at)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
