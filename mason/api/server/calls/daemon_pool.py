"""Threads for short work, and what wakes a task of asyncio when one of them is done.

They are daemons: the standard pool waits for its threads when the process is to end.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Generic, TypeVar

A = TypeVar("A")
R = TypeVar("R")

_PATIENCE_SECONDS = 0.005
_TOLD_AT_ONCE = 16


class DaemonPool(Generic[A, R]):
    """Applies a function, which does not raise, to arguments: in one thread, as long as that gets along.

    Threads of Python take turns, and a turn costs as much as a short piece of work. So others join only when nothing
    was begun for a moment, since what is at work takes long or waits for something; each time as many as there are.
    Where short work is to be done again, one is enough again. For the same reason those who wait are told when there
    is nothing else to do, or after a moment.
    """

    def __init__(
        self, function: Callable[[A], R], threads: int, name: str, patience_seconds: float = _PATIENCE_SECONDS
    ) -> None:
        self._function = function
        self._most = threads
        self._name = name
        self._patience = patience_seconds
        self._lock = threading.Lock()
        self._waiting: deque[tuple[A, Future[R]]] = deque()
        self._begun = 0
        self._busy = 0
        self._coming = 0
        """How many of those that are busy have yet to begin something."""
        self._threads = 0
        self._since: dict[int, float] = {}
        """When the threads that are at work began what they do."""
        self._done: deque[tuple[Future[R], R]] = deque()
        """What is done and not yet told."""
        self._turns: SimpleQueue[None] = SimpleQueue()
        self._is_crowded = threading.Event()
        threading.Thread(target=self._watch, name=f"{name}-watch", daemon=True).start()

    def submit(self, argument: A) -> Future[R]:
        future: Future[R] = Future()
        self.submit_all([(argument, future)])
        return future

    def submit_all(self, work: Sequence[tuple[A, Future[R]]]) -> None:
        """Apply the function to several arguments, each of which has a future for what comes of it."""
        with self._lock:
            self._waiting.extend(work)
            if not self._is_any_short(time.monotonic()):
                self._join()
            if len(self._waiting) > 1 or not self._coming:
                self._is_crowded.set()

    def _join(self) -> None:
        """Let one more thread work; who calls has the lock."""
        if self._busy == self._most:
            return
        self._busy += 1
        self._coming += 1
        if self._busy > self._threads:
            self._threads += 1
            threading.Thread(target=self._work, name=f"{self._name}-{self._threads}", daemon=True).start()
        self._turns.put(None)

    def _work(self) -> None:
        while True:
            self._turns.get()
            while (found := self._next()) is not None:
                self._apply(*found)
            self._tell()

    def _next(self) -> tuple[A, Future[R]] | None:
        """Return what this thread is to do next; nothing if it is not needed."""
        now, number = time.monotonic(), threading.get_ident()
        with self._lock:
            self._coming -= number not in self._since
            began = self._since.pop(number, 0.0)
            if not self._waiting or (self._is_short(began, now) and self._is_any_short(now)):
                self._busy -= 1
                return None
            self._since[number] = now
            self._begun += 1
            return self._waiting.popleft()

    def _is_short(self, began: float, now: float) -> bool:
        return now - began < self._patience

    def _is_any_short(self, now: float) -> bool:
        return self._coming > 0 or any(self._is_short(began, now) for began in self._since.values())

    def _apply(self, argument: A, future: Future[R]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        began = time.monotonic()
        try:
            result = self._function(argument)
        except BaseException as error:  # noqa: BLE001 (whoever waits has to hear of it; the thread is for others, too)
            future.set_exception(error)
            return
        if not self._is_short(began, time.monotonic()):  # another turn is nothing beside that
            future.set_result(result)
            return
        with self._lock:
            self._done.append((future, result))
            self._is_crowded.set()  # what comes next may take long
        if len(self._done) >= _TOLD_AT_ONCE:
            self._tell()

    def _tell(self) -> None:
        """Tell those who wait what came of it. Each who is told takes a turn: so several are told at once."""
        while True:
            try:
                future, result = self._done.popleft()
            except IndexError:
                return
            future.set_result(result)

    def _watch(self) -> None:
        while True:
            self._is_crowded.wait()
            begun = self._begun
            time.sleep(self._patience)
            if self._begun == begun:
                self._tell()
            with self._lock:
                if not self._waiting and not self._done:
                    self._is_crowded.clear()
                elif self._begun == begun:
                    for _ in range(min(max(1, self._busy), len(self._waiting))):
                        self._join()


class Alarm:
    """One task may wait for it, and any thread may ring it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._rung: asyncio.Future[None] = loop.create_future()

    def ring_from_elsewhere(self, _: object = None) -> None:
        """Wake the task, from any thread."""
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._ring)

    async def within(self, seconds: float) -> None:
        """Wait until it rings, or for some seconds."""
        timer = self._loop.call_later(seconds, self._ring)
        try:
            await self._rung
        finally:
            timer.cancel()
        self._rung = self._loop.create_future()

    def _ring(self) -> None:
        if not self._rung.done():
            self._rung.set_result(None)
