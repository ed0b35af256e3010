"""The record of a job: kept up to date while it runs, and told the truth about when nobody does so any more.

A job runs in one process; any other can read its record and ask for its end. What is asked for lies in the store, too,
in a record of its own, since the job's own belongs to who runs it.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from mason.engines.execution.models.job import Job, JobRecord, JobStatus
from mason.errors import AlreadyExists, Conflict, Interrupted, MasonError, StateFailed
from mason.lineage.surroundings import surroundings
from mason.pipeline.calls import current_call
from mason.pipeline.job_log import JobLog
from mason.pipeline.job_progress import JobProgress, Tally
from mason.pipeline.job_totals import TOTALS
from mason.pipeline.storage_address import shown_address
from mason.pipeline.tasks import BEAT_SECONDS, Starting, TaskEvent, TaskRunner, running, until_closed
from mason.state.home import open_state
from mason.state.models import Lease, Record, RecordKind
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.util.redaction import Redactor
from mason.util.words import counted

LOG = logging.getLogger("mason.pipeline")
TRACE = 5
LEASE_SECONDS = 30.0
WAIT_SECONDS = 10.0
_LINE_SECONDS = 1.0
_BAR_SECONDS = 0.1


class JobCancelled(Interrupted):
    """499 · exit 130 · another process asked for it"""


class JobWatch:
    """Writes down what becomes of a job that this process runs, and holds a lease on it as long as it lives."""

    def __init__(
        self, store: StateStore, job: Job, redactor: Redactor, task_bytes: Sequence[int] = (), job_id: str = ""
    ) -> None:
        """Accept a job.

        Raises:
            AlreadyExists: there is one of this id.
        """
        call = current_call()
        self.job_id = job_id or (call and call.next_job_id()) or uuid.uuid4().hex[:16]
        self._cancelled_by = {self.job_id, call.id if call else self.job_id}
        self._store = store
        self._tally = Tally(task_bytes)
        self._written = self._told = time.monotonic()
        self._shown = self._looked = 0.0
        self._line = ""
        self._redactor = redactor
        self._over = threading.Event()
        lease = store.acquire_lease(_lease_name(self.job_id), self.job_id, LEASE_SECONDS)
        self._record = store.add_record(RecordKind.JOB, self.job_id, JobStatus.RUNNING, _begun(job))
        self._log = JobLog(redactor)
        threading.Thread(target=self._hold, args=(lease,), daemon=True).start()

    @property
    def record(self) -> JobRecord:
        """The record as it was last written."""
        return _job_record(self._record)

    def note(self, message: str, level: int = logging.INFO) -> None:
        """Keep a line with the record that the user need not see now."""
        self._log.add(message, level)

    @property
    def warnings(self) -> Sequence[str]:
        """What the pipeline has warned of while the job ran: it was told, and belongs into the response as well."""
        return tuple(self._log.warnings)

    def watched(self, runner: TaskRunner) -> TaskRunner:
        """Return the runner with this watch beside it, which counts its beats and ends a job that was cancelled."""
        return _WatchedRunner(runner, self)

    def begin(self, tasks: int) -> None:
        """Say that tasks are run now, or run again."""
        self.note(f"Running {counted(tasks, 'task')}.")
        self._tally.begin(tasks)
        self._look_up()
        if tasks:
            self._tell()

    def begin_query(self) -> None:
        """Say that the engine is asked a query now."""
        self.note("Running a query.")
        self._look_up()

    def end_query(self) -> None:
        """Count what a query has read as done: its engine does not tell by how much."""
        self._tally.note_all()

    def heard(self, event: TaskEvent) -> None:
        """Count what the runner yielded.

        Raises:
            JobCancelled: another process asked for it.
        """
        self._tally.note(event)
        self._look_up()
        if not isinstance(event, tuple):
            self._tell()

    def progress(self, done: int, tasks: int, records: int) -> None:
        """Say how far the job is."""
        self._tally.records = records
        self._tell()

    def succeeded(self, result: Mapping[str, Any]) -> JobRecord:
        """Say that the job is done."""
        self.note("Committed." if "Commit" in result else "Done.")
        ended = self._end(JobStatus.SUCCEEDED, result)
        TOTALS.add(ended.details)
        return ended

    def failed(self, error: BaseException, result: Mapping[str, Any] | None = None) -> JobRecord:
        """Say why the job is not done, and what it found all the same."""
        cancelled = isinstance(error, KeyboardInterrupt | Interrupted)
        status = JobStatus.CANCELLED if cancelled else JobStatus.FAILED
        return self._end(status, {**(result or {}), "Error": self._redactor(_reason(error))})

    def _look_up(self) -> None:
        now = time.monotonic()
        if now - self._looked < BEAT_SECONDS:
            return
        self._looked = now
        with suppress(StateFailed):  # who cannot read what was asked goes on
            if any(self._store.get_record(RecordKind.CANCELLATION, each) for each in self._cancelled_by):
                raise JobCancelled("The job was cancelled by another process. Nothing was committed.")

    def _tell(self) -> None:
        now = time.monotonic()
        if self._tally.is_whole or now - self._told >= _LINE_SECONDS:
            self._told = now
            progress = self._tally.progress()
            level = logging.INFO if str(progress) != self._line else TRACE
            self._line = str(progress)
            LOG.log(level, "%s", self._line, extra={"progress": progress})
        elif now - self._shown >= _BAR_SECONDS:
            progress = self._tally.progress()
            LOG.log(TRACE, "%s", progress, extra={"progress": progress})
        else:
            return
        self._shown = now
        if now - self._written >= _LINE_SECONDS:
            self._written = now
            self._update(JobStatus.RUNNING, {**progress.to_dict(), "SecondsLeft": _whole(progress.seconds_left)})

    def _end(self, status: JobStatus, details: Mapping[str, Any]) -> JobRecord:
        self._over.set()
        progress: JobProgress = self._tally.outcome()
        ended = self._update(status, {**progress.to_dict(), **details, "EndedAt": _now()})
        self._log.close()
        return ended

    def _update(self, status: JobStatus, details: Mapping[str, Any]) -> JobRecord:
        document = {**self._record.document, **details, "Log": self._log.lines()}
        if status.is_final:
            document.pop("SecondsLeft", None)
        try:
            self._record = self._written_anew(status, document)
        except StateFailed as error:  # the data matter more than the record of them
            if status.is_final:
                LOG.warning("The record of the job could not be written: %s", error)
        return JobRecord(self.job_id, status, document)

    def _written_anew(self, status: JobStatus, document: Mapping[str, Any]) -> Record:
        try:
            return self._store.update_record(self._record, status, document)
        except Conflict:
            # Another process took this one for gone, as it may when the machine slept: who runs the job knows better.
            current = self._store.get_record(RecordKind.JOB, self.job_id) or self._record
            return self._store.update_record(current, status, document)

    def _hold(self, lease: Lease | None) -> None:
        while not self._over.wait(LEASE_SECONDS / 3):
            with suppress(StateFailed):
                if lease is None or not self._store.renew_lease(lease, LEASE_SECONDS):
                    lease = self._store.acquire_lease(_lease_name(self.job_id), self.job_id, LEASE_SECONDS)


def _begun(job: Job) -> dict[str, Any]:
    """Return what is said of a job when it begins; with its configuration, since not everybody may see those of all."""
    return {
        "JobType": job.type,
        "Configuration": surroundings().configuration,
        "Inputs": _inputs(job),
        "Outputs": dict(job.outputs),
        "StartedAt": _now(),
    }


def _inputs(job: Job) -> dict[str, Any]:
    storage = job.inputs.get("storage")
    return {**job.inputs, "storage": shown_address(str(storage))} if storage else dict(job.inputs)


class _WatchedRunner:
    """Runs tasks on another runner and lets a watch hear what comes."""

    def __init__(self, runner: TaskRunner, watch: JobWatch) -> None:
        self._runner, self._watch = runner, watch

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        self._watch.begin(len(tasks))
        with running(self._runner, kernel, tasks) as events:
            for event in events:
                self._watch.heard(event)
                if isinstance(event, tuple):
                    yield event

    def query(self, content: bytes) -> Iterator[TaskEvent]:
        self._watch.begin_query()
        with until_closed(self._runner.query(content)) as events:
            for event in events:
                if isinstance(event, tuple):
                    yield event
                else:
                    # How many tasks a query has is its engine's affair.
                    self._watch.heard(event if isinstance(event, Starting) else None)
        self._watch.end_query()


def token_id(token: str) -> str:
    """Return the id of the job that is submitted with a token."""
    return hashlib.sha256(token.encode()).hexdigest()[:16]


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


def ask_to_cancel(store: StateStore, job: JobRecord) -> JobRecord:
    """Ask the process that runs a job to end it, and return what became of it, or how it is after some seconds."""
    with suppress(AlreadyExists):  # somebody else asked, too
        store.add_record(RecordKind.CANCELLATION, job.id, "asked", {"AskedAt": _now()})
    end = time.monotonic() + WAIT_SECONDS
    while True:
        record = store.get_record(RecordKind.JOB, job.id)
        if record is None:
            return job
        if JobStatus(record.status).is_final or time.monotonic() >= end:
            return reconciled(record)
        time.sleep(0.1)


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "It was interrupted."
    return str(error) if isinstance(error, MasonError) else f"{type(error).__name__}: {error}".rstrip(": ")


def _lease_name(job_id: str) -> str:
    return RecordKind.JOB.lease(job_id)


def _job_record(record: Record) -> JobRecord:
    # An older Mason wrote no configuration down; a job of which none is known is not one of whichever is asked.
    return JobRecord(record.id, JobStatus(record.status), {"Configuration": "", **record.document})


def _whole(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
