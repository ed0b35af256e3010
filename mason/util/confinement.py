"""Keeps paths below the folders that they may be in, links and `..` included."""

from __future__ import annotations

import os
from collections.abc import Sequence

from mason.errors import BadPath


def require_below(path: str, roots: Sequence[str], shown: str) -> None:
    """Check that a path stays below one of the roots (themselves without links), wherever links on its way lead.

    Raises:
        BadPath: it does not; the message says only what the caller wrote.
    """
    real = os.path.realpath(path)
    for root in roots:
        if real == root or real.startswith(root.rstrip(os.sep) + os.sep):
            return
    raise BadPath(
        f'"{shown}" is outside of the folders that may be used.',
        hint="Give a path below the root of the configuration.",
    )
