"""Calls that change nothing: they run at once, beside the queue and without a record."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future

from mason.api.operator_api import Answer
from mason.api.server.calls import Call
from mason.api.server.daemon_pool import DaemonPool
from mason.errors import TooMany

_PARALLEL_READS = 16
_MOST_READS = 256


class Reads:
    """A bounded number of such calls."""

    def __init__(self, run: Callable[[Call], Answer]) -> None:
        self._pool = DaemonPool(run, _PARALLEL_READS, "mason-read")
        self._count = 0
        self._lock = threading.Lock()
        self._waiting: list[tuple[Call, Future[Answer]]] = []

    def submit(self, call: Call) -> Future[Answer]:
        """Run a call.

        Raises:
            TooMany: too many such calls wait already.
        """
        if self._count >= _MOST_READS:
            raise TooMany("Too many requests wait already.", hint="Try again in a moment.")
        self._add(1)
        future: Future[Answer] = Future()
        future.add_done_callback(self._end)
        self._waiting.append((call, future))
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._begin)  # when the requests are read that came with this one
        return future

    def _begin(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._pool.submit_all(waiting)

    def _end(self, _: Future[Answer]) -> None:
        self._add(-1)

    def _add(self, number: int) -> None:
        with self._lock:
            self._count += number
