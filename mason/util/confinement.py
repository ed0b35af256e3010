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
    if any(_is_plainly_below(path, root) for root in roots):
        return
    real = os.path.realpath(path)
    for root in roots:
        if real == root or real.startswith(_folder(root)):
            return
    raise BadPath(
        f'"{shown}" is outside of the folders that may be used.',
        hint="Give a path below the root of the configuration.",
    )


def _is_plainly_below(path: str, root: str) -> bool:
    """Say whether a path is below a root as it is written, and nothing on its way from there is a link.

    That is true of nearly all paths, and is known without a look at every folder above the root.
    """
    folder = _folder(root)
    if not path.startswith(folder):
        return False
    place = folder[:-1]
    for part in path[len(folder) :].split("/"):
        place += f"/{part}"
        if part == os.pardir or os.path.islink(place):  # noqa: PTH114 (many files pass here)
            return False
    return True


def _folder(root: str) -> str:
    return root.rstrip(os.sep) + os.sep
