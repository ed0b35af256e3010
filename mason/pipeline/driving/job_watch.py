"""The record of a job: kept up to date while it runs, and told the truth about when nobody does so any more.

A job runs in one process; any other can read its record and ask for its end. What is asked for lies in the store, too,
in a record of its own, since the job's own belongs to who runs it.
"""

from __future__ import annotations

import hashlib
import logging
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from mason.engines.execution.models.job import Job, JobRecord, JobStatus, Places
from mason.engines.storage.models.location import describe_places
from mason.errors import AlreadyExists, Conflict, Interrupted, MasonError
from mason.lineage.surroundings import surroundings
from mason.pipeline.driving.calls import current_call
from mason.pipeline.driving.far_drivers import EVENTS, bring_up_to_date, events_of, find_outcome
from mason.pipeline.driving.job_books import PROCESS, WRITES, JobBook, lease_name
from mason.pipeline.driving.job_log import JobLog
from mason.pipeline.driving.job_progress import TOTALS, JobProgress, Tally
from mason.pipeline.storage.address import with_shown_address
from mason.pipeline.types.python_values import to_typed
from mason.pipeline.work.failures import encode_failure
from mason.pipeline.work.tasks import BEAT_SECONDS, QueryEvent, Starting, TaskEvent, TaskRunner, running, until_closed
from mason.state.home import open_state
from mason.state.models import Record, RecordKind
from mason.state.store import StateStore
from mason.util.ending import check_ending
from mason.util.environment import MasonEnvironment
from mason.util.processes import ProcessId, this_host
from mason.util.redaction import Redactor
from mason.util.words import counted

LOG = logging.getLogger("mason.pipeline")
UNKNOWN = (
    "The process that ran it is gone. Look with `table history` whether it has committed, and if not, run it again."
)
TRACE = 5
LOST = "The process that ran it is gone, and nothing of it was committed. Run it again."
WAIT_SECONDS = 10.0
_LINE_SECONDS = 1.0
_BAR_SECONDS = 0.1


class JobCancelled(Interrupted):
    """Raised when another process asked to cancel the job. 499 · exit 130"""


class JobWatch:
    """Writes down what becomes of a job that this process runs, and shows that it lives."""

    def __init__(
        self, book: JobBook, job: Job, job_id: str, redactor: Redactor, task_bytes: Sequence[int] = ()
    ) -> None:
        """Accept a job.

        Raises:
            AlreadyExists: there is one of this id.
        """
        self.job_id = job_id
        self._book = book
        self._tally = Tally(task_bytes)
        self._written = self._announced = time.monotonic()
        self._shown_at = self._looked_at = 0.0
        self._line = ""
        self._redactor = redactor
        self._status, self._document = JobStatus.RUNNING, describe_begun(job)
        book.begin(job_id, self._document)
        self._log = JobLog(redactor)

    @property
    def record(self) -> JobRecord:
        """The record as it was last written."""
        return JobRecord(self.job_id, self._status, _without_internals(self._document))

    def note(self, message: str, level: int = logging.INFO) -> None:
        """Keep a line with the record that the user need not see now."""
        self._log.add(message, level)

    def drive_here(self) -> None:
        """Say that the job runs in this thread, whichever accepted it."""
        self._log.follow_this_thread()

    @property
    def warnings(self) -> Sequence[str]:
        """What the pipeline has warned of while the job ran: it was told, and belongs into the response as well."""
        return tuple(self._log.warnings)

    def watch(self, runner: TaskRunner) -> TaskRunner:
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

    def record_success(self, result: Mapping[str, Any]) -> JobRecord:
        """Say that the job is done."""
        self.note("Committed." if "Commit" in result else "Done.")
        ended = self._end(JobStatus.SUCCEEDED, result)
        TOTALS.add(ended.details)
        return ended

    def show(self, document: Mapping[str, Any], warnings: Sequence[str], summary: str) -> None:
        """Keep what is to be shown beside the record, for whoever waits elsewhere."""
        self._book.keep_result({"Shown": to_typed(document), "Warnings": list(warnings), "Info": [summary]})

    def record_failure(self, error: BaseException, result: Mapping[str, Any] | None = None) -> JobRecord:
        """Say why the job is not done, and what it found all the same."""
        if isinstance(error, Exception):
            self._book.keep_result({"Failure": encode_failure(error).decode()})
        cancelled = isinstance(error, KeyboardInterrupt | Interrupted)
        status = JobStatus.CANCELLED if cancelled else JobStatus.FAILED
        return self._end(status, {**(result or {}), "Error": self._redactor(_reason(error))})

    def _look_up(self) -> None:
        now = time.monotonic()
        if now - self._looked_at < BEAT_SECONDS:
            return
        self._looked_at = now
        check_ending()
        if self._book.is_cancelled():
            raise JobCancelled("The job was cancelled by another process. Nothing was committed.")

    def _tell(self) -> None:
        now = time.monotonic()
        if self._tally.is_whole or now - self._announced >= _LINE_SECONDS:
            self._announced = now
            progress = self._tally.progress()
            level = logging.INFO if str(progress) != self._line else TRACE
            self._line = str(progress)
            LOG.log(level, "%s", self._line, extra={"progress": progress})
        elif now - self._shown_at >= _BAR_SECONDS:
            progress = self._tally.progress()
            LOG.log(TRACE, "%s", progress, extra={"progress": progress})
        else:
            return
        self._shown_at = now
        if now - self._written >= _LINE_SECONDS:
            self._written = now
            self._update(JobStatus.RUNNING, {**progress.to_dict(), "SecondsLeft": _whole(progress.seconds_left)})

    def _end(self, status: JobStatus, details: Mapping[str, Any]) -> JobRecord:
        progress: JobProgress = self._tally.outcome()
        ended = self._update(status, {**progress.to_dict(), **details, "EndedAt": utc_now()})
        self._log.close()
        return ended

    def _update(self, status: JobStatus, details: Mapping[str, Any]) -> JobRecord:
        document = {**self._document, **details, "Log": self._log.lines()}
        if status.is_final:
            document.pop("SecondsLeft", None)
        self._status, self._document = status, document
        self._book.write(status, document)
        return self.record


