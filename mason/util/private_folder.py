"""Folders for this user alone, on this machine: where running servers and credentials are left word of."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from mason.errors import Forbidden


def runtime_root(variables: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of what lives as long as this login, made if need be; never on a network.

    Raises:
        Forbidden: it belongs to somebody else, or others can look into it.
    """
    return private_folder(_choose_folder(variables))


def private_folder(folder: Path) -> Path:
    """Make the folder for this user alone, or check that it is.

    Raises:
        Forbidden: it belongs to somebody else, or others can look into it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise Forbidden(
            f"{folder} is not a folder that belongs to you alone.", hint="Remove it, or set MASON_RUNTIME_DIR."
        )
    return folder


def _choose_folder(variables: Mapping[str, str]) -> Path:
    if variables.get("MASON_RUNTIME_DIR"):
        return Path(variables["MASON_RUNTIME_DIR"])
    of_user = Path(variables.get("XDG_RUNTIME_DIR") or "/nowhere")
    if of_user.is_dir() and os.access(of_user, os.W_OK):
        return of_user / "mason"
    return Path(tempfile.gettempdir()) / f"mason-{os.getuid()}"
