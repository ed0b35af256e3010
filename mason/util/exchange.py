"""Exchanges two folders in one step, where the system can."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2


def exchange_folders(one: Path, other: Path) -> None:
    """Exchange two folders: whoever looks sees one of them under each name, at every moment.

    Where neither Linux's nor macOS's call for it works, two renames do it, with a moment in between at which `other`
    is not there.
    """
    if not _exchange_at_once(os.fsencode(one), os.fsencode(other)):
        aside = one.with_name(one.name + ".aside")
        other.rename(aside)
        one.rename(other)
        aside.rename(one)


def _exchange_at_once(one: bytes, other: bytes) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        call = getattr(library, "renamex_np", None)
        return call is not None and call(one, other, _RENAME_SWAP) == 0
    call = getattr(library, "renameat2", None)
    return call is not None and call(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE) == 0
