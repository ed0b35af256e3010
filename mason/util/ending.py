"""How work in a thread hears that it is to end: it looks, since nobody can raise anything in a thread from outside."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import ContextVar

from mason.errors import Interrupted

_LOOK_SECONDS = 0.1


class Ending:
    """Whether some work is to end. Who runs the work asks for it; the work looks between two things that it does."""

    def __init__(self, on_begin: Callable[[], None] = lambda: None) -> None:
        self._asked = threading.Event()
        self._on_begin = on_begin
        self.is_heard = False
        """Whether the work looks: only then is it worth while to wait for its end."""

    def ask(self) -> None:
        """Ask the work to end."""
        self._asked.set()

    @property
    def is_asked(self) -> bool:
        return self._asked.is_set()

    def begin(self) -> None:
        """Say that the work begins only now: a process had to be started for it."""
        self._on_begin()


_CURRENT: ContextVar[Ending | None] = ContextVar("mason_ending", default=None)


def end_with(ending: Ending) -> None:
    """Say by what the work of this context hears that it is to end."""
    _CURRENT.set(ending)


def current_ending() -> Ending:
    """Return by what the work of this context hears that it is to end; whoever asks for it looks from now on."""
    ending = _CURRENT.get() or Ending()
    ending.is_heard = True
    return ending


def check_ending() -> None:
    """Look whether the work of this context is to end.

    Raises:
        Interrupted: it is.
    """
    if current_ending().is_asked:
        raise Interrupted("The run was stopped. Nothing was committed.")


def pause(seconds: float) -> None:
    """Sleep, and look meanwhile whether the work of this context is to end.

    Raises:
        Interrupted: it is.
    """
    end = time.monotonic() + seconds
    while True:
        check_ending()
        left = end - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(left, _LOOK_SECONDS))
