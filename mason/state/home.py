"""Opens the state store of a MASON_HOME, making the home when something is to be kept in it.

The store is a file in the home, unless the settings name a database.
"""

from __future__ import annotations

from pathlib import Path

from mason.errors import MissingDependency, StateFailed
from mason.state.address import state_address
from mason.state.sqlite import SqliteStore
from mason.state.store import StateStore
from mason.util.disk_room import is_disk_full, why_not_written
from mason.util.environment import MasonEnvironment


def read_state(env: MasonEnvironment) -> StateStore:
    """Open the store to read from it; where there is none yet, an empty one. No file is created."""
    address = state_address(env)
    if address:
        return _on_server(address)
    try:
        exists = env.state_file.exists() and env.state_file.stat().st_size > 0
    except OSError as error:
        raise _failed(env.home, error) from error
    return SqliteStore(env.state_file if exists else None, for_reading=True)


def open_state(env: MasonEnvironment) -> StateStore:
    """Open the store to write to it."""
    make_home(env)
    address = state_address(env)
    return _on_server(address) if address else SqliteStore(env.state_file)


def open_run_state(env: MasonEnvironment) -> StateStore:
    """Open the store for a run, which writes a little very often: it does not wait for the disk each time."""
    make_home(env)
    address = state_address(env)
    return _on_server(address) if address else SqliteStore(env.state_file, synchronous="NORMAL")


def make_home(env: MasonEnvironment) -> list[tuple[str, Path]]:
    """Create what is missing of the home and return the folders that were created, each with its name."""
    folders = [
        ("MASON_HOME", env.home),
        ("OPERATOR_HOME", env.operator_home),
        ("WORKFLOW_HOME", env.workflow_home),
        ("CONFIG_HOME", env.config_home),
    ]
    created = []
    for name, folder in folders:
        try:
            if not folder.is_dir():
                folder.mkdir(parents=True, mode=0o700, exist_ok=True)  # another process may do the same now
                created.append((name, folder))
        except OSError as error:
            raise _failed(folder, error) from error
    return created


def _on_server(address: str) -> StateStore:
    try:
        from mason.state.postgres import PostgresStore
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise MissingDependency(
            "The state is in PostgreSQL, which needs psycopg.", hint="Install it: pip install 'mason-data[postgres]'"
        ) from error
    return PostgresStore(address)


def _failed(folder: Path, error: OSError) -> StateFailed:
    advice = "Free some space" if is_disk_full(error) else "Make it writable"
    return StateFailed(f"{folder}: {why_not_written(error, folder)}.", hint=f"{advice}, or choose another MASON_HOME.")
