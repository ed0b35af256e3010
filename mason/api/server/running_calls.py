"""The calls that this process runs at the moment, and how one of them is ended from outside."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_KIND_SECONDS = 2.0
"""So long a call that was cancelled may take to notice by itself, before it is interrupted."""


@dataclass
class _Running:
    """A call that runs: in which thread, and what was done to end it."""

    thread: int
    caller: str
    cancelled_at: float = 0.0
    is_interrupted: bool = False


class RunningCalls:
    """Calls by their ids, each in the thread that runs it."""

    def __init__(self) -> None:
        self._calls: dict[str, _Running] = {}
        self._lock = threading.Lock()

    @contextmanager
    def running(self, call_id: str, caller: str = "") -> Iterator[None]:
        """Run a call in here: KeyboardInterrupt is raised in this thread if it must end and does not by itself."""
        with self._lock:
            self._calls[call_id] = _Running(threading.get_ident(), caller)
        try:
            yield
        finally:
            with self._lock:
                running = self._calls.pop(call_id)
            if running.is_interrupted:
                time.sleep(0.01)  # the interrupt may still be on its way, and is for nobody else

    def interrupt(self, is_cancelled: Callable[[str, str], bool]) -> None:
        """Interrupt the calls that were cancelled a while ago and have not ended by themselves, as ctrl-C would.

        `is_cancelled` is told the id of a call and who began it.
        """
        for call_id, running in list(self._calls.items()):
            if not running.cancelled_at and is_cancelled(call_id, running.caller):
                running.cancelled_at = time.monotonic()
            if running.cancelled_at and time.monotonic() - running.cancelled_at >= _KIND_SECONDS:
                self._interrupt(call_id, running)

    def _interrupt(self, call_id: str, running: _Running) -> None:
        with self._lock:
            if self._calls.get(call_id) is running and not running.is_interrupted and not _imports(running.thread):
                running.is_interrupted = True
                interrupt = ctypes.py_object(KeyboardInterrupt)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(running.thread), interrupt)


def _imports(thread: int) -> bool:
    """Say whether a thread imports a module just now: interrupted there, it could keep others from it for ever."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
