"""Runs calls in the background. What was accepted is in the state store, runs once, and outlives a crash of the server.

Several processes, on several machines, may share a store: who changes a record from queued to running has the call, and
nobody else. The store may be away for a while: what could not be written down is, when it is back.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from mason.api.operator_api import Answer
from mason.api.processes.outcome import Outcome
from mason.api.server.calls.call import Call, answer_cancelled, answer_of, now
from mason.api.server.calls.claims import Claims, FairLine, RunningRecord, log_status
from mason.api.server.calls.execution import CallRunner, Reads
from mason.engines.execution.models.job import JobStatus
from mason.errors import Conflict, MasonError, StateFailed, TooMany
from mason.operators.calls.records import (
    DETACHED,
    ENGINE_JOB,
    ENGINE_NOTES,
    ENGINE_TOKEN,
    answer_for_record,
    ask_to_end,
    call_status,
    how_job_ended,
    is_left,
    is_repeated,
    is_with_engine,
    status_of,
)
from mason.pipeline.driving.handover import Handover
from mason.state.heartbeat import LEASE_SECONDS, Heartbeat
from mason.state.models import Record, RecordKind
from mason.state.store import StateStore
from mason.state.tokens import is_revoked, revocation_reason

LOG = logging.getLogger("mason.api")
_LOOK_SECONDS = 1.0
_ELSEWHERE_SECONDS = 0.25
_LAST_SECONDS = 5.0
_MANY = 10_000
_LOST = "The server that ran it is gone. Look at what it was to write, and run it again if need be."
_LOST_SECONDS = LEASE_SECONDS / 3
"""So often a server looks for calls whose server is gone."""


class CallQueue:
    """The calls of one process, and those of others that nobody has begun."""

    def __init__(
        self,
        store: StateStore,
        calls: CallRunner,
        *,
        parallel: int,
        most_queued: int,
        lost_seconds: float = _LOST_SECONDS,
        is_repeatable: Callable[[Call], bool] = lambda _: False,
    ) -> None:
        self._store = store
        self._calls = calls
        self._most_queued = most_queued
        self._wake = threading.Condition()
        self._stopping = threading.Event()
        self._own = FairLine()
        self._in_memory: dict[str, Call] = {}
        self._futures: dict[str, Future[Answer]] = {}
        self._elsewhere: set[str] = set()
        self._busy: set[str] = set()
        self._taken_over: dict[str, Record] = {}
        self._reads = Reads(lambda call: calls.run(call, Handover()).answer)
        names = [f"mason-call-{number}" for number in range(parallel)]
        self._threads = [threading.Thread(target=self._work, name=name, daemon=True) for name in names]
        self._threads.append(threading.Thread(target=self._look_around, name="mason-look", daemon=True))
        self._heartbeat = Heartbeat(store, f"server:{(name := uuid.uuid4().hex)}", name)
        self._process = self._heartbeat.process
        self._claims = Claims(store, self._process)
        self._unwritten: deque[tuple[Record, JobStatus, Mapping[str, Any]]] = deque()
        self._writes_rest = threading.Lock()
        self._lost_seconds = lost_seconds
        self._is_repeatable = is_repeatable
        self._look_for_lost_at = 0.0

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def start(self) -> None:
        """Say of calls whose process is gone what became of them, and begin to work."""
        self._settle_lost()
        self._calls.start()
        for thread in self._threads:
            thread.start()

    def add(self, call: Call, *, keep: bool = True, fingerprint: str = "") -> Future[Answer]:
        """Accept a call: it runs when it is its turn, also in another process or after a restart.

        Args:
            keep: whether what was given may be written down. Of what may not, only this process knows: it is lost
                when the process is.
            fingerprint: what tells this call from another one with the same key.

        Raises:
            TooMany: too many calls wait already.
            AlreadyExists: there is a call of this id.
        """
        queued = self._store.count_records(RecordKind.CALL, JobStatus.QUEUED).get(JobStatus.QUEUED, 0)
        if queued + len(self._in_memory) >= self._most_queued:  # what may not be written down waits as well
            raise TooMany(f"{self._most_queued:,} jobs are queued already, which is the most.", hint="Try again later.")
        fingerprinted = {"Fingerprint": fingerprint} if fingerprint else {}
        future: Future[Answer] = Future()
        if keep:
            self._store.add_record(RecordKind.CALL, call.id, JobStatus.QUEUED, {**call.to_document(), **fingerprinted})
        else:
            document = {**call.describe(), "Process": self._process, **fingerprinted}
            self._store.add_record(RecordKind.CALL, call.id, JobStatus.RUNNING, document)
            self._in_memory[call.id] = call
        future = self._futures.setdefault(call.id, future)  # somebody with the same key may wait already
        log_status(call.id, JobStatus.QUEUED, call.describe())
        self._line_up(call.id, call.caller)
        return future

    def attach(self, call_id: str) -> Future[Answer]:
        """Return what will be the answer to a call that was accepted earlier, here or elsewhere."""
        known = self._futures.get(call_id)
        if known is not None:
            return known
        future = self._futures.setdefault(call_id, Future())
        self._elsewhere.add(call_id)
        return future

    def status(self, call_id: str) -> JobStatus:
        """Return where a call stands that this process has accepted and not answered."""
        return JobStatus.QUEUED if call_id in self._own else JobStatus.RUNNING

    def read(self, call: Call) -> Future[Answer]:
        """Run a call that changes nothing, at once and without a record.

        Raises:
            TooMany: too many such calls wait already.
        """
        return self._reads.submit(call)

    def keep_reading(self, call: Call, future: Future[Answer]) -> None:
        """Make a job of a call that takes longer than its caller waits."""
        document = {**call.describe(), "StartedAt": now(), "Process": self._process}
        record = self._store.add_record(RecordKind.CALL, call.id, JobStatus.RUNNING, document)
        future.add_done_callback(lambda done: self._end(record, done.result(), status_of(done.result())))

    def announce_stop(self) -> None:
        """Begin nothing new: whoever waits for an answer is told where the job will be found."""
        self._stopping.set()

    def stop(self, seconds: float) -> None:
        """Let what runs end within some seconds, ask for its end then; what is queued stays queued."""
        self._stopping.set()
        with self._wake:
            self._wake.notify_all()
        self._wait(seconds)
        for call_id in list(self._busy):
            with suppress(StateFailed):
                ask_to_end(self._store, call_id)
        self._wait(_LAST_SECONDS)
        for call_id in list(self._busy):
            record = self._store.get_record(RecordKind.CALL, call_id)
            if record and record.status == JobStatus.RUNNING:
                self._settle(record)
        self._write_rest()
        self._calls.close()
        self._heartbeat.stop()

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while self._busy and time.monotonic() < end:
            time.sleep(0.02)

    def _work(self) -> None:
        is_idle = True
        while not self._stopping.is_set():
            try:
                is_idle = not self._work_once(wait=is_idle)
            except StateFailed as error:  # it may come back
                LOG.error("%s", error)
                self._stopping.wait(_LOOK_SECONDS)

    def _work_once(self, *, wait: bool) -> bool:
        """Run a call, one of this process or else one that others left behind, and say whether there was one."""
        with self._wake:
            if not self._own and wait:
                self._wake.wait(_LOOK_SECONDS)
            call_id = self._own.take()
        if self._stopping.is_set():
            return False  # it stays queued
        if not call_id:
            left_by_others = self._store.oldest_record(RecordKind.CALL, JobStatus.QUEUED)
            call_id = left_by_others.id if left_by_others else ""
        claimed = self._claim_or_keep(call_id) if call_id else None
        if claimed:
            self._busy.add(call_id)  # until its record says how it ended
            try:
                self._run_claimed(*claimed)
            finally:
                self._busy.discard(call_id)
        return bool(call_id)

    def _claim_or_keep(self, call_id: str) -> tuple[Record, Call] | None:
        try:
            return self._claim(call_id)
        except StateFailed:
            self._line_up(call_id)
            raise

    def _line_up(self, call_id: str, caller: str = "") -> None:
        with self._wake:
            self._own.add(call_id, caller)
            self._wake.notify()

    def _claim(self, call_id: str) -> tuple[Record, Call] | None:
        taken_over = self._taken_over.pop(call_id, None)
        if taken_over:
            return taken_over, Call.of_document(taken_over.document)
        record = self._store.get_record(RecordKind.CALL, call_id)
        call = self._in_memory.pop(call_id, None)
        if record and call:
            return record, call
        if record and (claimed := self._claims.claim(record)):
            return claimed
        if call_id in self._futures:
            self._elsewhere.add(call_id)
        return None

    def _run_claimed(self, record: Record, call: Call) -> None:
        log_status(call.id, JobStatus.RUNNING, record.document)
        running = RunningRecord(self._store, record)
        earlier, notes = record.document.get(ENGINE_JOB, ""), record.document.get(ENGINE_NOTES, {})
        token = "" if earlier else record.document.get(ENGINE_TOKEN, "")
        handover = Handover(
            earlier=earlier,
            notes=notes,
            keep=running.keep,
            token=token,
            announce=running.announce,
            keep_log=running.keep_log,
        )
        is_cancelled = self._is_cancelled(call.id, call.caller)
        handover.is_cancelled = is_cancelled and bool(earlier)  # what an engine has must be ended there
        if is_cancelled and not earlier and not token:  # with a token, it is found first, and interrupted
            outcome = Outcome(answer_cancelled("The job was cancelled before it began."))
        else:
            outcome = self._calls.run(call, handover)
        status = JobStatus.LOST if handover.is_forgotten else status_of(outcome.answer)
        self._end(running.now, outcome.answer, status, {"Log": outcome.log} if outcome.log else {})

    def _is_cancelled(self, call_id: str, caller: str) -> bool:
        """Say whether somebody asked for the end of a call; while the store is away, it does not begin."""
        while True:
            try:
                return self._must_end(call_id, caller)
            except StateFailed:
                if self._stopping.wait(_ELSEWHERE_SECONDS):
                    raise

    def _must_end(self, call_id: str, caller: str) -> bool:
        """Say whether somebody asked for the end of a call, or revoked the token that it was made with."""
        if self._store.get_record(RecordKind.CANCELLATION, call_id) is not None:
            return True
        if not is_revoked(self._store, caller):
            return False
        ask_to_end(self._store, call_id, revocation_reason(caller))  # a job of this id looks for that by itself
        return True

    def _end(
        self, record: Record, answer: Answer, status: JobStatus, log: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        remaining = {key: value for key, value in record.document.items() if key != "Call"}
        document = {**remaining, "EndedAt": now(), **log, **answer_for_record(answer)}
        try:
            self._write(record, status, document)
        except StateFailed as error:  # who waits for the answer still gets it
            LOG.error("The record of the job %s could not be written yet: %s", record.id, error)
            self._unwritten.append((record, status, document))
        log_status(record.id, status, document)
        self._answer(record.id, answer)

    def _write(self, record: Record, status: JobStatus, document: Mapping[str, Any]) -> None:
        try:
            self._store.update_record(record, status, document)
        except Conflict:  # another process took this one for gone: who ran the call knows better
            current = self._store.get_record(RecordKind.CALL, record.id)
            if current:
                self._store.update_record(current, status, document)

    def _write_rest(self) -> None:
        """Write down what could not be written when it happened."""
        with self._writes_rest, suppress(StateFailed):  # one thread at a time: each takes the first of them away
            while self._unwritten:
                self._write(*self._unwritten[0])
                self._unwritten.popleft()

    def _settle_lost(self) -> None:
        for record in self._store.list_records(RecordKind.CALL, status=JobStatus.RUNNING, limit=_MANY):
            if is_left(self._store, record) and is_with_engine(record):
                self._take_over(record)
            elif is_left(self._store, record):
                self._settle_or_repeat(record)
            elif self._claims.is_doubted(record):
                self._line_up(record.id, record.document.get("CalledBy", ""))
        self._look_for_lost_at = time.monotonic() + self._lost_seconds

    def _take_over(self, record: Record) -> None:
        """Follow a call whose process is gone, and whose engine goes on with it, to its end."""
        taken_over = self._claims.take_over(record)
        if taken_over:
            known_as = record.document.get(ENGINE_JOB, "one that its engine has to find")
            LOG.info("The job %s goes on as %s.", record.id, known_as)
            self._taken_over[record.id] = taken_over
            self._line_up(record.id, record.document.get("CalledBy", ""))

    def _settle_or_repeat(self, record: Record) -> None:
        """Say what became of a call whose server is gone; one that may be done twice is run again, once."""
        if DETACHED in record.document and not is_repeated(record):
            return
        if "Call" not in record.document or is_repeated(record):
            self._settle(record)
            return
        call = Call.of_document(record.document)
        try:
            if (
                how_job_ended(self._store, call.id)
                or self._must_end(call.id, call.caller)
                or not self._is_repeatable(call)
            ):
                self._settle(record)
                return
        except (MasonError, OSError):  # nobody can tell what became of it: it is not done twice
            self._settle(record)
            return
        document = {
            key: value for key, value in record.document.items() if key not in ("Process", "Claim", "StartedAt")
        }
        again = {**document, "Call": {**document["Call"], "repeated": True}}
        with suppress(Conflict):  # another server was faster
            self._store.update_record(record, JobStatus.QUEUED, again)
            LOG.info("The server that ran the job %s is gone: it is run again.", call.id)
            self._line_up(call.id, call.caller)

    def _settle(self, record: Record) -> None:
        """Write down what became of a call whose process is gone, or is about to be."""
        ended = JobStatus.LOST
        with suppress(MasonError, OSError):  # whoever cannot look, cannot tell
            ended = how_job_ended(self._store, record.id) or ended
        document = {key: value for key, value in record.document.items() if key != "Call"}
        reason = {} if ended is JobStatus.SUCCEEDED else {"Error": _LOST}
        with suppress(Conflict):  # another server settled it
            self._store.update_record(record, ended, {**document, "EndedAt": now(), **reason})
            log_status(record.id, ended, record.document)

    def _look_around(self) -> None:
        while not self._stopping.wait(_ELSEWHERE_SECONDS):
            try:
                self._look_once()
            except StateFailed:  # once it is back, others need a moment to show that they live
                self._look_for_lost_at = time.monotonic() + LEASE_SECONDS

    def _look_once(self) -> None:
        self._write_rest()
        for call_id in list(self._elsewhere):
            self._look_elsewhere(call_id)
        self._calls.cancel(self._must_end)
        if time.monotonic() > self._look_for_lost_at:
            self._settle_lost()

    def _look_elsewhere(self, call_id: str) -> None:
        record = self._store.get_record(RecordKind.CALL, call_id)
        if record is None or call_status(self._store, record).is_final:
            self._elsewhere.discard(call_id)
            self._answer(call_id, answer_of(record))

    def _answer(self, call_id: str, answer: Answer) -> None:
        future = self._futures.pop(call_id, None)
        if future and not future.done():
            future.set_result(answer)
