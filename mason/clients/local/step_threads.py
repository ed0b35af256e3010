"""The threads that run the steps of a DAG.

They are daemons of our own: the standard pool waits for its threads when the process ends, and one that hangs would
keep it from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

from mason.util.ending import Ending, end_with


class Begun(NamedTuple):
    """A call says that its work begins only now; `number` is that of the call."""

    number: int


class Finished(NamedTuple):
    """What a call returned, or raised; `number` is that of the call."""

    number: int
    value: Any


class StepThreads:
    """Runs calls in threads; what they say and return comes out of `finished`."""

    def __init__(self, finished: SimpleQueue[Any]) -> None:
        self._finished = finished
        self._calls: SimpleQueue[tuple[int, Callable[[], Any]] | None] = SimpleQueue()
        self._endings: dict[int, Ending] = {}
        self._lock = threading.Lock()
        self._idle = 0
        self._number = 0

    def start(self, call: Callable[[], Any]) -> int:
        """Start a call and return its number."""
        self._number += 1
        number = self._number
        ending = Ending(lambda: self._finished.put(Begun(number)))
        with self._lock:
            needs_another = self._idle == 0
            self._idle -= 0 if needs_another else 1
            self._endings[number] = ending
        # Who asks, and what may not be told of it, is known in a step's thread as well.
        self._calls.put((number, partial(_run, copy_context(), ending, call)))
        if needs_another:
            threading.Thread(target=self._work, daemon=True, name="mason-step").start()
        return number

    def stop(self, number: int) -> None:
        """Ask a call to end. It does when it looks; what it returns or raises comes out of `finished` as always."""
        with self._lock:
            ending = self._endings.get(number)
        if ending:
            ending.ask()

    @property
    def busy(self) -> int:
        """How many calls are not over, also of those that were asked to end."""
        with self._lock:
            return len(self._endings)

    @property
    def listening(self) -> int:
        """How many of those look whether they are to end."""
        with self._lock:
            return sum(each.is_heard for each in self._endings.values())

    def close(self) -> None:
        """Let the threads that have nothing to do end."""
        with self._lock:
            idle = self._idle
        for _ in range(idle):
            self._calls.put(None)

    def _work(self) -> None:
        while (found := self._calls.get()) is not None:
            number, call = found
            value: Any = None
            try:
                value = call()
            except BaseException as error:  # noqa: BLE001 (who waits for the call has to hear of it)
                value = error
            finally:
                with self._lock:
                    del self._endings[number]
                    self._idle += 1
            self._finished.put(Finished(number, value))


def _run(context: Context, ending: Ending, call: Callable[[], Any]) -> Any:
    context.run(end_with, ending)
    return context.run(call)
