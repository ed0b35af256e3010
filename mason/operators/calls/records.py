"""Calls through the API as jobs: whoever asks for a job, here or in a request, sees them beside those of the engine.

A call that runs a job of the pipeline gives it its own id. So the record of the call says where it stands and what it
answered, and the engine's record of the same id adds how far it is and what it logged.

Answers to calls, as their records keep them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from mason.clients.response import Response
from mason.configurations.saved import use_configuration
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import JobRecord, JobStatus
from mason.errors import AlreadyExists, Conflict, Forbidden, Interrupted, MasonError
from mason.pipeline.driving.calls import first_job_id
from mason.pipeline.storage.address import with_shown_address
from mason.state.heartbeat import is_gone
from mason.state.home import open_state, read_state
from mason.state.models import Record, RecordKind
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.util.json_text import json_value

ENGINE_JOB = "EngineJob"
"""The id that an engine gave the work of a call, where it goes on with it by itself."""

ENGINE_NOTES = "EngineNotes"
"""What whoever finishes such a call needs to know besides."""

ENGINE_TOKEN = "EngineToken"
"""What the engine is asked with, written down before it is: with the same one it can be asked again."""

MAY_FOLLOW: ContextVar[Callable[[Mapping[str, Any]], bool]] = ContextVar("mason_may_follow", default=lambda _: True)
"""Says of a job whether whoever asks may see it, and end it: a server knows callers who may not see all."""

MAY_READ_ROWS: ContextVar[bool] = ContextVar("mason_may_read_rows", default=True)
"""Whether whoever asks may see rows of a job that only its engine knows: nobody knows who began it, and with what."""

WAITS = "Waits"
"""Of a call that its process has not begun, since others are at work."""

ONE_JOB = "OneJob"
"""Of a call that does nothing but run a job: what becomes of the job is what becomes of it."""

DETACHED = "Detached"
"""What a detached call was asked, where it may be run again. Whoever asks for it does that, and no server."""

_PAGE = 500
_NEWER = 10_000
_LOST = "The process that ran it is gone. Look at what it was to write, and run it again if need be."
_HIDDEN = (WAITS, ONE_JOB, DETACHED, "Folder", "Call", "Claim", "Process", "Fingerprint", ENGINE_NOTES, ENGINE_TOKEN)


def find_job(env: MasonEnvironment, config: ValidConfig, job_id: str, response: Response) -> JobRecord:
    """Return a job: a call with what the engine knows of it, or a job of the engine.

    Raises:
        NotFound: there is no such job.
        Forbidden: whoever asks may not see it.
    """
    store = read_state(env)
    call = _find_call(store, job_id)
    if call is None:
        job = config.execution.client.get_job(job_id, response=response)[0]
        return job if MAY_READ_ROWS.get() else _without_rows(job, response)
    of_engine: Mapping[str, Any] = {}
    with suppress(MasonError):  # what the call itself says is enough
        known_as = call.document.get(ENGINE_JOB) or first_job_id(job_id, is_repeated=is_repeated(call))
        engine = _configuration_of(env, config, call).execution.client
        of_engine = engine.get_job(known_as, response=Response(response.redactor))[0].details
    return call_job(store, call, of_engine)


def _without_rows(job: JobRecord, response: Response) -> JobRecord:
    checks = [each for each in job.details.get("Checks") or () if isinstance(each, Mapping)]
    has_samples = any("Samples" in each for each in checks)
    if "Rows" not in job.details and not has_samples:
        return job
    response.add_info("Its rows are shown to whoever began it, and to tokens that are for all operators.")
    shown = {key: value for key, value in job.details.items() if key != "Rows"}
    if has_samples:
        shown["Checks"] = [{key: value for key, value in each.items() if key != "Samples"} for each in checks]
    return replace(job, details=shown, picture=None)


def find_record(store: StateStore, job_id: str) -> Record | None:
    """Return what the state has of a job: the call that it is, or what was written down of it where it ran.

    Of one that only an engine knows there is nothing: it is found by the configuration of that engine, and no other.
    """
    return store.get_record(RecordKind.CALL, job_id) or store.get_record(RecordKind.JOB, job_id)


def complete_job_id(store: StateStore, begun: str) -> str:
    """Return the id of the only newer job whose id begins so; what was given where there is none, or several."""
    if not begun or find_record(store, begun):
        return begun
    kinds = (RecordKind.CALL, RecordKind.JOB)
    newer = {each.id for kind in kinds for each in store.list_records(kind, limit=_NEWER)}
    found = [each for each in newer if each.startswith(begun)]
    return found[0] if len(found) == 1 else begun


def _find_call(store: StateStore, job_id: str) -> Record | None:
    """Return the call that a job is, if it is one.

    Raises:
        Forbidden: whoever asks may not see the job.
    """
    record = find_record(store, job_id)
    if record and not MAY_FOLLOW.get()(record.document):
        raise Forbidden(f'The job "{job_id}" has a configuration that you may not use.')
    return record if record and record.kind is RecordKind.CALL else None


def _configuration_of(env: MasonEnvironment, config: ValidConfig, call: Record) -> ValidConfig:
    """Return the configuration that a call was made with: its engine has the job, whichever is asked now."""
    config_id = call.document["Configuration"]
    return config if config_id in ("", config.id) else use_configuration(env, config_id)


def list_jobs(
    env: MasonEnvironment, config: ValidConfig, response: Response, *, most: int, status: str = "", name: str = ""
) -> list[JobRecord]:
    """Return calls and the engine's jobs, the newest first, each without what is long.

    Args:
        most: so many at most.
        status: only those that stand like this; all by default.
        name: only those of this operator or workflow; what was run from the command line has none.
    """
    of_engine = {each.id: each for each in config.execution.client.list_jobs(response=response)[0]}
    store = read_state(env)
    found = _newest_calls(store, most, status, name)
    calls = {each.id: _in_short(store, each, of_engine.get(each.id)) for each in found}
    may_follow = MAY_FOLLOW.get()
    # A job that says no configuration is known to its engine alone: it has the one by which the engine was found.
    seen = [each for each in of_engine.values() if may_follow({"Configuration": config.id, **each.details})]
    others = [each for each in seen if each.id not in calls and status in ("", each.status) and not name]
    newest = sorted([*calls.values(), *others], key=_began, reverse=True)
    # A job of the engine that is a call stands as the call does, and was looked for above.
    return list(islice((each for each in newest if each.id in calls or not _is_call(store, each.id)), most))


def cancel_job(env: MasonEnvironment, config: ValidConfig, job_id: str, response: Response) -> JobRecord:
    """End a call that is queued at once, and ask for the end of one that runs; or of a job of the engine.

    Raises:
        NotFound: there is no such job.
        Forbidden: whoever asks may not see it.
    """
    store = open_state(env)
    call = _find_call(store, job_id)
    if call is None:
        return config.execution.client.cancel_job(job_id, response=response)[0]
    if call_status(store, call).is_final:
        response.add_info(f"The job is over already: it is {call_status(store, call)}.")
        return call_job(store, call)
    ask_to_end(store, job_id)
    if call.status == JobStatus.QUEUED:
        with suppress(Conflict):  # it was started just now, and will look up
            ended = store.update_record(call, JobStatus.CANCELLED, {**call.document, "EndedAt": _now()})
            response.add_info("The job was cancelled before it began.")
            return call_job(store, ended)
    response.add_info("Cancellation requested. The job stops after its current task.")
    return call_job(store, store.get_record(RecordKind.CALL, job_id) or call)


def cancel_calls_of(store: StateStore, caller: str, reason: str) -> int:
    """End what a caller has asked for and what is not over, and return how many calls that are."""
    # First those that wait: one that begins meanwhile is found among those that run.
    calls = [each for status in (JobStatus.QUEUED, JobStatus.RUNNING) for each in _all_calls(store, status, _PAGE)]
    of_caller = [each for each in calls if each.document.get("CalledBy") == caller]
    going_on = {each.id: each for each in of_caller if not call_status(store, each).is_final}
    for call in going_on.values():
        ask_to_end(store, call.id, reason)
        if call.status == JobStatus.QUEUED:
            with suppress(Conflict):  # it was started just now, and will look up
                ended = {**call.document, "EndedAt": _now(), "Error": f"The job was cancelled. {reason}"}
                store.update_record(call, JobStatus.CANCELLED, ended)
    return len(going_on)


def ask_to_end(store: StateStore, job_id: str, reason: str = "") -> None:
    """Write down that a job is to end; whoever runs it looks for that."""
    reasons = {"Reason": reason} if reason else {}
    with suppress(AlreadyExists):  # somebody else asked, too
        store.add_record(RecordKind.CANCELLATION, job_id, "asked", {"AskedAt": _now(), **reasons})


def call_job(store: StateStore, call: Record, of_engine: Mapping[str, Any] | None = None) -> JobRecord:
    """Return a call as a job; what its engine says of it is less than what it says itself."""
    call = _as_it_ended(store, call)
    status = call_status(store, call)
    of_engine = of_engine or {}
    lost = {"Error": _LOST} if status is JobStatus.LOST else {}
    if lost and call.document.get(ONE_JOB) and of_engine.get("Commit"):  # it had done all, and could not say so
        status, lost = JobStatus.SUCCEEDED, {}
    said = {key: value for key, value in call.document.items() if key not in _HIDDEN}
    if isinstance(said.get("Response"), Mapping):
        said["Response"] = {**said["Response"], "Data": list(map(with_shown_address, said["Response"].get("Data", ())))}
    log = {"Log": of_engine["Log"]} if "Log" in of_engine else {}  # which has more, and while it runs
    return JobRecord(call.id, status, {**of_engine, **lost, **said, **log})


def how_job_ended(store: StateStore, job_id: str) -> JobStatus | None:
    """Return how the job of a call has ended: by its record, or by the commit that its table has; None if it has not.

    Raises:
        MasonError, OSError: nobody can tell.
    """
    job = store.get_record(RecordKind.JOB, job_id)
    if job is None or JobStatus(job.status).is_final:
        return JobStatus(job.status) if job else None
    from mason.pipeline.driving.far_drivers import find_outcome  # of no use before something has crashed

    return JobStatus.SUCCEEDED if find_outcome(job) else None


def call_status(store: StateStore, call: Record) -> JobStatus:
    """Return where a call stands: one whose process is gone is lost, unless its engine has it."""
    call = _as_it_ended(store, call)
    if is_left(store, call) and not is_with_engine(call):
        return JobStatus.LOST
    if call.status == JobStatus.RUNNING and call.document.get(WAITS):
        return JobStatus.QUEUED
    return JobStatus(call.status)


def is_left(store: StateStore, call: Record) -> bool:
    """Say whether the process that ran a call is gone, and left it as it is."""
    return _has_lost_its_process(store, _as_it_ended(store, call))


def _as_it_ended(store: StateStore, call: Record) -> Record:
    """Return a call as it stands now if its process has ended since it was read: it may have written how before."""
    if not _has_lost_its_process(store, call):
        return call
    return store.get_record(RecordKind.CALL, call.id) or call


def _has_lost_its_process(store: StateStore, call: Record) -> bool:
    process: Mapping[str, Any] = call.document.get("Process", {})
    return call.status == JobStatus.RUNNING and bool(process) and is_gone(store, process)


def is_repeated(call: Record) -> bool:
    """Say whether a call is run again, since the process that ran it first is gone."""
    return any(call.document.get(word, {}).get("repeated") for word in ("Call", DETACHED))


def is_with_engine(call: Record) -> bool:
    """Say whether an engine goes on with a call without the process that ran it, so that another can follow it."""
    return (ENGINE_JOB in call.document or ENGINE_TOKEN in call.document) and "Call" in call.document


_RECORDED_AS: Mapping[str, Sequence[str]] = {
    JobStatus.LOST: (JobStatus.RUNNING, JobStatus.LOST),  # whose process is gone
    JobStatus.QUEUED: (JobStatus.QUEUED, JobStatus.RUNNING),  # whose process waits
}
"""As what calls are recorded that stand like this."""


def _newest_calls(store: StateStore, most: int, status: str, name: str) -> list[Record]:
    """Return the newest calls of each status that a call may have which stands like this."""
    may_follow = MAY_FOLLOW.get()
    recorded = _RECORDED_AS.get(status, (status,))

    def fits(call: Record) -> bool:
        is_named = name in ("", call.document.get("Operator"), call.document.get("Workflow"))
        return is_named and may_follow(call.document) and status in ("", call_status(store, call))

    return [call for each in recorded for call in islice(filter(fits, _all_calls(store, each, most)), most)]


def _all_calls(store: StateStore, status: str, first: int) -> Iterator[Record]:
    """Yield calls, the newest first: so many may do, but who has to look further reads long pages.

    The store passes over what comes before a page, so that short ones would make many calls a lot of work.
    """
    offset, page = 0, first
    while True:
        found = store.list_records(RecordKind.CALL, status=status, limit=page, offset=offset)
        yield from found
        if len(found) < page:
            return
        offset, page = offset + page, max(page, _PAGE)


def _in_short(store: StateStore, call: Record, of_engine: JobRecord | None) -> JobRecord:
    job = call_job(store, call, of_engine.details if of_engine else {})
    return replace(job, details={key: value for key, value in job.details.items() if _is_short(value)})


def _is_call(store: StateStore, job_id: str) -> bool:
    return store.get_record(RecordKind.CALL, job_id) is not None


def _is_short(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _began(job: JobRecord) -> str:
    return str(job.details.get("QueuedAt") or job.details.get("StartedAt") or "")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


Answer = tuple[Any, int]
"""The JSON of a response, and its HTTP status."""

MOST_DATA = 1024 * 1024
"""So many characters of a call's data are kept with its record; of more, none."""


def status_of(answer: Answer) -> JobStatus:
    """Return how a call has ended that gave this answer."""
    if answer[1] == Interrupted.status:
        return JobStatus.CANCELLED
    return JobStatus.SUCCEEDED if answer[1] < 400 else JobStatus.FAILED


def answer_for_record(answer: Answer) -> dict[str, Any]:
    """Return what the record of a call keeps of its answer."""
    response = json_value(answer[0])
    if response.get("Data") and len(json.dumps(response["Data"])) > MOST_DATA:
        response = {**response, "Data": [], "DataLeftOut": True}
    errors = response.get("Errors")
    problem = {"Error": errors[0]} if errors else {}
    return {**problem, "HttpStatus": answer[1], "Response": response}
