"""The discovery file of a warm server: who it is, where it listens, and what belongs to it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from mason.util.processes import ProcessId

RECORD = "server.json"
TOKEN = "token"
LOG = "server.log"
RETIRE = "retire"
FAILURE = "failure"


@dataclass(frozen=True, kw_only=True)
class ServerRecord:
    """A server that was started; whether it still lives is seen from its processes."""

    key: str
    port: int
    server: ProcessId
    keeper: ProcessId
    token_digest: str
    scratch: str
    since: float
    ready: bool = False

    def write(self, folder: Path) -> None:
        """Write the discovery file in one step."""
        write_private(folder / RECORD, json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, folder: Path) -> ServerRecord | None:
        """Return what the discovery file says, or None if there is none that can be read."""
        try:
            document = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            server, keeper = ProcessId(**document.pop("server")), ProcessId(**document.pop("keeper"))
            return cls(server=server, keeper=keeper, **document)
        except (OSError, ValueError, TypeError, KeyError):
            return None


def server_folders(servers: Path) -> list[Path]:
    """Return the folders in which a server left word of itself."""
    return sorted(file.parent for file in servers.glob(f"*/{RECORD}"))


def has_successor(folder: Path) -> bool:
    """Say whether a younger server of this user's is to stay.

    Two commands that begin at the same moment see nothing of each other's servers, and retire none.
    """
    mine = ServerRecord.read(folder)
    others = [each for each in server_folders(folder.parent) if each != folder and not (each / RETIRE).exists()]
    found = [server for each in others if (server := ServerRecord.read(each))]
    return any(mine and server.ready and server.since > mine.since and server.server.alive for server in found)


def write_private(file: Path, text: str) -> None:
    """Write a file that only this user may read, in one step."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    draft.rename(file)


def ran_out_of_memory(folder: Path) -> bool:
    """Return whether the last server of a folder ended because its memory was full."""
    try:
        return b"Terminating due to java.lang.OutOfMemoryError" in (folder / LOG).read_bytes()
    except OSError:
        return False


def forget(folder: Path) -> None:
    """Remove what a server that is gone left in its folder; its log stays."""
    record = ServerRecord.read(folder)
    if record and record.scratch:
        shutil.rmtree(record.scratch, ignore_errors=True)
    for name in (RECORD, TOKEN, RETIRE):
        (folder / name).unlink(missing_ok=True)


@contextmanager
def hold_lock(folder: Path, patience: float) -> Iterator[bool]:
    """Hold the lock of a server's folder; gives False if others kept it longer than the patience lasted."""
    with os.fdopen(os.open(folder / "lock", os.O_WRONLY | os.O_CREAT, 0o600), "w") as stream:
        end = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    yield False
                    return
                time.sleep(0.02)
            else:
                yield True
                return
