"""The children of a server: calls that do more than ask run in one of them."""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable

from mason.api.processes.call_process import CallProcess
from mason.api.processes.limits import CallLimits
from mason.api.processes.outcome import Outcome
from mason.api.server.calls.call import Call
from mason.api.server.settings import ServerSettings
from mason.errors import MasonError
from mason.pipeline.driving.handover import Handover
from mason.util.processes import Family, count_families

LOG = logging.getLogger("mason.api")
PRELOADED = ["mason.api.processes.preloaded"]
_WATCH_SECONDS = 0.2
_IDLE_SECONDS = 300.0
_LARGE = 512 * 1024 * 1024
"""A child that has grown so much gives way to a new one."""


class CallProcesses:
    """Children that run calls, each one at a time.

    They are made from one process that has Mason imported. One that has run only what ships with Mason is used again.
    """

    def __init__(self, settings: ServerSettings, limits: CallLimits, redact: Callable[[Call, str], str]) -> None:
        self._settings = settings
        self._limits = limits
        self._redact = redact
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        self._idle: list[CallProcess] = []
        self._busy: dict[str, CallProcess] = {}
        self._lock = threading.Lock()
        # Many that begin at once would take the machine from those that answer.
        self._turns = threading.Semaphore(os.cpu_count() or 1)
        self._is_closed = threading.Event()

    def start(self) -> None:
        """Have a child ready for the first call, and begin to watch."""
        threading.Thread(target=self._prepare, name="mason-call-first", daemon=True).start()
        threading.Thread(target=self._watch, name="mason-call-watch", daemon=True).start()

    def run(self, call: Call, handover: Handover, *, reuse: bool) -> Outcome:
        """Run a call in a child; `reuse` says whether that can be used again.

        Raises:
            ClientFailed: no child could be made.
        """
        child = self._take()
        with self._lock:
            self._busy[call.id] = child
        try:
            return child.run(call, handover, lambda text: self._redact(call, text))
        finally:
            with self._lock:
                del self._busy[call.id]
            self._give_back(child, reuse=reuse)

    def cancel(self, must_end: Callable[[str, str], bool]) -> None:
        """End the calls that are to end. `must_end` is told the id of a call and who began it."""
        for call_id, child in list(self._busy.items()):
            call = child.call
            if call is not None and must_end(call_id, call.caller):
                child.cancel()

    def close(self) -> None:
        """End all children."""
        self._is_closed.set()
        with self._lock:
            idle, self._idle = self._idle, []
            busy = list(self._busy.values())
        for child in idle:
            child.end()
        for child in busy:  # whoever waits for its call lets go of it
            child.kill()

    def _prepare(self) -> None:
        try:
            child = self._make()
        except (MasonError, OSError) as error:
            LOG.error("No process for calls could be made yet: %s", error)
            return
        self._give_back(child, reuse=True)

    def _take(self) -> CallProcess:
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.is_usable:
                    return child
                child.end()
        return self._make()

    def _make(self) -> CallProcess:
        with self._turns:
            child = CallProcess(self._context, self._settings, self._limits)
            child.wait_until_ready()
        return child

    def _give_back(self, child: CallProcess, *, reuse: bool) -> None:
        with self._lock:
            if reuse and child.is_usable and not self._is_closed.is_set() and not self._is_enough():
                self._idle.append(child)
                return
        child.end()

    def _is_enough(self) -> bool:
        return len(self._idle) >= self._settings.parallel_jobs

    def _watch(self) -> None:
        while not self._is_closed.wait(_WATCH_SECONDS):
            if not self._busy and not self._idle:
                continue
            families = count_families()
            for child in list(self._busy.values()):
                child.check(families.get(child.pid, Family()))
            self._retire(families)

    def _retire(self, families: dict[int, Family]) -> None:
        """End the idle ones that nobody has needed for long, or that have grown large, but for the last."""
        before = time.monotonic() - _IDLE_SECONDS
        with self._lock:
            old = [each for each in self._idle[1:] if each.idle_since < before]
            large = [each for each in self._idle if families.get(each.pid, Family()).resident_bytes > _LARGE]
            gone = [*old, *(each for each in large if each not in old)]
            self._idle = [each for each in self._idle if each not in gone]
        for child in gone:
            child.end()
