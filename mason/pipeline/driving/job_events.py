"""The events of a job in a storage: how a driver that has no access to the state tells others how its job is.

Each event is an object of its own with the next number, `00000007.json`, and the highest number decides: nothing is
overwritten, so a reader never sees half of one over another. A beat is an event, too. A driver that was started again
goes on with the next number. Whoever reads judges by the numbers alone whether a driver lives, never by its clock.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.engines.execution.models.job import Job, JobStatus
from mason.engines.storage.models.location import Location
from mason.errors import BadInput, ClientFailed
from mason.pipeline.storage.address import abilities_of, open_filesystem

BEAT_SECONDS = 5.0
_NAME = re.compile(r"([0-9]{8})\.json")
_CANCELLED = "cancel"
_RESULT = "result"
_KEPT = 3
"""So many events are kept before the newest: a reader may just be at one of them."""


@dataclass(frozen=True)
class JobEvent:
    """One event: how the job was when it was written."""

    number: int
    status: JobStatus
    document: Mapping[str, Any] = field(default_factory=dict)


class JobEvents:
    """The events of one job, in a folder of their own."""

    def __init__(self, location: Location) -> None:
        self._storage, folder = location.storage, location.path
        self.place = folder.rstrip("/")
        self._lock = threading.Lock()
        self._number: int | None = None
        self._last: tuple[JobStatus, Mapping[str, Any]] = (JobStatus.RUNNING, {})

    @cached_property
    def _filesystem(self) -> pafs.FileSystem:
        return open_filesystem(self._storage)

    def write(self, status: JobStatus, document: Mapping[str, Any]) -> None:
        """Write an event.

        Raises:
            ClientFailed: the storage does not take it.
        """
        with self._lock:
            number = self._next_number()
            content = json.dumps({"Status": status, **document}, default=str).encode()
            try:
                self._filesystem.create_dir(self.place, recursive=True)
                self._put(f"{self.place}/{number:08}.json", content)
            except (OSError, pa.ArrowException) as error:
                raise ClientFailed(f"The events of the job cannot be written to {self.place}: {error}") from error
            self._number, self._last = number, (status, document)
            self._forget(number - _KEPT)

    def beat(self) -> None:
        """Write how the job is once more: its number shows that the driver lives."""
        self.write(*self._last)

    def newest(self) -> JobEvent | None:
        """Return the newest event that can be read, if there is one.

        Raises:
            ClientFailed: the storage cannot be read.
        """
        for number in sorted(self._numbers(), reverse=True):
            event = self._read(number)
            if event:
                return event
        return None

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Keep what whoever waits for the job gets beside its record.

        Raises:
            ClientFailed: the storage does not take it.
        """
        try:
            self._put(f"{self.place}/{_RESULT}", json.dumps(result, default=str).encode())
        except (OSError, pa.ArrowException) as error:
            raise ClientFailed(f"The result of the job cannot be written to {self.place}: {error}") from error

    def read_result(self) -> Mapping[str, Any]:
        """Return what the job shows beside its record; nothing if it shows nothing, or none can be read."""
        try:
            with self._filesystem.open_input_stream(f"{self.place}/{_RESULT}") as stream:
                result: Mapping[str, Any] = json.loads(stream.read())
        except (OSError, ValueError):
            return {}
        return result

    def cancel(self) -> None:
        """Ask the driver to end the job.

        Raises:
            ClientFailed: the storage does not take it.
        """
        try:
            self._filesystem.create_dir(self.place, recursive=True)
            self._put(f"{self.place}/{_CANCELLED}", b"")
        except (OSError, pa.ArrowException) as error:
            raise ClientFailed(f"The job cannot be cancelled: {self.place} cannot be written to: {error}") from error

    def is_cancelled(self) -> bool:
        """Say whether somebody asked for the end of the job.

        Raises:
            ClientFailed: the storage cannot be read.
        """
        try:
            found = self._filesystem.get_file_info(f"{self.place}/{_CANCELLED}")
        except (OSError, pa.ArrowException) as error:
            raise ClientFailed(f"{self.place} cannot be read: {error}") from error
        return bool(found.type == pafs.FileType.File)

    def _next_number(self) -> int:
        if self._number is None:
            return max(self._numbers(), default=0) + 1
        return self._number + 1

    def _numbers(self) -> list[int]:
        try:
            found = self._filesystem.get_file_info(pafs.FileSelector(self.place, allow_not_found=True))
        except (OSError, pa.ArrowException) as error:
            raise ClientFailed(f"The events of the job cannot be read from {self.place}: {error}") from error
        return [int(match[1]) for each in found if (match := _NAME.fullmatch(each.base_name))]

    def _read(self, number: int) -> JobEvent | None:
        """Return an event; nothing if it is gone meanwhile, or half written."""
        try:
            with self._filesystem.open_input_stream(f"{self.place}/{number:08}.json") as stream:
                document = json.loads(stream.read())
            status = JobStatus(document.pop("Status"))
        except (OSError, ValueError, KeyError, AttributeError):
            return None
        return JobEvent(number, status, document)

    def _put(self, path: str, content: bytes) -> None:
        """Write an object whole: on a disk under another name first."""
        draft = f"{path}.part" if abilities_of(self._storage).creates_and_renames else path
        with self._filesystem.open_output_stream(draft) as stream:
            stream.write(content)
        if draft != path:
            self._filesystem.move(draft, path)

    def _forget(self, number: int) -> None:
        if number < 1:
            return
        try:
            self._filesystem.delete_file(f"{self.place}/{number:08}.json")
        except (OSError, pa.ArrowException):
            return  # it is not there, or stays


def events_folder(job: Job, job_id: str, jobs_path: str = "") -> Location:
    """Return the folder of a job's events: below `jobs_path`, or beside the output of the job.

    Raises:
        BadInput: neither is known.
    """
    if not jobs_path and not job.output:
        raise BadInput(
            f"A {job.type} without an output has no place for its events.",
            hint="Give jobs_path in the configuration of the execution client.",
        )
    near = job.output or next(iter(job.places_read), Location(""))
    below = jobs_path.rstrip("/") or f"{near.path.rstrip('/').rpartition('/')[0]}/.mason/jobs"
    return near.beside(f"{below}/{job_id}")
