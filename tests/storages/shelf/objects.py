"""The shelf as a store of objects: whole writes, under conditions. It can be told to kill its process at a write."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mason.errors import PathNotFound
from mason.pipeline.storage.object_store import StoredObject

_KILL_AT = "SHELF_KILL_AT"
"""The variable that says at which write, counted from 1, the process is killed."""
_writes = 0


class ShelfObjects:
    """Objects by their paths, `room/key`; a lock makes a condition and the write that it allows one step."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)

    def below(self, folder: str) -> Iterator[StoredObject]:
        for place in sorted((self._root / folder).rglob("*")):
            if place.is_file() and not place.name.startswith("."):
                status = place.stat()
                path = place.relative_to(self._root).as_posix()
                yield StoredObject(path, status.st_size, tag_of(place.read_bytes()), time.time() - status.st_mtime)

    def children(self, folder: str) -> tuple[list[str], list[str]]:
        place = self._root / folder
        found = sorted(place.iterdir()) if place.is_dir() else []
        folders = [each.name for each in found if each.is_dir() and any(each.rglob("*"))]
        return folders, [each.name for each in found if each.is_file() and not each.name.startswith(".draft-")]

    def read(self, path: str) -> tuple[bytes, str] | None:
        try:
            content = (self._root / path).read_bytes()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None
        return content, tag_of(content)

    def read_start(self, path: str, length: int) -> bytes:
        found = self.read(path)
        return found[0][:length] if found else b""

    def write_new(self, path: str, content: bytes) -> str | None:
        with self._locked():
            if self.read(path) is not None:
                return None
            return self._write(path, content)

    def rewrite(self, path: str, content: bytes, tag: str) -> str | None:
        with self._locked():
            found = self.read(path)
            if found is None or found[1] != tag:
                return None
            return self._write(path, content)

    def copy(self, source: str, target: str) -> None:
        _count_write()
        draft = self._draft(target)
        try:
            shutil.copyfile(self._root / source, draft)
        except FileNotFoundError:
            raise PathNotFound(f"shelf://{source}") from None
        draft.replace(self._root / target)

    def delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            _count_write()
            (self._root / path).unlink(missing_ok=True)

    def abandon_uploads(self, folder: str) -> None:
        """There are none: what is written to a shelf is there at once."""

    def keeps_conditions(self, folder: str) -> bool:
        return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self._root / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _write(self, path: str, content: bytes) -> str:
        _count_write()
        draft = self._draft(path)
        draft.write_bytes(content)
        draft.replace(self._root / path)
        return tag_of(content)

    def _draft(self, path: str) -> Path:
        place = self._root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place.parent / f".draft-{uuid.uuid4().hex}"


def tag_of(content: bytes) -> str:
    """Return what a content is known by."""
    return hashlib.sha256(content).hexdigest()[:16]


def _count_write() -> None:
    global _writes
    _writes += 1
    if str(_writes) == os.environ.get(_KILL_AT):
        os.kill(os.getpid(), signal.SIGKILL)
