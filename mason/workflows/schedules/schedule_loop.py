"""Looks at the schedules of the `local` scheduler again and again, and starts what is due.

Any number of processes may do so on one MASON_HOME: a run is claimed by a compare-and-set in the state before it is
started, and a claim whose process died before the run began is taken over.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from mason.errors import Conflict, MasonError, StateFailed
from mason.operators.failed_code import describe_failure
from mason.state.models import Record, RecordKind
from mason.state.schedules import DEPLOYED, LOCAL, PAUSED, list_schedules, pause_schedule
from mason.state.store import StateStore
from mason.state.tokens import is_revoked, revocation_reason
from mason.workflows.runs.recorded_runs import is_alive
from mason.workflows.schedules.due import Claim, Firing, claim, claim_again, without_wrong_clock

LOG = logging.getLogger("mason")
SECONDS_BETWEEN = 1.0
MOST_RUNS = 8


class StartedRun(Protocol):
    """A run that was started."""

    def poll(self) -> int | None:
        """Return its exit code, or nothing while it goes on."""

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""


Start = Callable[[str, Mapping[str, Any]], StartedRun]
"""Starts the run that a schedule claims; given its name and what the state says of it."""


def utc_now() -> datetime:
    return datetime.now(UTC)


class ScheduleLoop:
    """What one process does for the schedules. `most_runs` of them go on at once; the others wait for their turn."""

    def __init__(
        self, store: StateStore, start: Start, *, clock: Callable[[], datetime] = utc_now, most_runs: int = MOST_RUNS
    ) -> None:
        self._store = store
        self._start = start
        self._clock = clock
        self._most_runs = most_runs
        self._runs: dict[str, tuple[Firing, StartedRun]] = {}
        self._stopping: set[str] = set()

    def run(self, stop: SimpleQueue[int]) -> int:
        """Look and start until something comes out of `stop`; then stop the runs that go on, and return what came."""
        try:
            while True:
                try:
                    self.start_due()
                except StateFailed as error:  # it may be a moment: nothing is lost by looking again
                    LOG.warning("%s", error)
                with suppress(Empty):
                    return stop.get(timeout=SECONDS_BETWEEN)
        finally:
            for name, (_, run) in self._runs.items():
                LOG.info("%s: stops.", name)
                run.stop()

    def start_due(self) -> list[Firing]:
        """Look once, and return the runs that were started."""
        self._forget_ended_runs()
        now = self._clock()
        records = list_schedules(self._store, LOCAL)
        self._stop_paused(records)
        found = [self._look_at(record, now) for record in records]
        return [each for each in found if each]

    def _look_at(self, record: Record, now: datetime) -> Firing | None:
        try:
            return self._fire(record, now)
        except StateFailed:
            raise
        except Exception as error:  # noqa: BLE001 (what is wrong with one schedule does not keep the others from firing)
            self._note_unreadable(record, f"The schedule cannot be read: {_describe_error(error)}")
            return None

    def _fire(self, record: Record, now: datetime) -> Firing | None:
        record = self._with_right_clock(record, now)
        if PAUSED in record.document or len(self._runs) >= self._most_runs:
            return None
        wanted = self._claim(record, now)
        if wanted is None:
            return None
        deployer = str(record.document.get("DeployedBy", ""))
        if is_revoked(self._store, deployer):  # it was deployed in the very moment in which its token was revoked
            pause_schedule(self._store, record, revocation_reason(deployer))
            return None
        try:
            self._store.update_record(record, DEPLOYED, wanted.document)
        except Conflict:  # another process has it, or it was deployed anew or deleted just now
            return None
        name = str(record.document["Name"])
        LOG.info("%s: due at %s, run %s.", name, wanted.firing.due_at, wanted.firing.run_id)
        try:
            self._runs[name] = (wanted.firing, self._start(name, wanted.document))
        except Exception as error:  # noqa: BLE001 (as above; and who claimed it and lives would keep it for ever)
            LOG.error("%s: %s", name, _describe_error(error))
            self._note_error(name, wanted.firing, _describe_error(error))
        return wanted.firing

    def _claim(self, record: Record, now: datetime) -> Claim | None:
        last = Firing.of(record.document)
        if last is None:
            return claim(record.document, now)
        run = self._store.get_record(RecordKind.RUN, last.run_id)
        if run is not None:
            return None if is_alive(self._store, run) else claim(record.document, now)
        if record.document.get("LastError"):
            return claim(record.document, now)  # it never began, and it is known why
        return None if last.is_being_started(now) else claim_again(record.document, last, now)

    def _with_right_clock(self, record: Record, now: datetime) -> Record:
        mended = without_wrong_clock(record.document, now)
        if mended is None:
            return record
        LOG.warning(
            "%s was done up to %s, which is far in the future: the clock was wrong then. It goes on from now.",
            record.document["Name"],
            record.document["DoneUpTo"],
        )
        try:
            return self._store.update_record(record, DEPLOYED, mended)
        except Conflict:
            return record  # the next look sees what became of it

    def _stop_paused(self, records: Sequence[Record]) -> None:
        """Ask the runs to end whose schedules were paused; other schedules do not wait for that."""
        paused = {str(each.document["Name"]) for each in records if PAUSED in each.document}
        for name in (paused & set(self._runs)) - self._stopping:
            LOG.info("%s: is paused, and stops.", name)
            self._stopping.add(name)
            threading.Thread(target=self._runs[name][1].stop, name=f"stop {name}", daemon=True).start()

    def _forget_ended_runs(self) -> None:
        """Forget the runs that are over; one that never began has an error, which its schedule shows."""
        for name, (firing, run) in list(self._runs.items()):
            code = run.poll()
            if code is None:
                continue
            del self._runs[name]
            self._stopping.discard(name)
            LOG.info(
                "%s: run %s %s.", name, firing.run_id, "succeeded" if code == 0 else f"ended with exit code {code}"
            )
            if self._store.get_record(RecordKind.RUN, firing.run_id) is None:
                self._note_error(name, firing, f"The run of {firing.due_at} did not begin (exit code {code}).")

    def _note_unreadable(self, record: Record, message: str) -> None:
        if record.document.get("LastError") == message:
            return  # said before: it is looked at every second
        LOG.error("%s: %s", record.document["Name"], message)
        with suppress(Conflict):
            self._store.update_record(record, DEPLOYED, {**record.document, "LastError": message})

    def _note_error(self, name: str, firing: Firing, message: str) -> None:
        for record in list_schedules(self._store, LOCAL):
            is_the_one = record.document["Name"] == name and Firing.of(record.document) == firing
            if is_the_one and not record.document.get("LastError"):
                with suppress(Conflict):
                    self._store.update_record(record, DEPLOYED, {**record.document, "LastError": message})


def _describe_error(error: Exception) -> str:
    return str(error) if isinstance(error, MasonError | OSError | ValueError) else describe_failure(error)
