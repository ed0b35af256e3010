"""A job as Python code looks at it: where it stands, a wait for its end, a way to end it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mason.connection.call_response import CallResponse, raise_errors_of
from mason.connection.progress import progress_line, progress_text
from mason.engines.execution.models.job import JobStatus
from mason.errors import Interrupted, MasonError, StateFailed

if TYPE_CHECKING:
    from mason.connection.connection import Connection

_FIRST_SECONDS = 0.05
_LONGEST_SECONDS = 1.0
_STATUS = {JobStatus.CANCELLED: Interrupted.status, JobStatus.LOST: StateFailed.status}


class ConnectedJob:
    """A job as it was when it was last looked at."""

    def __init__(self, connection: Connection, record: Mapping[str, Any]) -> None:
        self._connection = connection
        self.record = record
        """All that is known of it."""

    @property
    def id(self) -> str:
        return str(self.record["JobID"])

    @property
    def status(self) -> JobStatus:
        return JobStatus(self.record["Status"])

    @property
    def is_over(self) -> bool:
        return self.status.is_final

    @property
    def log(self) -> Sequence[Any]:
        return tuple(self.record.get("Log", ()))

    def refresh(self) -> ConnectedJob:
        """Look at the job again."""
        self.record = self._connection.get_job(self.id)
        return self

    def wait(self, seconds: float | None = None, *, progress: bool | None = None) -> ConnectedJob:
        """Return when the job is over, however it ended, or after so many seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        pause = _FIRST_SECONDS
        with progress_line(progress) as line:
            while not self.refresh().is_over:
                line.show(progress_text(self.record))
                left = pause if end is None else min(pause, end - time.monotonic())
                if left <= 0:
                    break
                time.sleep(left)
                pause = min(2 * pause, _LONGEST_SECONDS)
        return self

    def result(self, *, progress: bool | None = None) -> CallResponse:
        """Wait for the job's end and return what it answered.

        Raises:
            MasonError: it failed, was cancelled, or is lost.
        """
        self.wait(progress=progress)
        if "Response" in self.record:
            return raise_errors_of(CallResponse(self.record["Response"], self.record["HttpStatus"]))
        error = str(self.record.get("Error") or f"The job {self.id} is {self.status}.")
        is_well = self.status is JobStatus.SUCCEEDED
        status = 200 if is_well else _STATUS.get(self.status, MasonError.status)
        document = {"Errors": [] if is_well else [error], "Info": [], "Warnings": [], "Data": [dict(self.record)]}
        return raise_errors_of(CallResponse(document, status))

    def cancel(self) -> ConnectedJob:
        """Ask for the job's end; one that is over stays what it is."""
        self.record = self._connection.cancel_job(self.id)
        return self

    def __repr__(self) -> str:
        return f"<job {self.id}: {self.status}>"
