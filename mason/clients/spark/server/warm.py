"""Finds the warm server that fits, starts it where there is none, and stops those that fit no longer."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mason.clients.spark.class_archive import FOLDER_VARIABLE
from mason.clients.spark.server import keeper, record, sessions
from mason.clients.spark.server.launch import Launch
from mason.clients.spark.server.record import ServerRecord, server_folders
from mason.clients.spark.server.runtime import private_folder, runtime_folder
from mason.errors import ClientFailed

_PATIENCE = keeper.START_SECONDS + 30
_SECONDS_TO_SHOW_UP = 20.0
_SECONDS_TO_STOP = 15.0
_SECONDS_TO_KEEP_LOGS = 24 * 3600


class ServerUnavailable(ClientFailed):
    """Raised when there is no warm server to be had; the job can still run without it. 502 · exit 1"""


@dataclass(frozen=True)
class WarmSession:
    """A session of a warm server, leased to this command."""

    folder: Path
    server: ServerRecord
    lease: sessions.Lease

    @property
    def token(self) -> str:
        try:
            return (self.folder / record.TOKEN).read_text(encoding="utf-8")
        except OSError as error:
            raise ServerUnavailable("The warm Spark server has just stopped.") from error


def warm_session(launch: Launch) -> WarmSession:
    """Return a session of the server that fits, which is started if need be.

    Raises:
        ServerUnavailable: it could not be started.
    """
    servers = private_folder(runtime_folder())
    key = launch.key
    folder = private_folder(servers / key)
    retire_others(servers, folder)
    with _lock(folder):
        (folder / record.RETIRE).unlink(missing_ok=True)
        server = _read_living_record(folder) or _start(folder, launch)
        return WarmSession(folder, server, sessions.lease_session(folder))


def has_server(launch: Launch) -> bool:
    """Say whether a server that fits seems to run; whether it answers is seen by who asks it."""
    server = ServerRecord.read(runtime_folder() / launch.key)
    return server is not None and server.ready and server.server.alive


def give_up(session: WarmSession) -> None:
    """Stop a server that does not answer, so that the next command gets another."""
    session.lease.discard()
    with _lock(session.folder):
        if ServerRecord.read(session.folder) == session.server:
            stop_server(session.folder)


def retire_others(servers: Path, current: Path) -> None:
    """Have the servers of other keys stopped: each as soon as no command uses it."""
    for folder in server_folders(servers):
        if folder != current:
            (folder / record.RETIRE).touch()
            _stop_if_orphan(folder)
    for folder in servers.iterdir():
        if folder != current and not (folder / record.RECORD).exists() and _age(folder) > _SECONDS_TO_KEEP_LOGS:
            shutil.rmtree(folder, ignore_errors=True)


def stop_server(folder: Path) -> ServerRecord | None:
    """Stop the server of a folder and return what it was."""
    server = ServerRecord.read(folder)
    if server is None:
        return None
    if server.keeper.alive and server.server.alive:
        server.keeper.send(signal.SIGTERM)
        if server.keeper.wait(_SECONDS_TO_STOP):
            return server
    # Its keeper was killed, or hangs.
    server.server.stop()
    server.keeper.stop()
    record.forget(folder)
    sessions.forget_sessions(folder)
    return server


def _stop_if_orphan(folder: Path) -> None:
    """Stop a server whose keeper was killed: nobody else would."""
    server = ServerRecord.read(folder)
    if server and not server.keeper.alive:
        with record.hold_lock(folder, patience=0) as mine:
            if mine:
                stop_server(folder)


def _age(folder: Path) -> float:
    try:
        return time.time() - folder.stat().st_mtime
    except FileNotFoundError:  # another command has just removed it
        return 0.0


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    with record.hold_lock(folder, _PATIENCE) as mine:
        if not mine:
            raise ServerUnavailable("Another command has been starting the warm Spark server for too long.")
        yield


def _read_living_record(folder: Path) -> ServerRecord | None:
    server = ServerRecord.read(folder)
    if server is None:
        return None
    if server.server.alive and server.keeper.alive and _token_fits(folder, server):
        # A command that was stopped while it waited for its server leaves one that is not ready yet.
        return server if server.ready else _open_server(folder)
    stop_server(folder)
    return None


def _token_fits(folder: Path, server: ServerRecord) -> bool:
    try:
        token = (folder / record.TOKEN).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(token).hexdigest() == server.token_digest


def _start(folder: Path, launch: Launch) -> ServerRecord:
    sessions.forget_sessions(folder)
    for name in (record.FAILURE, record.RECORD, record.RETIRE):
        (folder / name).unlink(missing_ok=True)
    record.write_private(folder / "launch.json", launch.as_json())
    own = {keeper.IDLE_VARIABLE: str(keeper.idle_minutes())}
    if os.environ.get(FOLDER_VARIABLE):
        own[FOLDER_VARIABLE] = os.environ[FOLDER_VARIABLE]
    with open(os.open(folder / "keeper.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as log:
        started = subprocess.run(
            [sys.executable, "-m", keeper.__name__, str(folder)],
            env={**launch.environment, **own},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            check=False,
        )
    if started.returncode:
        raise ServerUnavailable("The warm Spark server did not start.", hint=f"See {folder / 'keeper.log'}.")
    return _open_server(folder)


def _open_server(folder: Path) -> ServerRecord:
    begun = time.monotonic()
    while time.monotonic() < begun + keeper.START_SECONDS and not (folder / record.FAILURE).exists():
        server = ServerRecord.read(folder)
        if server and server.ready:
            return server
        if not server.keeper.alive if server else time.monotonic() > begun + _SECONDS_TO_SHOW_UP:
            break
        time.sleep(0.05)
    stop_server(folder)
    raise ServerUnavailable("The warm Spark server did not start.", hint=f"See {folder / record.LOG}.")
