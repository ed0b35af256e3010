"""Where the warm servers of this user leave word of themselves: on this machine, and for this user only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from mason.util.private_folder import private_folder, runtime_root

__all__ = ["private_folder", "runtime_folder"]


def runtime_folder(variables: Mapping[str, str] = os.environ) -> Path:
    """Return the folder, made if need be; never below MASON_HOME, which may lie on a network.

    Raises:
        Forbidden: it belongs to somebody else, or others can look into it.
    """
    return runtime_root(variables) / "spark"
