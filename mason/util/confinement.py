"""Keeps paths below the folders that they may be in, links and `..` included, and away from what is hidden."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

from mason.errors import BadPath
from mason.util.environment import MasonEnvironment


def require_below(path: str, roots: Sequence[str], display: str) -> None:
    """Check that a path stays below one of the roots (themselves without links), wherever links on its way lead.

    MASON_HOME may be below a root, as `~/.mason` is below `~`: its credentials and code are nobody's data all the same.

    Raises:
        BadPath: it does not; the message says only what the caller wrote.
    """
    if any(_is_plainly_below(path, root) and not _touches_home(path, root) for root in roots):
        return
    real = os.path.realpath(path)
    for root in roots:
        if (real == root or real.startswith(_folder(root))) and not _touches_home(real, root):
            return
    raise BadPath(
        f'"{display}" is outside of the folders that may be used.',
        hint="Give a path below the root of the configuration.",
    )


def require_visible(path: str, folders: Sequence[str], display: str) -> None:
    """Check that no name on the way from the folders to a path, as it is written, begins with a dot.

    Hidden files are programs' own: a `.env`, `.ssh`, what Mason keeps beside tables. A link may still lead to such a
    name, as in the volumes of Kubernetes: whoever runs the server has made it.

    Raises:
        BadPath: one does; the message says only what the caller wrote.
    """
    hidden = name_beginning_with(".", path, folders)
    if hidden:
        raise BadPath(
            f'Calls may not name hidden files and folders, and in "{display}" "{hidden}" is a hidden name.',
            hint="Give a path without names that begin with a dot.",
        )


def name_beginning_with(marks: str | tuple[str, ...], path: str, folders: Sequence[str]) -> str:
    """Return the first name in a path, below the deepest of the folders that it is in, that begins so; else nothing."""
    rest = _part_below(path, folders)
    if rest is None:  # a link may stand above the folders
        real = os.path.realpath(path)
        rest = _part_below(real, list(map(os.path.realpath, folders))) or real
    return next((part for part in rest.split("/") if part.startswith(marks)), "")


def _part_below(path: str, folders: Sequence[str]) -> str | None:
    above = max((each for each in map(_folder, folders) if path.startswith(each)), key=len, default="")
    return path[len(above) :] if above else None


def name_below(path: str, roots: Sequence[str]) -> str:
    """Return the name of a path that may be used, as it is below a root.

    A link from elsewhere may lead there, and so do `/proc/self/cwd` and `/proc/self/root`: an answer that named those
    would name what is outside.
    """
    is_below = any(path == root.rstrip(os.sep) or path.startswith(_folder(root)) for root in roots)
    return path if is_below else os.path.realpath(path)


def is_home(path: str) -> bool:
    """Say whether a path without links is MASON_HOME."""
    return path.rstrip(os.sep) == _home()


def is_in_home(path: str) -> bool:
    """Say whether a path without links is MASON_HOME or in it."""
    return is_home(path) or path.startswith(_folder(_home()))


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


def _touches_home(place: str, root: str) -> bool:
    """Say whether a place below a root is in MASON_HOME, or a folder that holds it; a root in there was meant so."""
    home = _home()
    if root.startswith(_folder(home)):
        return False
    inside = place == home or place.startswith(_folder(home))
    return inside or (place != root and home.startswith(_folder(place)))


def _home() -> str:
    return _real_home(os.environ.get("MASON_HOME", ""), os.environ.get("HOME", ""))


@lru_cache(8)
def _real_home(chosen: str, of_user: str) -> str:
    return os.path.realpath(MasonEnvironment.of({"MASON_HOME": chosen}).home)


def _folder(root: str) -> str:
    return root.rstrip(os.sep) + os.sep
