"""What every type of job has in common for the engine that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from mason.engines.execution.models.job import Job
from mason.pipeline.tasks import TaskRunner

Progress = Callable[[int, int, int], None]
"""Called with tasks done, tasks in all, and records read so far."""


class Outcome(Protocol):
    """What a job did. One that is worth looking at has `picture(width)`, too, which returns the lines to draw."""

    @property
    def summary(self) -> str:
        """One line for people."""

    @property
    def warnings(self) -> Iterable[str]:
        """What they should look at."""

    def to_dict(self) -> dict[str, Any]:
        """Return what is kept in the job's record."""


class Work(Protocol):
    """A job that is planned and can be run."""

    @property
    def summary(self) -> str:
        """One line for people: how much there is to do."""

    @property
    def warnings(self) -> Iterable[str]:
        """What they should know before it runs."""

    @property
    def task_bytes(self) -> Sequence[int]:
        """How much each task reads."""

    def to_dict(self) -> dict[str, Any]:
        """Return what running it would read, write and change."""

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> Outcome:
        """Do it."""


def plan_work(job: Job) -> Work:
    """Plan a job of any type."""
    return _planners()[job.type](job)


def job_types() -> Sequence[str]:
    """Return the types of job that the pipeline can do."""
    return list(_planners())


def _planners() -> Mapping[str, Callable[[Job], Work]]:
    from mason.pipeline.format.work import FormatWork
    from mason.pipeline.merge.work import MergeWork, ReplayWork

    return {"merge": MergeWork.plan, "replay": ReplayWork.plan, "format": FormatWork.plan}
