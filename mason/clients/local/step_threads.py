"""The threads that run the steps of a DAG.

They are daemons of our own: the standard pool waits for its threads when the process ends, and one that hangs would
keep it from ending.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple


class Finished(NamedTuple):
    """What a call returned, or raised; `number` is that of the call."""

    number: int
    value: Any


class StepThreads:
    """Runs calls in threads; what they return comes out of `finished`."""

    def __init__(self, finished: SimpleQueue[Any]) -> None:
        self._finished = finished
        self._calls: SimpleQueue[tuple[int, Callable[[], Any]] | None] = SimpleQueue()
        self._threads: dict[int, threading.Thread] = {}
        self._lock = threading.Lock()
        self._idle = 0
        self._busy = 0
        self._number = 0

    def start(self, call: Callable[[], Any]) -> int:
        """Start a call and return its number."""
        self._number += 1
        with self._lock:
            needs_another = self._idle == 0
            self._idle -= 0 if needs_another else 1
        known = copy_context()  # who asks, and what may not be told of it, is known in a step's thread as well
        self._calls.put((self._number, partial(known.run, call)))
        if needs_another:
            threading.Thread(target=self._work, daemon=True, name="mason-step").start()
        return self._number

    def stop(self, number: int) -> None:
        """Ask a call to end: it is interrupted, as by ctrl-C, as soon as it runs Python again."""
        with self._lock:
            thread = self._threads.pop(number, None)
            if thread is not None and thread.ident is not None:
                interrupt = ctypes.py_object(KeyboardInterrupt)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), interrupt)

    @property
    def busy(self) -> int:
        """How many threads have not come back from their call, also after it was asked to end."""
        with self._lock:
            return self._busy

    def close(self) -> None:
        """Let the threads that have nothing to do end."""
        with self._lock:
            idle = self._idle
        for _ in range(idle):
            self._calls.put(None)

    def _work(self) -> None:
        with suppress(KeyboardInterrupt):  # one that came when the call was over
            while (found := self._calls.get()) is not None:
                number, call = found
                with self._lock:
                    self._threads[number] = threading.current_thread()
                    self._busy += 1
                if not self._call(number, call):
                    return

    def _call(self, number: int, call: Callable[[], Any]) -> bool:
        """Do a call and say whether its thread can be used again."""
        value: Any = None
        try:
            value = call()
        except BaseException as error:  # noqa: BLE001 (who waits for the call has to hear of it)
            value = error
        finally:
            with self._lock:
                asked_to_end = self._threads.pop(number, None) is None
                self._busy -= 1
                self._idle += 0 if asked_to_end else 1
        if not asked_to_end:
            self._finished.put(Finished(number, value))
        return not asked_to_end  # the interrupt may still be on its way to it
