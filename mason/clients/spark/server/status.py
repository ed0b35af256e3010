"""What the warm servers of this user are doing, and how they are stopped: for `mason spark`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from mason.clients.spark.server import record, sessions
from mason.clients.spark.server.record import server_folders
from mason.clients.spark.server.runtime import private_folder, runtime_folder
from mason.clients.spark.server.warm import stop_server


@dataclass(frozen=True, kw_only=True)
class ServerStatus:
    """A server as a person would want to see it."""

    key: str
    pid: int
    port: int
    state: str
    uptime: float
    idle: float
    sessions: int
    sessions_in_use: int


def server_statuses() -> list[ServerStatus]:
    """Return the servers that live."""
    return list(_statuses())


def stop_servers() -> list[int]:
    """Stop every server of this user and return the ids of their processes; jobs that run on them fail."""
    stopped = []
    for folder in server_folders(private_folder(runtime_folder())):
        server = record.ServerRecord.read(folder)
        lived = server is not None and server.server.alive
        stop_server(folder)
        if server and lived:
            stopped.append(server.server.pid)
    return stopped


def _statuses() -> Iterator[ServerStatus]:
    now = time.time()
    for folder in server_folders(private_folder(runtime_folder())):
        server = record.ServerRecord.read(folder)
        if server is None or not server.server.alive:
            continue
        count, in_use = sessions.count_sessions(folder)
        idle = 0.0 if in_use else now - max(server.since, sessions.last_use(folder))
        yield ServerStatus(
            key=server.key,
            pid=server.server.pid,
            port=server.port,
            state=_state(server.ready, in_use, (folder / record.RETIRE).exists()),
            uptime=now - server.since,
            idle=idle,
            sessions=count,
            sessions_in_use=in_use,
        )


def _state(ready: bool, in_use: int, retired: bool) -> str:
    if not ready:
        return "starting"
    if retired:
        return "draining"
    return "busy" if in_use else "idle"
