"""The schema of the store on PostgreSQL, as the steps that lead to it. A step that was released is never changed."""

from __future__ import annotations

from collections.abc import Sequence

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
