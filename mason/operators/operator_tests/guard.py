"""Keeps an operator that is tested from writing outside the folder of its test.

Python tells about every file that it opens for writing, moves or removes before it does so (PEP 578): what is not
below the folder is refused there and then, and remembered, since an operator may swallow the error. What a library in C
writes by itself, to an absolute path, is not seen.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from mason.errors import Forbidden

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEVICES = ("/dev/", "/proc/")
_TEMPORARY = ("tempfile.mkstemp", "tempfile.mkdtemp")
# Who may write elsewhere: Spark's own files, and what Python keeps of a module that it imports.
_OWN_AFFAIRS = (
    "mason.clients.spark",
    "mason.util.private_folder",
    "pyspark",
    "py4j",
    "importlib",
    "_frozen_importlib",
    "_frozen_importlib_external",
)


class WroteOutside(Forbidden):
    """Raised when an operator that is tested writes elsewhere than in the folder of its test. 403 · exit 1"""


@dataclass
class Guard:
    """What was refused, and what was let pass since it is temporary."""

    folder: str
    refused: list[str] = field(default_factory=list)
    temporary: list[str] = field(default_factory=list)

    @property
    def left_behind(self) -> list[str]:
        """Temporary files and folders that are still there."""
        return [path for path in self.temporary if os.path.lexists(path)]

    def allow(self, path: str) -> None:
        """Let a temporary file or folder pass, where such things belong."""
        if os.path.dirname(path) == os.path.realpath(tempfile.gettempdir()) and not _is_own_affair():  # noqa: PTH120
            self.temporary.append(path)

    def check(self, path: str) -> None:
        """Refuse a path that is not below the folder."""
        if any(path == each or path.startswith(each + os.sep) for each in (self.folder, *self.temporary)):
            return
        if path.startswith(_DEVICES) or _is_own_affair():
            return
        if path not in self.refused:
            self.refused.append(path)
        raise WroteOutside(f"{path} is outside the folder of the test.")


@contextmanager
def guard_folder(folder: Path) -> Iterator[Guard]:
    """Refuse what is written outside a folder, by any thread, until the end."""
    _install()
    guard = Guard(os.path.realpath(folder))
    _active.append(guard)
    try:
        yield guard
    finally:
        _active.remove(guard)


_active: list[Guard] = []
_installed = threading.Lock()
_is_installed = False


def _install() -> None:
    global _is_installed  # a hook stays as long as the process: it is added once
    with _installed:
        if not _is_installed:
            sys.addaudithook(_hook)
            _is_installed = True


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _active:
        return
    if event in _TEMPORARY:
        _active[-1].allow(os.path.realpath(os.fsdecode(arguments[0])))
    elif event in _EVENTS:
        _check(event, arguments)


def _check(event: str, arguments: tuple[Any, ...]) -> None:
    for path in _EVENTS[event](arguments):
        _active[-1].check(path)


def _paths_opened(arguments: tuple[Any, ...]) -> Sequence[str]:
    path, _, flags = arguments
    if isinstance(path, int) or not isinstance(flags, int) or not flags & _WRITING:
        return ()
    real = os.path.realpath(os.fsdecode(path))
    # A folder is "opened for writing" only to make a temporary file in it that has no name.
    return () if os.path.isdir(real) else (real,)  # noqa: PTH112


def _addresses_connected(arguments: tuple[Any, ...]) -> Sequence[str]:
    text = os.fsdecode(arguments[0])
    if text in ("", ":memory:") or "mode=ro" in text:
        return ()
    return (os.path.realpath(text.removeprefix("file:").partition("?")[0]),)


def _resolve_path(path: Any, folder: Any = -1) -> Sequence[str]:
    """Return the place that a path names, which may be a link itself: only its folder is followed."""
    if isinstance(path, int) or path is None:
        return ()
    text = os.fsdecode(path)
    if isinstance(folder, int) and folder >= 0:
        with suppress(OSError):
            text = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), text)  # noqa: PTH115, PTH118
    above, name = os.path.split(os.path.abspath(text))  # noqa: PTH100
    return (os.path.join(os.path.realpath(above), name),)  # noqa: PTH118


_EVENTS: Mapping[str, Callable[[tuple[Any, ...]], Sequence[str]]] = {
    "open": _paths_opened,
    "sqlite3.connect": _addresses_connected,
    "os.mkdir": lambda given: _resolve_path(given[0], given[2]),
    "os.rmdir": lambda given: _resolve_path(given[0], given[1]),
    "os.remove": lambda given: _resolve_path(given[0], given[1]),
    "os.truncate": lambda given: _resolve_path(given[0]),
    "os.chmod": lambda given: _resolve_path(given[0], given[2]),
    "os.symlink": lambda given: _resolve_path(given[1], given[2]),
    "os.link": lambda given: _resolve_path(given[1], given[3]),
    "os.rename": lambda given: (*_resolve_path(given[0], given[2]), *_resolve_path(given[1], given[3])),
    "shutil.rmtree": lambda given: _resolve_path(given[0]),
}


def _is_own_affair() -> bool:
    """Say whether Spark's client or the import system asks, rather than the operator through a library."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.startswith(_OWN_AFFAIRS):
            return True
        # What `mason.util` writes, it writes for who calls it.
        if name.startswith("mason") and name != __name__ and not name.startswith("mason.util."):
            return False
        frame = frame.f_back
    return False
