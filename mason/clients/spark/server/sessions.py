"""The sessions of a server: each is leased to one command at a time.

A session that was used before has warm Python workers. Two commands in one session would see each other's state, so a
command holds the lock of its session's file; the kernel gives the lock back however the command ends.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_ENDING = ".session"
_IN_USE = "in use"


@dataclass
class Lease:
    """A session of the server that is this command's until it is given back."""

    id: str
    left_behind: bool
    """Whether the last command in it was killed, so that its job may still be running."""
    _file: Path
    _stream: IO[str]

    def give_back(self) -> None:
        """Let the next command have the session."""
        if not self._stream.closed:
            self._stream.truncate(0)
            self._stream.close()

    def discard(self) -> None:
        """Give back a session that the server has closed: nobody can use it again."""
        self._file.unlink(missing_ok=True)
        self._stream.close()


def lease_session(folder: Path) -> Lease:
    """Return a free session, the one used last if possible, or a new one. Call it under the folder's lock."""
    return next(_free(folder), None) or _new(folder)


def forget_sessions(folder: Path) -> None:
    """Remove the sessions of a server that is gone."""
    for file in _files(folder):
        file.unlink(missing_ok=True)


def count_sessions(folder: Path) -> tuple[int, int]:
    """Return how many sessions there are, and how many are in use. Call it under the folder's lock."""
    files = _files(folder)
    return len(files), sum(1 for file in files if _in_use(file))


def last_use(folder: Path) -> float:
    """Return when a session was last taken or given back."""
    return max((used for used, _ in _by_use(folder)), default=0.0)


def _files(folder: Path) -> list[Path]:
    """The sessions, the one used last first."""
    return [file for _, file in sorted(_by_use(folder), reverse=True)]


def _by_use(folder: Path) -> Iterator[tuple[float, Path]]:
    for file in folder.glob(f"*{_ENDING}"):
        with suppress(FileNotFoundError):  # a command that finds its session closed discards it at any moment
            yield file.stat().st_mtime, file


def _free(folder: Path) -> Iterator[Lease]:
    for file in _files(folder):
        lease = _try(file)
        if lease:
            yield lease


def _new(folder: Path) -> Lease:
    lease = _try(folder / f"{uuid.uuid4()}{_ENDING}")
    if lease is None:
        raise BlockingIOError("a new session is in use")
    return lease


def _try(file: Path) -> Lease | None:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    stream = os.fdopen(descriptor, "r+", encoding="utf-8")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        return None
    left_behind = stream.read() == _IN_USE
    stream.seek(0)
    stream.write(_IN_USE)
    stream.flush()
    return Lease(file.name.removesuffix(_ENDING), left_behind, file, stream)


def _in_use(file: Path) -> bool:
    try:
        with open(file, encoding="utf-8") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:  # it was discarded just now
        return False
    return False
