"""The file of the embedded store: what may be in its place, and how a new one gets there whole.

What is left of a state is never taken for a new one. A new one has no tokens, so that a server would answer everybody.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mason.errors import StateFailed

RESTORE = "Restore it from a backup; or move it away, and begin with an empty state: nothing registered, no token."
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_ABANDONED_SECONDS = 3600


class FileMark(NamedTuple):
    """Which file it is, whatever it is called."""

    device: int
    number: int

    @classmethod
    def of(cls, file: Path) -> FileMark:
        found = file.stat()
        return cls(found.st_dev, found.st_ino)


def is_state(file: Path) -> bool:
    """Say whether there is a state; if not, one may be made here.

    Raises:
        StateFailed: there is something else in its place, or what is left of one.
        OSError: nobody can tell.
    """
    try:
        found = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return _is_state_by_now(file)
    if stat.S_ISDIR(found.st_mode):
        raise StateFailed(
            f"{file} is a folder, and should be the file with Mason's state.",
            hint="Move it away, or choose another MASON_HOME.",
        )
    if not stat.S_ISREG(found.st_mode):
        raise StateFailed(f"{file} is not a file.", hint="Move it away, or choose another MASON_HOME.")
    if not found.st_size:
        raise StateFailed(f"{file} is empty: the state that was in it is damaged.", hint=RESTORE)
    return True


def require_same(file: Path, opened: FileMark) -> None:
    """Check that a file which is open is still the one of that name: nobody would find what is written to another.

    Raises:
        StateFailed: it is gone, empty, or another one.
    """
    try:
        found = os.stat(file)  # noqa: PTH116 (asked before every statement)
    except OSError as error:
        raise StateFailed(
            f"{file} is gone: {error.strerror}.", hint="Put the state back where it was; nothing else is used."
        ) from error
    if not found.st_size:
        raise StateFailed(f"{file} is empty: the state that was in it is damaged.", hint=RESTORE)
    if (found.st_dev, found.st_ino) != opened:
        raise StateFailed(f"{file} was replaced by another file.", hint="Start again whatever uses it: servers first.")


def make_state(file: Path, fill: Callable[[Path], None]) -> None:
    """Make a state under another name and put it into its place when it is whole, unless somebody else has by then.

    Raises:
        OSError: it cannot be written.
    """
    import tempfile  # once in the life of a state: no other command need wait for these

    from mason.util.atomic_file import sync_folder

    _sweep(file)
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".new", dir=file.parent)  # readable by its owner
    aside = Path(name)
    try:
        fill(aside)
        os.fsync(handle)
        _put_into_place(aside, file)
    finally:
        os.close(handle)
        for each in (aside, _log_of(aside), aside.with_name(f"{aside.name}-shm")):
            each.unlink(missing_ok=True)
    sync_folder(file.parent)


def _is_state_by_now(file: Path) -> bool:
    """Look again where there was no file: what is left of a state may be, or another process makes one just now."""
    if file.is_symlink():
        raise StateFailed(
            f"{file} is a link to {os.readlink(file)}, which is not there.",  # noqa: PTH115
            hint="Is the disk that it leads to mounted? For a new state, remove the link.",
        )
    log = _log_of(file)
    if not log.exists():
        return False
    if not file.exists():
        raise StateFailed(
            f"{file} is gone, and its log {log.name} is still there.",
            hint="Restore both from a backup; or move the log away, and begin with an empty state.",
        )
    return is_state(file)


def _put_into_place(aside: Path, file: Path) -> None:
    try:
        os.link(aside, file)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename_alone(aside, file)


def _rename_alone(aside: Path, file: Path) -> None:
    """Rename a file where none can have two names. Whoever else does so waits, and finds one then."""
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not file.exists():
            aside.rename(file)
    finally:
        os.close(folder)


def _sweep(file: Path) -> None:
    """Remove what processes left behind that were killed while they made a state."""
    for each in file.parent.glob(f".{file.name}.*.new*"):
        with suppress(FileNotFoundError):  # its process has just done so
            if time.time() - each.stat().st_mtime > _ABANDONED_SECONDS:
                each.unlink()


def _log_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")
