"""Where the driver of a job writes down how it is: into the state, or into a storage for others to read.

A driver on this machine has the state. One on another machine, in a pod or on a cluster, has not: it writes events into
a folder that whoever follows the job reads (`job_events`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, Protocol

from mason.engines.execution.models.job import JobStatus
from mason.errors import Conflict, MasonError, StateFailed
from mason.pipeline.driving.job_events import BEAT_SECONDS, JobEvents
from mason.state.models import Lease, Record, RecordKind
from mason.state.store import StateStore
from mason.util.processes import this_process

LEASE_SECONDS = 30.0
_LAST_TRIES = 5
_SECONDS_BETWEEN_TRIES = 1.0

_LOG = logging.getLogger("mason.pipeline")

WRITES = "Writes"
"""In a record: the table that its job writes, with the address of its storage. Nobody is shown it."""

PROCESS = "Process"
"""In a record: the process that drives its job and writes it. Nobody is shown it."""


class JobBook(Protocol):
    """Keeps the record of one job while its driver runs."""

    def begin(self, job_id: str, document: Mapping[str, Any]) -> None:
        """Write the record of a job that begins, and show from now on that its driver lives.

        Raises:
            AlreadyExists: there is a job of this id.
            StateFailed, ClientFailed: it cannot be written.
        """

    def write(self, status: JobStatus, document: Mapping[str, Any]) -> None:
        """Write how the job is; one that cannot be written goes on, since the data matter more."""

    def keep_result(self, result: Mapping[str, Any]) -> None:
        """Keep what whoever waits for the job gets beside its record, before its end is written."""

    def is_cancelled(self) -> bool:
        """Say whether somebody asked for the end of the job."""


class StateBook:
    """The record of a job in the state."""

    def __init__(self, store: StateStore, cancelled_by: Collection[str] = ()) -> None:
        self._store = store
        self._cancelled_by = set(cancelled_by)
        self._record: Record | None = None
        self._process = this_process()
        self._over = threading.Event()

    def begin(self, job_id: str, document: Mapping[str, Any]) -> None:
        self._cancelled_by.add(job_id)
        lease = self._store.acquire_lease(lease_name(job_id), job_id, LEASE_SECONDS)
        begun = {**document, PROCESS: self._process}
        self._record = self._store.add_record(RecordKind.JOB, job_id, JobStatus.RUNNING, begun)
        threading.Thread(target=self._hold, args=(job_id, lease), daemon=True).start()

    def write(self, status: JobStatus, document: Mapping[str, Any]) -> None:
        known = {**document, PROCESS: self._process}
        try:
            if status.is_final:
                self._record = try_several_times(lambda: self._write(status, known))
            else:
                self._record = self._write(status, known)
        except StateFailed as error:
            if status.is_final:
                _LOG.warning("The record of the job could not be written: %s", error)
        finally:
            if status.is_final:
                self._over.set()

    def _write(self, status: JobStatus, document: Mapping[str, Any]) -> Record:
        assert self._record is not None
        try:
            return self._store.update_record(self._record, status, document)
        except Conflict:
            # Another process took this one for gone, as it may when the machine slept: who runs the job knows better.
            current = self._store.get_record(RecordKind.JOB, self._record.id) or self._record
            return self._store.update_record(current, status, document)

    def keep_result(self, result: Mapping[str, Any]) -> None:
        """Whoever waits for the job is in this process, and has it."""

    def is_cancelled(self) -> bool:
        with suppress(StateFailed):  # who cannot read what was asked goes on
            return any(self._store.get_record(RecordKind.CANCELLATION, each) for each in self._cancelled_by)
        return False

    def _hold(self, job_id: str, lease: Lease | None) -> None:
        wait = LEASE_SECONDS / 3
        while not self._over.wait(wait):
            wait = _SECONDS_BETWEEN_TRIES  # should the state be away: others may look as soon as it is back
            with suppress(StateFailed):
                if lease is None or not self._store.renew_lease(lease, LEASE_SECONDS):
                    lease = self._store.acquire_lease(lease_name(job_id), job_id, LEASE_SECONDS)
                wait = LEASE_SECONDS / 3 if lease else _SECONDS_BETWEEN_TRIES


class EventBook:
    """The record of a job as events in a storage."""

    def __init__(self, events: JobEvents) -> None:
        self._events = events
        self._over = threading.Event()

    def begin(self, job_id: str, document: Mapping[str, Any]) -> None:
        self._events.write(JobStatus.RUNNING, _without_address(document))
        threading.Thread(target=self._beat, name=f"beat {job_id}", daemon=True).start()

    def write(self, status: JobStatus, document: Mapping[str, Any]) -> None:
        if status.is_final:
            self._over.set()
        tries = _LAST_TRIES if status.is_final else 1
        for left in reversed(range(tries)):
            try:
                self._events.write(status, _without_address(document))
                return
            except MasonError as error:
                if not status.is_final:
                    return  # the next one will do
                if not left:
                    _LOG.warning("The end of the job could not be written to %s: %s", self._events.place, error)
                time.sleep(_SECONDS_BETWEEN_TRIES)

    def keep_result(self, result: Mapping[str, Any]) -> None:
        try:
            self._events.write_result(result)
        except MasonError as error:
            _LOG.warning("What the job shows could not be written to %s: %s", self._events.place, error)

    def is_cancelled(self) -> bool:
        with suppress(MasonError):
            return self._events.is_cancelled()
        return False

    def _beat(self) -> None:
        while not self._over.wait(BEAT_SECONDS):
            with suppress(MasonError):
                self._events.beat()


def try_several_times(write: Callable[[], Record]) -> Record:
    """Write the end of something, which nobody else knows, though the state be away or held for a while.

    Raises:
        StateFailed: it was away to the last.
    """
    for _ in range(_LAST_TRIES - 1):
        with suppress(StateFailed):
            return write()
        time.sleep(_SECONDS_BETWEEN_TRIES)
    return write()


def lease_name(job_id: str) -> str:
    """Return the name of the lease that whoever drives a job holds."""
    return RecordKind.JOB.lease(job_id)


def _without_address(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what others may read beside the table: an address may name files of the machine that submitted the job."""
    return {name: value for name, value in document.items() if name != WRITES}
