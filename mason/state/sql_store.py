"""What every state store in a database has in common: the statements, in the SQL that all of them speak, and the rules
of what may be registered beside what.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from mason.errors import AlreadyExists, Conflict, StateFailed
from mason.state.models import (
    Kind,
    Lease,
    Name,
    NewRegistration,
    Outcome,
    Record,
    RecordKind,
    RecordMark,
    Registration,
    RunStep,
    SavedConfiguration,
)
from mason.state.registering import (
    Row,
    Statements,
    decide_outcomes,
    insert_registration,
    insert_version,
    name_key,
    now_text,
    read_registration,
    set_current,
)
from mason.state.store import StateStore

T = TypeVar("T")

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


class SqlStore(StateStore):
    """A state store in a database. Which one, and what is particular to it, is the affair of who derives from this."""

    clock: ClassVar[str]
    """The seconds since 1970, in the database's words. Its clock is the one that all who share a store have."""

    _name: str
    """Where it is, for a person."""

    def do_alone(self, work: Callable[[Statements], T]) -> T:
        """Do some work with the tables themselves, in one transaction, during which nobody else registers anything."""
        return self._alone(work)

    def register(self, new: Sequence[NewRegistration], *, replace: bool) -> list[Outcome]:
        def work(db: Statements) -> list[Outcome]:
            rows = db.rows("SELECT kind, namespace, command, digest FROM current_registrations")
            current = {Name(Kind(kind), namespace, command): digest for kind, namespace, command, digest in rows}
            outcomes = decide_outcomes(current, [each.registration for each in new], replace=replace)
            for each, outcome in zip(new, outcomes, strict=True):
                if outcome is not Outcome.UNCHANGED:
                    insert_registration(db, each)
            return outcomes

        return self._alone(work)

    def add_versions(self, new: Sequence[NewRegistration]) -> None:
        def work(db: Statements) -> None:
            where = "kind = ? AND namespace = ? AND command = ? AND digest = ?"
            for each in new:
                key = (*name_key(each.registration.name), each.registration.digest)
                if not db.rows(f"SELECT 1 FROM registrations WHERE {where}", key):  # noqa: S608
                    insert_version(db, each)

        self._alone(work)

    def list_registrations(self, kind: Kind) -> list[Registration]:
        where = "WHERE r.kind = ? AND c.digest IS NOT NULL ORDER BY r.namespace, r.command"
        return [read_registration(row) for row in self._read(_REGISTRATION + where, (kind,))]

    def get_registration(self, name: Name) -> Registration | None:
        where = "WHERE r.kind = ? AND r.namespace = ? AND r.command = ? AND c.digest IS NOT NULL"
        rows = self._read(_REGISTRATION + where, name_key(name))
        return read_registration(rows[0]) if rows else None

    def get_history(self, name: Name) -> list[Registration]:
        where = "WHERE r.kind = ? AND r.namespace = ? AND r.command = ? ORDER BY r.number DESC"
        return [read_registration(row) for row in self._read(_REGISTRATION + where, name_key(name))]

    def set_current(self, name: Name, digest: str) -> None:
        self._alone(lambda db: set_current(db, name, digest))

    def remove_registration(self, name: Name) -> None:
        def work(db: Statements) -> None:
            for table in ("current_registrations", "registrations"):
                db.run(f"DELETE FROM {table} WHERE kind = ? AND namespace = ? AND command = ?", name_key(name))  # noqa: S608
            db.run("DELETE FROM object_files WHERE digest NOT IN (SELECT digest FROM registrations)")

        self._alone(work)

    def list_digests(self) -> set[str]:
        return {digest for (digest,) in self._read("SELECT DISTINCT digest FROM registrations")}

    def get_files(self, digest: str) -> dict[str, bytes]:
        return dict(self._read("SELECT path, content FROM object_files WHERE digest = ? ORDER BY path", (digest,)))

    def save_configurations(self, configurations: Sequence[SavedConfiguration]) -> None:
        rows = [(each.id, each.text, each.source, each.checked_by, now_text()) for each in configurations]
        statement = (
            "INSERT INTO configurations (id, text, source, checked_by, saved_at) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (id) DO UPDATE SET text = excluded.text, source = excluded.source, "
            "checked_by = excluded.checked_by, saved_at = excluded.saved_at"
        )
        self._alone(lambda db: db.run_many(statement, rows))

    def list_configurations(self) -> list[SavedConfiguration]:
        rows = self._read("SELECT id, text, source, checked_by, saved_at FROM configurations ORDER BY id")
        return [SavedConfiguration(*row) for row in rows]

    def delete_configuration(self, config_id: str) -> None:
        def work(db: Statements) -> None:
            db.run("DELETE FROM configurations WHERE id = ?", (config_id,))
            db.run("DELETE FROM settings WHERE name = ? AND value = ?", (_CURRENT_CONFIGURATION, config_id))

        self._alone(work)

    def get_current_configuration(self) -> str | None:
        rows = self._read("SELECT value FROM settings WHERE name = ?", (_CURRENT_CONFIGURATION,))
        return rows[0][0] if rows else None

    def set_current_configuration(self, config_id: str) -> None:
        self._write(
            "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (_CURRENT_CONFIGURATION, config_id),
        )

    def add_record(self, kind: RecordKind, record_id: str, status: str, document: Mapping[str, Any]) -> Record:
        now = now_text()
        row = (kind, record_id, status, json.dumps(document), 1, now, now)
        added = self._write(
            "INSERT INTO records (kind, id, status, document, version, created_at, updated_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            row,
        )
        if not added and not self._is_written(row):
            raise AlreadyExists(f'There is a {kind} "{record_id}" already.')
        return _record(row)

    def update_record(self, seen: Record, status: str, document: Mapping[str, Any]) -> Record:
        row = (seen.kind, seen.id, status, json.dumps(document), seen.version + 1, seen.created_at, now_text())
        changed = self._write(
            "UPDATE records SET status = ?, document = ?, version = ?, updated_at = ? "
            "WHERE kind = ? AND id = ? AND version = ?",
            (row[2], row[3], row[4], row[6], seen.kind, seen.id, seen.version),
        )
        if not changed and not self._is_written(row):
            raise Conflict(f'The {seen.kind} "{seen.id}" was changed by another process, or removed.')
        return _record(row)

    def get_record(self, kind: RecordKind, record_id: str) -> Record | None:
        rows = self._read(_RECORD + "WHERE kind = ? AND id = ?", (kind, record_id))
        return _record(rows[0]) if rows else None

    def list_records(self, kind: RecordKind, *, status: str = "", limit: int = 100, offset: int = 0) -> list[Record]:
        where, values = ("AND status = ?", (kind, status)) if status else ("", (kind,))
        query = f"{_RECORD} WHERE kind = ? {where} ORDER BY created_at DESC, id LIMIT ? OFFSET ?"
        return [_record(row) for row in self._read(query, (*values, limit, offset))]

    def delete_record(self, kind: RecordKind, record_id: str) -> bool:
        return self._write("DELETE FROM records WHERE kind = ? AND id = ?", (kind, record_id)) == 1

    def list_old_records(
        self, kind: RecordKind, before: str, *, after: RecordMark | None = None, limit: int = 100
    ) -> list[RecordMark]:
        # What was changed before a time was added before it: the index by time finds it.
        query = (
            "SELECT id, status, created_at FROM records WHERE kind = ? AND created_at < ? AND updated_at < ? "
            "AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?"
        )
        begin = (after.created_at, after.id) if after else ("", "")
        rows = self._read(query, (kind, before, before, *begin, limit))
        return [RecordMark(kind, *row) for row in rows]

    def remove_old_records(self, kind: RecordKind, record_ids: Sequence[str], before: str) -> int:
        def work(db: Statements) -> int:
            removed = 0
            for each in record_ids:
                if not db.run("DELETE FROM records WHERE kind = ? AND id = ? AND updated_at < ?", (kind, each, before)):
                    continue
                removed += 1
                db.run("DELETE FROM leases WHERE name = ?", (kind.lease(each),))
                if kind is RecordKind.RUN:
                    db.run("DELETE FROM run_steps WHERE run = ?", (each,))
            return removed

        return self._alone(work) if record_ids else 0

    def oldest_record(self, kind: RecordKind, status: str) -> Record | None:
        where = "WHERE kind = ? AND status = ? ORDER BY created_at, id LIMIT 1"
        rows = self._read(_RECORD + where, (kind, status))
        return _record(rows[0]) if rows else None

    def count_records(self, kind: RecordKind, status: str = "") -> dict[str, int]:
        where, values = ("AND status = ?", (kind, status)) if status else ("", (kind,))
        query = f"SELECT status, count(*) FROM records WHERE kind = ? {where} GROUP BY status"  # noqa: S608
        return dict(self._read(query, values))

    def get_id(self) -> str:
        rows = self._read("SELECT id FROM identity")
        if len(rows) != 1:
            raise StateFailed(f"{self._name} has {len(rows)} ids: the state is damaged.", hint="Restore a backup.")
        return str(rows[0][0])

    def require_id(self, state_id: str) -> None:
        if state_id and self.get_id() != state_id:
            raise StateFailed(
                f"{self._name} is another state than the one that the server opened.",
                hint="Put that one back; or stop the server, see to its tokens and start it again.",
            )

    def get_definitions_mark(self) -> int:
        return hash(tuple(tuple(self._read(query)) for query in _DEFINITIONS))

    def save_run_steps(self, steps: Sequence[RunStep]) -> None:
        rows = [
            (each.run, each.step, each.number, each.status, json.dumps(each.document), now_text()) for each in steps
        ]
        self._write_many(
            "INSERT INTO run_steps (run, step, number, status, document, updated_at) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (run, step) DO UPDATE SET number = excluded.number, status = excluded.status, "
            "document = excluded.document, updated_at = excluded.updated_at",
            rows,
        )

    def list_run_steps(self, run: str) -> list[RunStep]:
        query = "SELECT run, step, number, status, document, updated_at FROM run_steps WHERE run = ? ORDER BY number"
        return [
            RunStep(found, step, number, status, json.loads(document), updated_at)
            for found, step, number, status, document, updated_at in self._read(query, (run,))
        ]

    def acquire_lease(self, name: str, owner: str, seconds: float) -> Lease | None:
        statement = (
            "INSERT INTO leases (name, owner, fence, expires_at) VALUES (?, ?, 1, <now> + ?) "
            "ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, fence = leases.fence + 1, "
            "expires_at = excluded.expires_at WHERE leases.expires_at <= <now> RETURNING fence"
        )
        rows = self._write_returning(statement.replace("<now>", self.clock), (name, owner, seconds))
        return Lease(name, owner, rows[0][0]) if rows else None

    def renew_lease(self, lease: Lease, seconds: float) -> bool:
        return self._set_expiry(lease, f"{self.clock} + ?", seconds)

    def release_lease(self, lease: Lease) -> None:
        # The row stays when a lease is given back: its fence must go on growing.
        self._set_expiry(lease, "?", 0.0)

    def is_held(self, name: str) -> bool:
        query = f"SELECT 1 FROM leases WHERE name = ? AND expires_at > {self.clock}"  # noqa: S608
        return bool(self._read(query, (name,)))

    def _set_expiry(self, lease: Lease, expression: str, seconds: float) -> bool:
        statement = f"UPDATE leases SET expires_at = {expression} WHERE name = ? AND owner = ? AND fence = ?"  # noqa: S608
        return self._write(statement, (seconds, lease.name, lease.owner, lease.fence)) == 1

    def _is_written(self, row: Row) -> bool:
        """Say whether a record is exactly this row, which holds the microsecond in which it was made.

        So it is when the database did what it was asked, and its answer was lost with the connection: asked again, it
        finds the work done.
        """
        return row in self._read(_RECORD + "WHERE kind = ? AND id = ?", row[:2])

    @abstractmethod
    def _read(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return what a query finds."""

    @abstractmethod
    def _write(self, statement: str, values: Sequence[Any]) -> int:
        """Run a statement in a transaction of its own and return how many rows it changed."""

    @abstractmethod
    def _write_returning(self, statement: str, values: Sequence[Any]) -> list[Row]:
        """Run a statement in a transaction of its own and return the rows that it returns."""

    @abstractmethod
    def _write_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        """Run a statement once for each of the values, all in one transaction."""

    @abstractmethod
    def _alone(self, work: Callable[[Statements], T]) -> T:
        """Do some work in a transaction during which nobody else does any of this kind."""


def require_any(state_id: str, name: str) -> None:
    """Check that where there is no state, a new one may be made.

    Raises:
        StateFailed: somebody knows the one that was there.
    """
    if state_id:
        raise StateFailed(
            f"{name} is gone: a server uses the state that was there, and makes no other.",
            hint="Put it back; or stop the server, and start it again with a new state.",
        )


def _record(row: tuple[Any, ...]) -> Record:
    kind, record_id, status, document, version, created_at, updated_at = row
    return Record(
        kind=RecordKind(kind),
        id=record_id,
        status=status,
        document=json.loads(document),
        version=version,
        created_at=created_at,
        updated_at=updated_at,
    )
