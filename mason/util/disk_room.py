"""What is said of a disk that is full: which file system it is, how much room it has, and how much is missing."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

LEAST_ROOM = 1024 * 1024
"""So many bytes the state needs to go on."""
_FULL = (errno.ENOSPC, errno.EDQUOT)
_IN_WORDS = os.strerror(errno.ENOSPC)


class DiskRoom(NamedTuple):
    """A file system, by the folder that it is mounted at, and the bytes in it that this user may write."""

    mount: str
    free: int
    size: int
    has_names: bool
    """Whether there is room for the names of more files: that can be used up before the bytes are."""

    @classmethod
    def of(cls, path: Path | str) -> DiskRoom:
        """Return the room where a path lies, or will."""
        place = Path(path).absolute()
        while not place.exists() and place != place.parent:
            place = place.parent
        found = os.statvfs(place)
        place = place.resolve()
        while not place.is_mount():
            place = place.parent
        size, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
        return cls(str(place), free, size, not found.f_files or found.f_favail > 0)

    def describe(self, named: str = "", needed: int = 0) -> str:
        """Say how full it is, and how much is missing of what is needed; by another name than its folder's if given."""
        name = named or f"The file system {self.mount}"
        if not self.has_names:
            return f"{name} has no room for the names of more files: remove some."
        message = f"{name} is full: {self.free:,} of {self.size:,} bytes are free"
        missing = needed - self.free
        return f"{message}, about {missing:,} more are needed." if missing > 0 else f"{message}."


def is_disk_full(error: BaseException) -> bool:
    """Say whether a failure comes from a disk that is full, or from a quota; what comes from afar only says so."""
    return any((isinstance(each, OSError) and each.errno in _FULL) or _IN_WORDS in str(each) for each in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it; an error of pyspark's may be a cause of itself."""
    known: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in known:
        known.add(id(cause))
        yield cause
        cause = cause.__cause__


def fullest(paths: Iterable[Path | str]) -> DiskRoom:
    """Return the file system with the least room, of those that paths lie in."""
    return min(map(DiskRoom.of, paths), key=lambda room: (room.has_names, room.free))


def why_not_written(error: OSError, path: Path | str) -> str:
    """Return why a file could not be written, as a sentence without its end: of a full disk, how full it is."""
    if error.errno in _FULL:
        # By the path, which whoever reads it knows: where a disk is mounted is not for every caller of a server.
        return f"{error.strerror}. {DiskRoom.of(path).describe(f'The file system of {path}')}".rstrip(".")
    return error.strerror or str(error)
