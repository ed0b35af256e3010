"""What every type of job has in common for the engine that runs it.

A type of job is three classes: what it is asked (`JobRequest`), the job when it is planned (`Work`), and what it did
(`Outcome`). One that writes a table does so through `table_output`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from mason.engines.execution.models.job import Job
from mason.pipeline.work.record_parts import Column
from mason.pipeline.work.tasks import TaskRunner
from mason.util.words import counted

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, int, int], None]
"""Called with tasks done, tasks in all, and records read so far."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Outcome(ABC):
    """What a job did."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """One line for people."""

    @property
    def warnings(self) -> Iterable[str]:
        """What they should look at."""
        return ()

    @property
    def errors(self) -> Sequence[str]:
        """What was found that must not be: if there is something, the job failed although it did all its work."""
        return ()

    @property
    def preview(self) -> Mapping[str, Any]:
        """What is shown beside the record and not kept in it, such as the rows of a query."""
        return _NOTHING

    @property
    def frame(self) -> pa.Table | None:
        """The rows that it gives to the process that runs it, if it gives any."""
        return None

    def picture(self, width: int) -> list[str]:
        """Return the lines that draw it in so many columns of a terminal; none if it is not worth that."""
        return []

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what is kept in the job's record."""


class Work(ABC):
    """A job that is planned and can be run. It is pickled on the way to a driver on another machine."""

    @classmethod
    @abstractmethod
    def plan(cls, job: Job) -> Self:
        """Look at what there is to do."""

    @property
    @abstractmethod
    def amounts(self) -> Sequence[str]:
        """How much there is to do, in words: `3 files`, `1,024 bytes`."""

    @property
    def summary(self) -> str:
        """One line for people: how much there is to do."""
        return f"Planned {', '.join(self.amounts)}."

    @property
    def warnings(self) -> Iterable[str]:
        """What they should know before it runs."""
        return ()

    @property
    @abstractmethod
    def task_bytes(self) -> Sequence[int]:
        """How much each task reads."""

    @property
    def amount_of_tasks(self) -> Sequence[str]:
        """The amounts that a job has which reads files in tasks: bytes and tasks."""
        return [f"{sum(self.task_bytes):,} bytes", counted(len(self.task_bytes), "task")]

    @property
    def output_columns(self) -> Sequence[Column]:
        """The columns of the table that it writes, where they are known before it runs."""
        return ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what running it would read, write and change."""

    def picture(self, width: int) -> list[str]:
        """Return the lines that draw the plan in so many columns of a terminal; none if it is not worth that."""
        return []

    def check_here(self) -> None:  # noqa: B027 (most types of job do the same everywhere)
        """Check that this process does what Spark would do.

        Raises:
            MasonError: it cannot promise that.
        """

    def analyse(self, runner: TaskRunner) -> Self:
        """Return the plan with what only an engine can tell of it, which is asked and runs nothing."""
        return self

    @abstractmethod
    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> Outcome:
        """Do it."""
