"""Threads for short work. They are daemons: the standard pool waits for its threads when the process is to end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Generic, TypeVar

A = TypeVar("A")
R = TypeVar("R")


class DaemonPool(Generic[A, R]):
    """Applies a function, which does not raise, to arguments in some threads."""

    def __init__(self, function: Callable[[A], R], threads: int, name: str) -> None:
        self._function = function
        self._waiting: SimpleQueue[tuple[A, Future[R]]] = SimpleQueue()
        for number in range(threads):
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True).start()

    def submit(self, argument: A) -> Future[R]:
        future: Future[R] = Future()
        self._waiting.put((argument, future))
        return future

    def _work(self) -> None:
        while True:
            argument, future = self._waiting.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._function(argument))
            except BaseException as error:  # noqa: BLE001 (whoever waits has to hear of it; the thread is for others, too)
                future.set_exception(error)
