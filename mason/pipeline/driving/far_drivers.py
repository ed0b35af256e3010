"""Jobs whose driver has no access to the state: in a pod, on a cluster, or in a child process that was not given it.

Such a driver writes events to a storage (`job_events`). The state has a record of the job all the same, which says
where the events are; whoever asks for the job brings it up to date. A driver lives as long as the number of its newest
event grows. Of one that is gone without a word, the output of the job tells the outcome: it has the commit of the job,
or it has not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from mason.engines.execution.models.job import JobStatus
from mason.engines.storage.models.location import Location
from mason.errors import Conflict, MasonError
from mason.pipeline.driving.job_books import WRITES
from mason.pipeline.driving.job_events import BEAT_SECONDS, JobEvents
from mason.pipeline.tables.commit import CommitRecord, open_table
from mason.state.models import Record, RecordKind
from mason.state.store import StateStore
from mason.util.processes import ProcessId, this_host, this_process

EVENTS = "Events"
"""In a record: where the events of its job are, and what each machine saw of them last. Nobody is shown it."""

_DEAD_SECONDS = 12 * BEAT_SECONDS
"""So long the number of the newest event may stay the same."""
_START_SECONDS = 300.0
"""So long a driver may take to write its first event: a pod has to be placed, and an image fetched."""


def far_record(events: Location) -> dict[str, Any]:
    """Return what a record says of a job whose driver writes events."""
    return {
        EVENTS: {
            "Storage": events.storage,
            "Folder": events.path,
            "Number": 0,
            "SeenAt": {this_host(): time.monotonic()},
            "SubmittedBy": this_process(),
        }
    }


def was_left_unstarted(job: Record) -> bool:
    """Say whether a job was written down by a process that is gone, and no driver of it has said a word.

    Its driver may have been started, or not: whoever asks for the job again has it started once more.
    """
    submitter = job.document.get(EVENTS, {}).get("SubmittedBy")
    if JobStatus(job.status).is_final or not submitter or submitter["Host"] != this_host():
        return False
    events = events_of(job.document)
    is_gone = not ProcessId(submitter["Pid"], submitter["Started"]).alive
    return is_gone and events is not None and events.newest() is None


def events_of(document: Mapping[str, Any]) -> JobEvents | None:
    """Return the events of a job, if it has some."""
    events = document.get(EVENTS)
    return JobEvents(Location(events["Folder"], events["Storage"])) if events else None


def output_of(document: Mapping[str, Any]) -> Location | None:
    """Return the table that a job writes, with the address of its storage; the record's `Outputs` are for people."""
    written = document.get(WRITES)
    return Location(**written) if written else None


def find_commit(output: Location | None, job_id: str) -> CommitRecord | None:
    """Return the commit that a job has made, if it has made one."""
    if output is None:
        return None
    return next((each for each in open_table(output).history() if each.job == job_id), None)


def find_outcome(job: Record) -> Mapping[str, Any] | None:
    """Return what is to be said of a job that has committed, and whose driver is gone; nothing if it has not.

    Raises:
        MasonError: nobody can tell.
    """
    commit = find_commit(output_of(job.document), job.id)
    if commit is None:
        return None
    return {"Commit": commit.id, "RowsOut": commit.rows, "RowsQuarantined": commit.quarantined}


def bring_up_to_date(store: StateStore, record: Record) -> Record:
    """Return the record of a job with what its events say by now; of one that is lost, too: its driver may have slept.

    Raises:
        ClientFailed: the events cannot be read.
    """
    events = events_of(record.document)
    assert events is not None
    event = events.newest()
    seen = record.document[EVENTS]
    now = time.monotonic()  # since this machine was started, whatever becomes of its clock: `this_host` is that start
    if event and event.status.is_final:
        known = {name: value for name, value in record.document.items() if name != "Error"}  # of one taken for lost
        ended = {**event.document, EVENTS: {**seen, "Number": event.number}}
        return _write(store, record._replace(document=known), event.status, ended)
    if JobStatus(record.status).is_final:
        return record
    if event and event.number != seen["Number"]:
        updated = {**event.document, EVENTS: {**seen, "Number": event.number, "SeenAt": {this_host(): now}}}
        return _write(store, record, JobStatus.RUNNING, updated)
    if seen["SeenAt"].get(this_host(), math.inf) > now:
        # Each machine goes by what it saw itself, since it was started: by another's word a driver could be dead, or
        # live, for hours.
        updated = {EVENTS: {**seen, "SeenAt": {**seen["SeenAt"], this_host(): now}}}
        return _write(store, record, JobStatus.RUNNING, updated)
    was_seen = event is not None or seen["Number"] > 0  # somebody may have removed its events
    patience = _DEAD_SECONDS if was_seen else _START_SECONDS
    if now - seen["SeenAt"][this_host()] <= patience:
        return record
    return _settle(store, record, events, was_seen=was_seen)


def _settle(store: StateStore, record: Record, events: JobEvents, *, was_seen: bool) -> Record:
    """Write down what became of a job whose driver is gone.

    It may only sleep, or not be heard: so it is told to end before anybody is told to run the job again.
    """
    with suppress(MasonError):  # where nothing can be written, it tells nothing either
        events.cancel()
    try:
        commit = find_commit(output_of(record.document), record.id)
    except MasonError:
        return record  # whoever cannot look, cannot tell
    ended = {"EndedAt": datetime.now(UTC).isoformat(timespec="microseconds")}
    if commit:
        found = {"Commit": commit.id, "RowsOut": commit.rows, "RowsQuarantined": commit.quarantined}
        return _write(store, record, JobStatus.SUCCEEDED, {**found, **ended})
    reason = "The driver of the job is gone" if was_seen else "The driver of the job never wrote a word"
    message = f"{reason}, and nothing of it was committed. Run it again."
    return _write(store, record, JobStatus.LOST, {"Error": message, **ended})


def _write(store: StateStore, record: Record, status: JobStatus, details: Mapping[str, Any]) -> Record:
    try:
        return store.update_record(record, status, {**record.document, **details})
    except Conflict:  # somebody else has just done so
        return store.get_record(RecordKind.JOB, record.id) or record
