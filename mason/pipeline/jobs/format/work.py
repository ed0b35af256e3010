"""Writing a table in another format as a job of an engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mason.engines.execution.models.job import Job
from mason.pipeline.jobs.format.job import FormatJob
from mason.pipeline.jobs.format.outcome import FormatResult
from mason.pipeline.jobs.format.plan import FormatPlan, plan_format
from mason.pipeline.jobs.format.run import run_format
from mason.pipeline.work.base import Progress, Work
from mason.pipeline.work.tasks import TaskRunner
from mason.util.words import counted


@dataclass(frozen=True)
class FormatWork(Work):
    """A job that is planned."""

    format: FormatPlan

    @classmethod
    def plan(cls, job: Job) -> FormatWork:
        return cls(plan_format(FormatJob.of(job)))

    @property
    def amounts(self) -> Sequence[str]:
        sizes = self.task_bytes
        return [f"{counted(sum(sizes), 'byte')} to {self.format.format.name}", counted(len(sizes), "task")]

    @property
    def warnings(self) -> Iterable[str]:
        return self.format.warnings

    @property
    def task_bytes(self) -> Sequence[int]:
        return self.format.scan.task_bytes

    def to_dict(self) -> dict[str, Any]:
        return self.format.to_dict()

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> FormatResult:
        return run_format(self.format, runner, job_id, progress)
