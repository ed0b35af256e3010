"""Files that are either the old ones or the new ones, whatever happens in between."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_file(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Replace the file by the content in one step; a crash leaves the old file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(prefix=f".{path.name[:80]}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(aside, path)  # noqa: PTH105
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
