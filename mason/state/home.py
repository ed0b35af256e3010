"""Opens the state store of a MASON_HOME, making the home when something is to be kept in it.

The store is a file in the home, unless the settings name a database.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mason.errors import MissingDependency, StateFailed
from mason.state.address import state_address
from mason.state.sql_store import require_any
from mason.state.sqlite import SqliteStore
from mason.state.sqlite_file import is_state
from mason.state.store import StateStore
from mason.state.surroundings import find_surroundings
from mason.util.disk_room import is_disk_full, why_not_written
from mason.util.environment import MasonEnvironment

_OWN = {
    *("state.db", "state.db-wal", "state.db-shm", "settings.yaml", ".env", "objects", ".objects.lock", ".links.lock"),
    *("configurations", "registered_operators", "registered_workflows", "data", "examples"),
}
"""What Mason has in its home. A folder with anything else in it may be for others as well, and is left as it is."""


def read_state(env: MasonEnvironment) -> StateStore:
    """Open the store to read from it; where there is none yet, an empty one. No file is created."""
    return _surround(_read(env), env)


def _surround(store: StateStore, env: MasonEnvironment) -> StateStore:
    store.surroundings = find_surroundings(env, store)
    return store


def _read(env: MasonEnvironment) -> StateStore:
    address = state_address(env)
    if address:
        return _on_server(address, env)
    try:
        exists = is_state(env.state_file)
    except OSError as error:
        raise _failure_of(env.home, error) from error
    if not exists:
        require_any(env.state_id, str(env.state_file))
    return SqliteStore(env.state_file if exists else None, for_reading=True, state_id=env.state_id if exists else "")


def open_state(env: MasonEnvironment) -> StateStore:
    """Open the store to write to it."""
    return _surround(_open(env, "FULL"), env)


def open_run_state(env: MasonEnvironment) -> StateStore:
    """Open the store for a run, which writes a little very often: it does not wait for the disk each time."""
    return _surround(_open(env, "NORMAL"), env)


def pin_state(env: MasonEnvironment) -> str:
    """Open the store for a process that lives on: from now on it, and all that it starts, open this state or none.

    Returns:
        The id of the state.
    """
    state_id = open_state(env).get_id()
    os.environ.update(replace(env, state_id=state_id).variables)
    return state_id


def check_state(env: MasonEnvironment) -> None:
    """Check that whoever opened the state now would get the one that is pinned.

    Raises:
        StateFailed: it is gone, or another one.
    """
    store = read_state(env)  # anew: SQLite may not look at a file again that it has read
    store.require_id(env.state_id)
    if not store.is_far:
        store.close()


def make_home(env: MasonEnvironment) -> list[tuple[str, Path]]:
    """Create what is missing of the home and return the folders that were created, each with its name.

    What is there is closed to others: configurations and operators' code may hold what is not for them.
    """
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
            raise _failure_of(folder, error) from error
    close_to_others(env.home, only_if=_OWN.issuperset)
    for own in (env.operator_home, env.workflow_home, env.config_home, env.object_home):
        close_to_others(own)
    return created


def is_closed_by_mason(home: Path) -> bool:
    """Say whether a home has nothing in it but Mason's own, so that the next command that writes closes it."""
    return home.stat().st_uid == os.getuid() and _OWN.issuperset(os.listdir(home))  # noqa: PTH208


def close_to_others(folder: Path, *, only_if: Callable[[Iterable[str]], bool] = lambda names: True) -> None:
    """Let nobody else look into a folder, if it is there and belongs to this user.

    Args:
        only_if: is told the names in the folder, and says whether it may be closed.
    """
    with suppress(FileNotFoundError):
        found = folder.stat()
        if found.st_mode & 0o077 and found.st_uid == os.getuid() and only_if(os.listdir(folder)):  # noqa: PTH208
            with suppress(OSError):  # a file system that is read-only, or knows no such thing
                folder.chmod(0o700)


def _open(env: MasonEnvironment, synchronous: str) -> StateStore:
    if not env.state_id:
        make_home(env)
    address = state_address(env)
    if address:
        return _on_server(address, env)
    return SqliteStore(env.state_file, synchronous=synchronous, state_id=env.state_id)


def _on_server(address: str, env: MasonEnvironment) -> StateStore:
    try:
        from mason.state.postgres import PostgresStore
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise MissingDependency(
            "The state is in PostgreSQL, which needs psycopg.", hint="Install it: pip install 'mason-data[postgres]'"
        ) from error
    return PostgresStore(address, state_id=env.state_id)


def _failure_of(folder: Path, error: OSError) -> StateFailed:
    advice = "Free some space" if is_disk_full(error) else "Make it writable"
    return StateFailed(f"{folder}: {why_not_written(error, folder)}.", hint=f"{advice}, or choose another MASON_HOME.")
