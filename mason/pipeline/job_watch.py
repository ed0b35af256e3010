"""The record of a job: kept up to date while it runs, and told the truth about when nobody does so any more."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mason.engines.execution.models.job import Job, JobRecord, JobStatus
from mason.errors import Conflict, MasonError
from mason.state.home import open_state
from mason.state.models import Lease, Record, RecordKind
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment

LOG = logging.getLogger("mason.pipeline")
LEASE_SECONDS = 30.0
_UPDATE_SECONDS = 1.0


class JobWatch:
    """Writes down what becomes of a job that this process runs, and holds a lease on it as long as it lives."""

    def __init__(self, store: StateStore, job: Job) -> None:
        self.job_id = uuid.uuid4().hex[:16]
        self._store = store
        self._told = time.monotonic()
        self._lease = store.acquire_lease(_lease_name(self.job_id), self.job_id, LEASE_SECONDS)
        details = {"JobType": job.type, "Inputs": dict(job.inputs), "Outputs": dict(job.outputs), "StartedAt": _now()}
        self._record = store.add_record(RecordKind.JOB, self.job_id, JobStatus.RUNNING, details)
        self._over = threading.Event()
        threading.Thread(target=self._hold, args=(self._lease,), daemon=True).start()

    def progress(self, done: int, tasks: int, records: int) -> None:
        """Say how far the job is."""
        if done == tasks or time.monotonic() - self._told >= _UPDATE_SECONDS:
            self._told = time.monotonic()
            LOG.info("%s of %s tasks, %s records", f"{done:,}", f"{tasks:,}", f"{records:,}")
            self._update(JobStatus.RUNNING, {"TasksDone": done, "Tasks": tasks, "RowsIn": records})

    def succeeded(self, result: Mapping[str, Any]) -> JobRecord:
        """Say that the job is done."""
        self._over.set()
        return self._update(JobStatus.SUCCEEDED, {**result, "EndedAt": _now()})

    def failed(self, error: BaseException) -> None:
        """Say why the job is not done."""
        self._over.set()
        cancelled = isinstance(error, KeyboardInterrupt)
        message = str(error) if isinstance(error, MasonError) else f"{type(error).__name__}: {error}".rstrip(": ")
        self._update(JobStatus.CANCELLED if cancelled else JobStatus.FAILED, {"Error": message, "EndedAt": _now()})

    def _hold(self, lease: Lease | None) -> None:
        while lease is not None and not self._over.wait(LEASE_SECONDS / 3):
            self._store.renew_lease(lease, LEASE_SECONDS)

    def _update(self, status: JobStatus, details: Mapping[str, Any]) -> JobRecord:
        self._record = self._store.update_record(self._record, status, {**self._record.document, **details})
        return _job_record(self._record)


def reconciled(record: Record) -> JobRecord:
    """Return what a record says, unless it says `running` and its process is gone: then the job is lost."""
    if JobStatus(record.status).is_final:
        return _job_record(record)
    store = open_state(MasonEnvironment.of())
    if store.acquire_lease(_lease_name(record.id), "reconciliation", 0) is None:
        return _job_record(record)  # somebody holds it: it runs
    told = {**record.document, "Error": "The process that ran it is gone.", "EndedAt": _now()}
    try:
        return _job_record(store.update_record(record, JobStatus.LOST, told))
    except Conflict:  # it ended just now
        current = store.get_record(RecordKind.JOB, record.id)
        return _job_record(current or record)


def _lease_name(job_id: str) -> str:
    return f"job:{job_id}"


def _job_record(record: Record) -> JobRecord:
    return JobRecord(record.id, JobStatus(record.status), record.document)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
