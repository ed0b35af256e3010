"""Wakes a task when another thread is done, or when its time is up: `asyncio.wait` with a tenth of the work."""

from __future__ import annotations

import asyncio
from contextlib import suppress


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
