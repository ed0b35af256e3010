"""Servers that the tests of several files share; each is stopped after the last test of its group.

One that stays until the end takes its share of the machine, though nobody asks it anything any more.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

T = TypeVar("T")

_running: dict[str, Any] = {}
_stack = ExitStack()


def running(name: str, start: Callable[[], AbstractContextManager[T]]) -> T:
    """Return what runs under a name, and start it unless it does."""
    if name not in _running:
        _running[name] = _stack.enter_context(start())
    found: T = _running[name]
    return found


def stop_all() -> None:
    """Stop what runs."""
    _running.clear()
    _stack.close()
