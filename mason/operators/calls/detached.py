"""Calls that outlive the command that made them: `mason operator … --detach`.

The command checks the call and starts a process of its own session, to which it tells the call through a pipe, so that
no secret is an argument or a variable. That process writes the record of the call, says so, waits for a slot, runs the
operator, and writes down what came of it. The command ends as soon as the record is there; no daemon is needed.

Slots: so many detached calls work at the same time on one state, and the others wait.

A slot is a lease in the state. Whoever holds one works; one whose process is gone expires and is free again.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from mason.clients.response import LOG, Response
from mason.engines.execution.models.job import JobStatus
from mason.errors import BadInput, ClientFailed, Conflict, MasonError, StateFailed
from mason.operators.calls.records import (
    DETACHED,
    ONE_JOB,
    WAITS,
    Answer,
    answer_for_record,
    how_job_ended,
    is_left,
    is_repeated,
    status_of,
)
from mason.operators.operator_definition import is_one_job
from mason.operators.operator_response import OperatorResponse
from mason.operators.operator_spec import OperatorSpec
from mason.operators.registration.registry import keep_versions
from mason.operators.runner import OperatorCall, prepare_call, respond, run_operator, show_result
from mason.pipeline.driving.calls import begin_call
from mason.pipeline.driving.job_log import JobLog
from mason.pipeline.driving.job_watch import JobCancelled
from mason.state.heartbeat import LEASE_SECONDS, Heartbeat
from mason.state.home import open_state
from mason.state.models import Kind, Record, RecordKind
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.util.names import full_name, new_id
from mason.util.processes import this_host, this_process

VARIABLE = "MASON_DETACHED_JOBS"
_SLOT_SECONDS = 0.25
_LOOK_SECONDS = 0.5
_PATIENCE_SECONDS = 300.0
"""So long a call that was accepted waits for a state that is away."""

T = TypeVar("T")


def slot_count(variables: Mapping[str, str] = os.environ) -> int:
    """Return how many detached calls work at the same time: as many as there are cores, unless a variable says so.

    Raises:
        BadInput: the variable is not a number above 0.
    """
    given = variables.get(VARIABLE, "")
    if not given:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not given.isdecimal() or not int(given):
        raise BadInput(f'{VARIABLE} is "{given}".', hint="It says how many jobs run at the same time: 4.")
    return int(given)


def wait_for_slot(store: StateStore, owner: str, count: int, look_up: Callable[[], None]) -> Heartbeat:
    """Wait until one of the slots is free, and hold it until the heartbeat is stopped.

    Args:
        look_up: called between two looks; what it raises ends the wait.
    """
    while True:
        slot = ask_patiently(lambda: _take_slot(store, owner, count))
        if slot:
            return slot
        ask_patiently(look_up)
        time.sleep(_SLOT_SECONDS)


def _take_slot(store: StateStore, owner: str, count: int) -> Heartbeat | None:
    for number in range(count):
        name = f"slot:{number}"
        lease = store.acquire_lease(name, owner, LEASE_SECONDS)
        if lease:
            return Heartbeat(store, name, owner, lease)
    return None


def ask_patiently(ask: Callable[[], T]) -> T:
    """Ask the state, or write to it what nobody else knows, though it be away or held by another process for a while.

    Raises:
        StateFailed: it was away for minutes.
    """
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except StateFailed:
            if time.monotonic() > end:
                raise
        time.sleep(_LOOK_SECONDS)


_ACCEPTED = "accepted"
_KIND_SECONDS = 2.0
"""So long a call that was cancelled may take to notice by itself, before it is interrupted."""
_LAST_SECONDS = 10.0
"""So long it may then take to end, before its process is killed."""


@dataclass(frozen=True, kw_only=True)
class DetachedCall:
    """What the process that runs a call is told."""

    call: OperatorCall
    config_id: str
    id: str = field(default_factory=new_id)
    is_one_job: bool = False
    may_be_kept: bool = False
    """Whether the call stands in its record, so that it can be run again: what is repeatable and has no secret."""
    repeated: bool = False
    """Whether it is run again, since the process that ran it first is gone."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> DetachedCall:
        document = json.loads(text)
        given = [(name, value) for name, value in document["call"].pop("given")]
        return cls(**{**document, "call": OperatorCall(**document["call"], given=given)})

    def to_document(self) -> dict[str, Any]:
        """Return what the record of the call begins with; no value of a parameter that is a secret."""
        saved = {DETACHED: json.loads(self.to_json())} if self.may_be_kept else {}
        return {
            **saved,
            "JobType": Kind.OPERATOR.value,
            "Operator": full_name(self.call.namespace, self.call.command),
            "Configuration": self.config_id,
            "CalledBy": "",
            ONE_JOB: self.is_one_job,
            "QueuedAt": _now(),
        }


