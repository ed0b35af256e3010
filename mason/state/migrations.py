"""The schema of the embedded store, as the steps that lead to it. A step that was released is never changed."""

from __future__ import annotations

from collections.abc import Sequence

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
