"""What every type of job has in common for the engine that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from mason.engines.execution.models.job import Job
from mason.pipeline.tasks import TaskRunner, function_named

Progress = Callable[[int, int, int], None]
"""Called with tasks done, tasks in all, and records read so far."""


class Outcome(Protocol):
    """What a job did.

    One that is worth looking at has `picture(width)`, too, which returns the lines to draw. What is to be shown and not
    kept, such as the rows of a query, is in `shown`. One that found what must not be has `errors`: then the job failed.
    """

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
    planner = function_named(_PLANNERS[job.type])
    work: Work = planner.plan(job)
    return work


def job_types() -> Sequence[str]:
    """Return the types of job that the pipeline can do."""
    return list(_PLANNERS)


# Named, not imported: a command loads only what its own job needs.
_PLANNERS = {
    "check": "mason.pipeline.check.work:CheckWork",
    "dedupe": "mason.pipeline.dedupe.job:DedupeWork",
    "explode": "mason.pipeline.explode.work:ExplodeWork",
    "diff": "mason.pipeline.diff.job:DiffWork",
    "format": "mason.pipeline.format.work:FormatWork",
    "merge": "mason.pipeline.merge.work:MergeWork",
    "query": "mason.pipeline.sql.job:QueryWork",
    "replay": "mason.pipeline.merge.work:ReplayWork",
    "summarize": "mason.pipeline.summary.work:SummaryWork",
}
