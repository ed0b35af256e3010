"""Registrations in the tables of a store: what becomes of new ones, and how a version is written down."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from mason.errors import AlreadyRegistered
from mason.state.models import Kind, Name, NewRegistration, Outcome, Registration

Row = tuple[Any, ...]


class Statements(Protocol):
    """What can be asked of a database inside a transaction. `?` stands for a value, whatever the database calls it."""

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return what a query finds."""

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run a statement and return how many rows it changed."""

    def run_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        """Run a statement once for each of the values."""


def now_text() -> str:
    """Return the time as records have it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def decide_outcomes(current: Mapping[Name, str], new: Sequence[Registration], *, replace: bool) -> list[Outcome]:
    """Return what becomes of each new registration.

    Raises:
        AlreadyRegistered: with one line for every registration that is refused.
    """
    problems = [*_clashes(current, new)]
    outcomes = []
    for registration in new:
        digest = current.get(registration.name)
        if digest is None:
            outcomes.append(Outcome.ADDED)
        elif digest == registration.digest:
            outcomes.append(Outcome.UNCHANGED)
        else:
            outcomes.append(Outcome.REPLACED)
            if not replace:
                problems.append(
                    f"{registration.source}: {registration.name} is registered with other content "
                    f"(sha256:{digest[:12]}, this is {registration.short_digest}). "
                    "Use -f to make this one current; the other stays runnable by its digest."
                )
    if problems:
        raise AlreadyRegistered(problems)
    return outcomes


def _clashes(current: Iterable[Name], new: Sequence[Registration]) -> Iterable[str]:
    # `mason operator table` lists a namespace, or runs the operator of that name: it cannot do both.
    sources = {registration.name: registration.source for registration in new}
    names = {*current, *sources}
    namespaces = {(name.kind, name.namespace): name for name in sorted(names) if name.namespace}
    for name in sorted(names):
        other = namespaces.get((name.kind, name.command))
        if not name.namespace and other and (name in sources or other in sources):
            place = sources.get(name) or sources[other]
            yield f'{place}: the {name.kind} "{name}" without a namespace and the namespace of "{other}" have one name.'


def insert_registration(db: Statements, new: NewRegistration) -> None:
    insert_version(db, new)
    set_current(db, new.registration.name, new.registration.digest)


def insert_version(db: Statements, new: NewRegistration) -> None:
    registration = new.registration
    key = (*name_key(registration.name), registration.digest)
    db.run_many(
        "INSERT INTO object_files (digest, path, content) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(registration.digest, path, content) for path, content in new.files.items()],
    )
    # A version that comes back is the newest again, so that it needs a new number.
    db.run("DELETE FROM registrations WHERE kind = ? AND namespace = ? AND command = ? AND digest = ?", key)
    db.run(
        "INSERT INTO registrations (kind, namespace, command, digest, definition, source, registered_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*key, json.dumps(registration.definition), registration.source, now_text()),
    )


def set_current(db: Statements, name: Name, digest: str) -> None:
    db.run(
        "INSERT INTO current_registrations (kind, namespace, command, digest) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (kind, namespace, command) DO UPDATE SET digest = excluded.digest",
        (*name_key(name), digest),
    )


def name_key(name: Name) -> tuple[str, str, str]:
    return (name.kind, name.namespace, name.command)


def read_registration(row: tuple[Any, ...]) -> Registration:
    kind, namespace, command, digest, definition, source, registered_at, current = row
    name = Name(Kind(kind), namespace, command)
    return Registration(name, digest, json.loads(definition), source, registered_at, bool(current))
