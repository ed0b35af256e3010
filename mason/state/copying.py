"""Copies a whole state into another store: from the file of one machine to the database that several share."""

from __future__ import annotations

from collections.abc import Mapping

from mason.errors import Conflict
from mason.state.registering import Statements
from mason.state.sql_store import SqlStore

_REGISTRATIONS = "kind, namespace, command, digest, definition, source, registered_at"
_RECORDS = "kind, id, status, document, version, created_at, updated_at"
_COLUMNS = {
    "registrations": _REGISTRATIONS,
    "current_registrations": "kind, namespace, command, digest",
    "object_files": "digest, path, content",
    "configurations": "id, text, source, checked_by, saved_at",
    "settings": "name, value",
    "records": _RECORDS,
    "run_steps": "run, step, number, status, document, updated_at",
}
"""Leases are not among them: whoever held one holds it in the store that it knows."""

_ORDER = {"registrations": "number"}
_COUNTED = ("registrations", "configurations", "records")


def copy_state(source: SqlStore, target: SqlStore) -> Mapping[str, int]:
    """Copy everything that outlives a process, in one step, and return how much of what there was.

    Raises:
        Conflict: a server uses the source, or there is something in the target already. Nothing is copied then.
    """

    def work(ours: Statements) -> Mapping[str, int]:
        _require_unused(ours, source)
        return target.do_alone(lambda theirs: _copy(ours, theirs, target))

    return source.do_alone(work)


def _require_unused(ours: Statements, source: SqlStore) -> None:
    query = f"SELECT count(*) FROM leases WHERE name LIKE 'server:%' AND expires_at > {source.clock}"  # noqa: S608 (our own words)
    if ours.rows(query)[0][0]:
        raise Conflict(
            "A server uses this state, and would go on to do so.",
            hint="Stop it first; of one that was killed this is known after 30 seconds.",
        )


def _copy(ours: Statements, theirs: Statements, target: SqlStore) -> Mapping[str, int]:
    for table in _COLUMNS:
        if theirs.rows(f"SELECT 1 FROM {table} LIMIT 1"):  # noqa: S608 (our own words, as all below)
            raise Conflict(
                f"{target.describe()} has {table.replace('_', ' ')} already.", hint="Name an empty database."
            )
    counts = {}
    for table, columns in _COLUMNS.items():
        order = _ORDER.get(table, columns)
        rows = ours.rows(f"SELECT {columns} FROM {table} ORDER BY {order}")  # noqa: S608
        marks = ", ".join("?" * len(columns.split(",")))
        theirs.run_many(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)  # noqa: S608
        counts[table] = len(rows)
    return {table: counts[table] for table in _COUNTED}