def describe_begun(job: Job) -> dict[str, Any]:
    """Return what is said of a job when it begins; with its configuration, since not everybody may see those of all."""
    return {
        "JobType": job.type,
        "Configuration": surroundings().configuration,
        "Inputs": _describe(job.inputs),
        "Outputs": _describe(job.outputs),
        **({WRITES: vars(job.output)} if job.output else {}),
        "StartedAt": utc_now(),
    }


def _describe(places: Mapping[str, Places]) -> dict[str, Any]:
    """Return the places of a job by their URLs; one that is left out is not there."""
    return {name: describe_places(each) for name, each in places.items() if each}


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

    def query(self, content: bytes) -> Iterator[QueryEvent]:
        self._watch.begin_query()
        with until_closed(self._runner.query(content)) as events:
            for event in events:
                if isinstance(event, tuple):
                    yield event
                else:
                    # How many tasks a query has is its engine's affair.
                    self._watch.heard(event if isinstance(event, Starting) else None)
        self._watch.end_query()


def next_job_id() -> str:
    """Return the id of the next job that this thread begins: its call's, if it is the first of one."""
    call = current_call()
    return (call and call.next_job_id()) or uuid.uuid4().hex[:16]


def token_id(token: str) -> str:
    """Return the id of the job that is submitted with a token."""
    return hashlib.sha256(token.encode()).hexdigest()[:16]


def reconcile_record(record: Record, env: MasonEnvironment) -> JobRecord:
    """Return what a record says, unless it says `running` and its process is gone: then the job is lost."""
    is_far = EVENTS in record.document
    # The driver of one that is lost may have slept, and have ended since.
    if JobStatus(record.status).is_final and not (is_far and record.status == JobStatus.LOST):
        return describe_record(record)
    store = open_state(env)
    if is_far:
        return describe_record(bring_up_to_date(store, record))
    if _is_driven(store, record):
        return describe_record(record)
    status, found = _settle_outcome(record)
    try:
        return describe_record(store.update_record(record, status, {**record.document, **found, "EndedAt": utc_now()}))
    except Conflict:  # it ended just now
        current = store.get_record(RecordKind.JOB, record.id)
        return describe_record(current or record)


def _is_driven(store: StateStore, record: Record) -> bool:
    """Say whether the process that drives a job lives.

    On this machine it is there or not: one that sleeps, or could not reach the state for a while, has lost its lease
    and goes on. Of one elsewhere the lease tells.
    """
    process = record.document.get(PROCESS)
    if process and process["Host"] == this_host():
        return ProcessId(process["Pid"], process["Started"]).alive
    return store.acquire_lease(lease_name(record.id), "reconciliation", 0) is None


def _settle_outcome(record: Record) -> tuple[JobStatus, Mapping[str, Any]]:
    """Return what became of a job whose process is gone: its table knows whether it has committed."""
    try:
        found = find_outcome(record)
    except (MasonError, OSError):
        return JobStatus.LOST, {"Error": UNKNOWN}
    if found:
        return JobStatus.SUCCEEDED, found
    return JobStatus.LOST, {"Error": LOST}


def ask_to_cancel(env: MasonEnvironment, job: JobRecord) -> JobRecord:
    """Ask the process that runs a job to end it, and return what became of it, or how it is after some seconds."""
    store = open_state(env)
    with suppress(AlreadyExists):  # somebody else asked, too
        store.add_record(RecordKind.CANCELLATION, job.id, "asked", {"AskedAt": utc_now()})
    found = store.get_record(RecordKind.JOB, job.id)
    far = events_of(found.document) if found else None
    if far:
        far.cancel()
    end = time.monotonic() + WAIT_SECONDS
    while True:
        record = store.get_record(RecordKind.JOB, job.id)
        if record is None:
            return job
        is_late = time.monotonic() >= end
        now = reconcile_record(record, env) if far or JobStatus(record.status).is_final or is_late else None
        if now and (now.status.is_final or time.monotonic() >= end):
            return now
        time.sleep(0.1)


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "It was interrupted."
    return str(error) if isinstance(error, MasonError) else f"{type(error).__name__}: {error}".rstrip(": ")


def describe_record(record: Record) -> JobRecord:
    """Return what a record says."""
    # An older Mason wrote no configuration down; a job of which none is known is not one of whichever is asked.
    return JobRecord(record.id, JobStatus(record.status), {"Configuration": "", **_without_internals(record.document)})


def _without_internals(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without what only Mason has a use for."""
    return {
        name: value for name, value in with_shown_address(document).items() if name not in (EVENTS, PROCESS, WRITES)
    }


def _whole(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds)


def utc_now() -> str:
    """Return the moment, as records write it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
