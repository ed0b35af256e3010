"""Whose turn it is: a call belongs to whoever changed its record from queued to running, and callers take turns."""

from __future__ import annotations

import logging
import threading
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from mason.api.server.calls.call import Call, now
from mason.engines.execution.models.job import JobStatus
from mason.errors import Conflict, StateFailed
from mason.operators.calls.records import ENGINE_JOB, ENGINE_NOTES, ENGINE_TOKEN
from mason.state.models import Record
from mason.state.store import StateStore

LOG = logging.getLogger("mason.api")


class Claims:
    """The claims of one process. One is in doubt when the store went away before it said whether it was written."""

    def __init__(self, store: StateStore, process: Mapping[str, Any]) -> None:
        self._store = store
        self._process = process
        self._doubts: set[str] = set()
        self._lock = threading.Lock()

    def claim(self, record: Record) -> tuple[Record, Call] | None:
        """Take a call that is queued, or one whose claim turns out to have been written; nothing if another has it.

        Raises:
            StateFailed: nobody knows whether it was claimed; asking again later tells.
        """
        if self._is_settled(record):
            return record, Call.of_document(record.document)
        if record.status != JobStatus.QUEUED:
            return None
        claim = uuid.uuid4().hex
        document = {**record.document, "StartedAt": now(), "Process": self._process, "Claim": claim}
        try:
            with suppress(Conflict):
                return self._store.update_record(record, JobStatus.RUNNING, document), Call.of_document(document)
        except StateFailed:
            with self._lock:
                self._doubts.add(claim)
            raise
        return None

    def take_over(self, record: Record) -> Record | None:
        """Take a call whose process is gone and whose engine has it; nothing if another server was faster."""
        document = {**record.document, "Process": self._process, "Claim": uuid.uuid4().hex}
        with suppress(Conflict):
            return self._store.update_record(record, JobStatus.RUNNING, document)
        return None

    def is_doubted(self, record: Record) -> bool:
        """Say whether the claim of a record is one in doubt."""
        return record.document.get("Claim") in self._doubts

    def _is_settled(self, record: Record) -> bool:
        """Say whether a claim that was in doubt turns out to have been written; to one thread only."""
        with self._lock:
            if record.status != JobStatus.RUNNING or not self.is_doubted(record):
                return False
            self._doubts.remove(record.document["Claim"])
            return True


class RunningRecord:
    """The record of a call while it runs: it says which job of an engine the call has become."""

    def __init__(self, store: StateStore, record: Record) -> None:
        self._store = store
        self.now = record

    def keep(self, engine_id: str, notes: Mapping[str, str]) -> None:
        """Write down what an engine calls the job, so that another process finds it should this one be gone."""
        self._note({ENGINE_JOB: engine_id, ENGINE_NOTES: dict(notes)})

    def announce(self, token: str, notes: Mapping[str, str]) -> None:
        """Write down with which token an engine is about to be asked."""
        self._note({ENGINE_TOKEN: token, ENGINE_NOTES: dict(notes)})

    def keep_log(self, lines: Sequence[str]) -> None:
        """Write down what the call has said so far; at its end all of it is."""
        with suppress(Conflict, StateFailed):
            self.now = self._store.update_record(self.now, JobStatus.RUNNING, {**self.now.document, "Log": list(lines)})

    def _note(self, change: Mapping[str, Any]) -> None:
        try:
            self.now = self._store.update_record(self.now, JobStatus.RUNNING, {**self.now.document, **change})
        except (Conflict, StateFailed) as error:  # the call goes on, and ends with this process
            LOG.warning("The record of the job %s does not say that an engine has it: %s", self.now.id, error)


class FairLine:
    """Ids of calls that wait. Those of one caller keep their order; callers take turns."""

    def __init__(self) -> None:
        self._of_caller: dict[str, deque[str]] = {}
        self._waiting: set[str] = set()

    def add(self, call_id: str, caller: str) -> None:
        self._of_caller.setdefault(caller, deque()).append(call_id)
        self._waiting.add(call_id)

    def take(self) -> str:
        """Return the next id, and let its caller step back; nothing if nobody waits."""
        if not self._of_caller:
            return ""
        caller = next(iter(self._of_caller))
        waiting = self._of_caller.pop(caller)
        call_id = waiting.popleft()
        if waiting:
            self._of_caller[caller] = waiting  # at the end
        self._waiting.discard(call_id)
        return call_id

    def __contains__(self, call_id: object) -> bool:
        return call_id in self._waiting

    def __bool__(self) -> bool:
        return bool(self._of_caller)


def log_status(call_id: str, status: JobStatus, document: Mapping[str, Any]) -> None:
    """Write into the server's log how a call stands now."""
    name = document.get("Operator") or document.get("Workflow")
    fields = {"job": call_id, "status": status.value, "name": name, "request": document.get("RequestID")}
    LOG.info("job %s is %s", call_id, status, extra={"event": "job", "fields": fields})
