"""Files that are either the old ones or the new ones, whatever happens in between."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def write_file(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Replace the file by the content in one step; a crash leaves the old file."""
    _write(path, content, mode, os.replace)


def write_new_file(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file that is not there yet, in one step.

    Raises:
        FileExistsError: by now there is something of that name.
    """
    _write(path, content, mode, _link_new)


def _link_new(aside: str, path: Path) -> None:
    try:
        os.link(aside, path)  # unlike a rename, it takes nobody's place
    except FileExistsError:
        raise
    except OSError:  # a file system without such links
        with open(path, "xb") as file:
            file.write(Path(aside).read_bytes())
    os.unlink(aside)  # noqa: PTH108


def _write(path: Path, content: bytes, mode: int, put: Callable[[str, Path], None]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(prefix=f".{path.name[:80]}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        put(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)  # noqa: PTH108
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