def detach_operator(env: MasonEnvironment, call: OperatorCall, response: Response) -> str:
    """Check a call, have a process of its own run it, and return its id as soon as that has accepted it.

    Raises:
        MasonError: the operator, its parameters or the configuration do not allow it.
        ClientFailed: the process could not be started.
    """
    prepared = prepare_call(env, call, response)
    slot_count()
    spec = OperatorSpec.of(prepared.registration.definition)
    may_be_kept = spec.is_repeatable and not prepared.parameters.secrets
    pinned = replace(call, digest=prepared.registration.digest) if may_be_kept else call
    if may_be_kept:
        keep_versions(env, open_state(env), [prepared.registration])
    one_job = is_one_job(prepared.operator)
    detached = DetachedCall(call=pinned, config_id=prepared.config.id, is_one_job=one_job, may_be_kept=may_be_kept)
    _start(env, detached)
    return detached.id


def repeat_lost(env: MasonEnvironment, job_id: str) -> bool:
    """Run a detached call again if its process is gone, it may be done twice and was not yet; say whether that is so.

    Where it began in another folder, or on another machine, it stays lost: its paths may mean something else here.

    Raises:
        ClientFailed: the process could not be started.
    """
    store = open_state(env)
    call = store.get_record(RecordKind.CALL, job_id)
    if call is None or DETACHED not in call.document or not is_left(store, call):
        return False
    is_elsewhere = (call.document.get("Folder"), call.document["Process"]["Host"]) != (str(Path.cwd()), this_host())
    if is_repeated(call) or is_elsewhere or store.get_record(RecordKind.CANCELLATION, job_id):
        return False
    try:
        if how_job_ended(store, job_id):
            return False
    except (MasonError, OSError):  # nobody can tell what became of it: it is not done twice
        return False
    details = {**call.document[DETACHED], "repeated": True}
    try:  # who writes this first has it; should this process end now, the call is lost for good, and never run twice
        store.update_record(call, JobStatus.RUNNING, {**call.document, DETACHED: details, "Process": this_process()})
    except Conflict:
        return False
    _start(env, DetachedCall.of(json.dumps(details)))
    return True


def _start(env: MasonEnvironment, detached: DetachedCall) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        env={**os.environ, **env.variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert process.stdin and process.stdout and process.stderr
    with process.stdin:
        process.stdin.write(detached.to_json())
    if process.stdout.readline().strip() != _ACCEPTED:
        said = process.stderr.read().strip().splitlines()
        raise ClientFailed(
            f"The process that was to run the job ended at once: {said[-1] if said else 'it said nothing'}"
        )


def main() -> None:
    """Run the call that stdin tells, to its end."""
    detached = DetachedCall.of(sys.stdin.read())
    store = open_state(MasonEnvironment.of())
    heartbeat = Heartbeat(store, f"detached:{detached.id}", detached.id)
    document = {**detached.to_document(), "Process": heartbeat.process, "Folder": str(Path.cwd()), WAITS: True}
    before = store.get_record(RecordKind.CALL, detached.id) if detached.repeated else None
    if before:
        record = store.update_record(before, JobStatus.RUNNING, document)
    else:
        record = store.add_record(RecordKind.CALL, detached.id, JobStatus.RUNNING, document)
    _leave_the_command()
    LOG.setLevel(logging.INFO)  # what an operator says is the log of its job
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        _DetachedRun(store, detached, record).run()
    finally:
        heartbeat.stop()


def _leave_the_command() -> None:
    """Say that the call is accepted, and let go of the pipes of the command, which may end now."""
    with suppress(BrokenPipeError):  # it was killed meanwhile: what is accepted is run
        os.write(1, f"{_ACCEPTED}\n".encode())
    nowhere = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nowhere, each)
    os.close(nowhere)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


