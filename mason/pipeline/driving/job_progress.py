"""How far a job is: counted from what its runner reports, as plain facts that a record, a log or a bar can show."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mason.pipeline.work.tasks import Starting, TaskEvent
from mason.util.words import counted

_WORDS = {
    "done": "TasksDone",
    "tasks": "Tasks",
    "records": "RowsIn",
    "bytes_done": "InputBytesDone",
    "bytes": "InputBytes",
}
"""The words of a record for what is known of a job's progress."""
_LEAST_SHARE = 0.05
_LEAST_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class JobProgress:
    """A moment of a job. Records are those of the results that are here: an engine may be done with more tasks."""

    done: int
    tasks: int
    records: int
    bytes_done: int
    bytes: int
    seconds: float
    seconds_of_done: float
    """When the last task of those that are done was done."""
    starting: Starting | None = None
    """What is said of an engine that is not there yet."""

    @classmethod
    def of_record(cls, details: Mapping[str, Any]) -> JobProgress:
        """Return how far a job is by its record, which is what another process knows of it."""
        found = {field: details.get(word, 0) for field, word in _WORDS.items()}
        known = cls(**found, seconds=0.0, seconds_of_done=0.0)
        left = details.get("SecondsLeft")
        if left is None or not 0 < known.share < 1:
            return known
        seconds = left * known.share / (1 - known.share)  # at the pace by which so many are left
        return replace(known, seconds=seconds, seconds_of_done=seconds)

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1, by the bytes that the tasks read; by their number where nobody knows those."""
        done, whole = (self.bytes_done, self.bytes) if self.bytes else (self.done, self.tasks)
        return done / whole if whole else 1.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at the pace so far; nothing as long as that would be a guess."""
        if self.share < _LEAST_SHARE or self.seconds < _LEAST_SECONDS:
            return None
        return max(0.0, self.seconds_of_done / self.share - self.seconds)

    def __str__(self) -> str:
        if self.starting:
            return str(self.starting)
        tasks = f"{self.done:,} of {counted(self.tasks, 'task')}"
        return f"{tasks}, {counted(self.records, 'record')}" if self.records or self.done == self.tasks else tasks

    def to_dict(self) -> dict[str, Any]:
        return {word: getattr(self, field) for field, word in _WORDS.items()}


class Tally:
    """Counts what a runner tells. The sizes are the bytes that each task reads."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._planned = sizes
        self._read: JobProgress | None = None
        self._count(len(sizes))

    def begin(self, tasks: int) -> None:
        """Count from the beginning: the tasks are run, run again, or others follow."""
        if self._is_as_planned and self.is_whole:
            self._read = self.progress()
        self._count(tasks)

    def _count(self, tasks: int) -> None:
        self._sizes = self._planned if len(self._planned) == tasks else [0] * tasks
        self._bytes = sum(self._sizes)
        self._results: set[int] = set()
        self._bytes_here = self._reported = self.records = 0
        self._began = self._changed = time.monotonic()
        self._waits_for_the_engine = True
        self._starting: Starting | None = None

    def note(self, event: TaskEvent) -> None:
        """Count what a runner yielded."""
        self._starting = event if isinstance(event, Starting) else None
        if isinstance(event, Starting):
            return
        before = self._done
        if isinstance(event, tuple):
            self._bytes_here += 0 if event[0] in self._results else self._sizes[event[0]]
            self._results.add(event[0])
        elif self._waits_for_the_engine:
            self._began = time.monotonic()  # the first beat: the engine is there, which may have taken a while to start
        if isinstance(event, int):
            self._reported = max(self._reported, event)
        self._waits_for_the_engine = False
        if self._done > before:
            self._changed = time.monotonic()

    def note_all(self) -> None:
        """Count everything as done."""
        for number in range(len(self._sizes)):
            self.note((number, b""))

    @property
    def _is_as_planned(self) -> bool:
        return self._sizes is self._planned

    def outcome(self) -> JobProgress:
        """Return how far the job came with what it was to read; what was made of that afterwards does not count."""
        return self.progress() if self._is_as_planned or self._read is None else self._read

    @property
    def is_whole(self) -> bool:
        return len(self._results) == len(self._sizes)

    def progress(self) -> JobProgress:
        """Return how far the job is by now."""
        tasks, here, done = len(self._sizes), len(self._results), self._done
        # Of tasks whose results are still to come it is not known which they are: they are taken for average ones.
        ahead = (self._bytes - self._bytes_here) * (done - here) // (tasks - here) if done > here else 0
        seconds, changed = time.monotonic() - self._began, self._changed - self._began
        read = self._bytes_here + ahead
        return JobProgress(
            done=done,
            tasks=tasks,
            records=self.records,
            bytes_done=read,
            bytes=self._bytes,
            seconds=seconds,
            seconds_of_done=changed,
            starting=self._starting,
        )

    @property
    def _done(self) -> int:
        return min(max(len(self._results), self._reported), len(self._sizes))


_TOTALS_IN_RECORD = {"rows": "RowsIn", "bytes": "InputBytes"}


class JobTotals:
    """Sums that only grow, since a process began; of jobs that succeeded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: Counter[str] = Counter(dict.fromkeys(_TOTALS_IN_RECORD, 0))

    def add(self, details: Mapping[str, Any]) -> None:
        """Count a job that is done, by what its record says."""
        with self._lock:
            self._sums.update({name: details[word] for name, word in _TOTALS_IN_RECORD.items() if details.get(word)})

    def add_sums(self, sums: Mapping[str, int]) -> None:
        """Count what another process has counted for this one."""
        with self._lock:
            self._sums.update(sums)

    def to_dict(self) -> dict[str, int]:
        with self._lock:
            return dict(self._sums)


TOTALS = JobTotals()
"""Of this process. Threads that run jobs add to it."""
