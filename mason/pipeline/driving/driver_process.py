"""The driver of a job as a process of its own that has no access to the state: it plans nothing, runs and commits.

`python -m mason.pipeline.driving.driver_process` reads a `DriverLaunch` from stdin. The same unit runs on a cluster.
What it is told is pickled by Mason for Mason, of the same version, and comes through a pipe or from where only its user
writes.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan, JobStatus
from mason.engines.storage.models.location import Location
from mason.errors import ClientFailed, Forbidden, MasonError
from mason.pipeline.driving.far_drivers import find_commit
from mason.pipeline.driving.job_books import EventBook
from mason.pipeline.driving.job_events import JobEvents
from mason.pipeline.driving.job_watch import JobWatch, utc_now
from mason.pipeline.work.base import Work
from mason.pipeline.work.tasks import function_named
from mason.util.private_folder import private_folder, runtime_root
from mason.util.redaction import Redactor

_NO_STATE = {"MASON_HOME": "/nowhere/mason"}
_STATE_VARIABLES = ("MASON_STATE", "MASON_STATE_ID")


@dataclass(frozen=True, kw_only=True)
class DriverLaunch:
    """All that a driver needs: the job, its plan, its place for events, and the client whose runner does the tasks."""

    job_id: str
    job: Job
    work: Work
    events: Location
    client: str
    """The module and the class of the client: `mason.clients.local.execution:LocalExecutionClient`."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()

    def to_bytes(self) -> bytes:
        return pickle.dumps(self)


class FarDriver(Protocol):
    """Starts drivers where the state is not."""

    def start(self, launch: DriverLaunch) -> None:
        """Have a driver started; returns when it is certain that it will be.

        It may be called again for a job, by a process that does not know whether it was: only one driver works on it.

        Raises:
            ClientFailed: it cannot be started.
        """


class ChildDriver:
    """Starts a driver as a child process, in a session of its own and without the state."""

    def start(self, launch: DriverLaunch) -> None:
        variables = {name: value for name, value in os.environ.items() if name not in _STATE_VARIABLES}
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                env={**variables, **_NO_STATE},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            assert process.stdin
            with process.stdin:
                process.stdin.write(launch.to_bytes())
            threading.Thread(target=process.wait, daemon=True).start()  # no zombie stays when it ends
        except OSError as error:
            raise ClientFailed(f"The driver of the job could not be started: {error}") from error


def drive(launch: DriverLaunch) -> JobStatus:
    """Run a job to its end, and return how it ended; what it did stands in its events.

    A driver that was started again finds what an earlier one has committed, and commits nothing twice.
    """
    events = JobEvents(launch.events)
    earlier = events.newest()
    if earlier and earlier.status.is_final:
        return earlier.status
    commit = find_commit(launch.job.output, launch.job_id) if earlier else None
    if commit:
        found = {"Commit": commit.id, "RowsOut": commit.rows, "RowsQuarantined": commit.quarantined}
        EventBook(events).write(JobStatus.SUCCEEDED, {**(earlier.document if earlier else {}), **found})
        return JobStatus.SUCCEEDED
    redactor = Redactor(launch.secrets)
    watch = JobWatch(EventBook(events), launch.job, launch.job_id, redactor, launch.work.task_bytes)
    client = function_named(launch.client)(launch.configuration)
    plan = JobPlan(launch.job, launch.work.to_dict(), launch.work)
    try:
        client.drive(plan, watch, Response(redactor))
    except MasonError:
        return watch.record.status  # its events say why
    return watch.record.status


def main() -> int:
    """Run the driver that stdin tells."""
    try:
        launch: DriverLaunch = pickle.load(sys.stdin.buffer)
    except (EOFError, pickle.UnpicklingError):
        return 1  # who was about to say it is gone; whoever asks for the job again starts another driver
    try:
        # Ids come from tokens: two states on one machine may have jobs of one id, but not with events in one place.
        place = hashlib.sha256(str(launch.events).encode()).hexdigest()[:8]
        file = private_folder(runtime_root() / "drivers") / f"{launch.job_id}-{place}"
        lock = open(file, "w", encoding="ascii")  # noqa: SIM115 (it is closed below)
    except (OSError, Forbidden) as error:
        reason = f"The driver of the job cannot keep a lock on its machine, so that it is the only one: {error}"
        EventBook(JobEvents(launch.events)).write(JobStatus.FAILED, {"Error": reason, "EndedAt": utc_now()})
        return 1
    with _only_one(file, lock) as is_first:
        return 0 if is_first and drive(launch) is JobStatus.SUCCEEDED else 1


@contextmanager
def _only_one(file: Path, lock: IO[str]) -> Iterator[bool]:
    """Say whether no other driver of this machine works on a job; the system takes the lock of one that is gone."""
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
        file.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