class _DetachedRun:
    """The run of one call in its process."""

    def __init__(self, store: StateStore, detached: DetachedCall, record: Record) -> None:
        self._store, self._detached, self._record = store, detached, record
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._written_lines: Sequence[str] = ()

    def run(self) -> None:
        """Wait for a slot, run the operator, and write down what came of it."""
        begin_call(self._detached.id, is_repeated=self._detached.repeated)
        response = Response()
        log = JobLog(lambda text: response.redactor(text))
        threading.Thread(target=self._watch, args=(log,), daemon=True).start()
        result = respond(self._work, response)
        self._over.set()
        self._end((show_result(result), result.response.status), log.lines())
        log.close()

    def _work(self, response: Response) -> OperatorResponse:
        with self._slot():
            self._write(JobStatus.RUNNING, {WAITS: False, "StartedAt": _now()})
            return run_operator(MasonEnvironment.of(), self._detached.call, response)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        slot = wait_for_slot(self._store, self._detached.id, slot_count(), self._look_up)
        try:
            yield
        finally:
            slot.stop()

    def _look_up(self) -> None:
        if self._is_cancelled():
            raise JobCancelled("The job was cancelled before it began.")

    def _is_cancelled(self) -> bool:
        return self._store.get_record(RecordKind.CANCELLATION, self._detached.id) is not None

    def _watch(self, log: JobLog) -> None:
        """Write down what the call says, for whoever follows it, and end it if it was cancelled."""
        while not self._over.wait(_LOOK_SECONDS):
            try:
                self._write_log(log.lines())
                if self._is_cancelled():
                    self._hurry()
                    return
            except StateFailed:  # who cannot read what was asked goes on
                continue

    def _write_log(self, lines: Sequence[str]) -> None:
        if lines == self._written_lines:
            return
        with self._lock:
            if not self._over.is_set():  # else its end is written, and the whole log with it
                self._update(JobStatus.RUNNING, {"Log": lines})
        self._written_lines = lines

    def _hurry(self) -> None:
        """End a call that was cancelled and does not end by itself: as ctrl-C would, and at last for good."""
        if self._over.wait(_KIND_SECONDS):
            return
        os.kill(os.getpid(), signal.SIGINT)
        if self._over.wait(_LAST_SECONDS):
            return
        message = "The job was cancelled. It did not end by itself, and its process was killed."
        self._write(JobStatus.CANCELLED, {"EndedAt": _now(), "Error": message})
        os.killpg(os.getpgid(0), signal.SIGKILL)

    def _end(self, answer: Answer, log: list[str]) -> None:
        self._write(
            status_of(answer), {"EndedAt": _now(), **({"Log": log} if log else {}), **answer_for_record(answer)}
        )

    def _write(self, status: JobStatus, details: Mapping[str, Any]) -> None:
        with self._lock:
            ask_patiently(lambda: self._update(status, details))

    def _update(self, status: JobStatus, details: Mapping[str, Any]) -> None:
        document = {**self._record.document, **details}
        try:
            self._record = self._store.update_record(self._record, status, document)
        except Conflict:  # another process took this one for gone: who runs the call knows better
            current = self._store.get_record(RecordKind.CALL, self._detached.id) or self._record
            self._record = self._store.update_record(current, status, document)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


if __name__ == "__main__":
    main()
