"""Taking a nested table apart, as a job of an engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mason.engines.execution.models.job import Job
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.jobs.explode.outcome import ExplodeResult, ShownTables
from mason.pipeline.jobs.explode.plan import ExplodePlan, plan_explode
from mason.pipeline.jobs.explode.run import run_explode
from mason.pipeline.jobs.explode.unnest import Tally, unnest
from mason.pipeline.reading.preview import Preview, first_rows
from mason.pipeline.reading.view import TableView
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.types.python_values import python_rows
from mason.pipeline.work.base import Progress, Work
from mason.pipeline.work.tasks import TaskRunner
from mason.util.words import counted


@dataclass(frozen=True)
class ExplodeWork(Work):
    """An explode that is planned."""

    explode: ExplodePlan

    @classmethod
    def plan(cls, job: Job) -> ExplodeWork:
        return cls(plan_explode(ExplodeJob.of(job)))

    @property
    def amounts(self) -> Sequence[str]:
        of_bytes, tasks = self.amount_of_tasks
        return [f"{counted(len(self.explode.tables), 'table')} of {of_bytes}", tasks]

    @property
    def warnings(self) -> Iterable[str]:
        return self.explode.warnings

    @property
    def task_bytes(self) -> Sequence[int]:
        return self.explode.scan.task_bytes if self.explode.job.output else ()

    def to_dict(self) -> dict[str, Any]:
        return self.explode.to_dict()

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> ExplodeResult | ShownTables:
        if self.explode.job.output:
            return run_explode(self.explode, runner, job_id, progress)
        return show_tables(self.explode)


def show_tables(plan: ExplodePlan) -> ShownTables:
    """Take only the first records apart, and write nothing."""
    scan, tables = plan.scan, plan.tables
    records = first_rows(open_filesystem(scan.location.storage), TableView(scan.plan, scan.commit), plan.job.limit)
    found: list[list[dict[str, Any]]] = [[] for _ in tables]
    for number, flat in unnest(tables, records, 0, Tally()):
        found[number] += python_rows(flat)
    previews = {table.name: Preview(table.schema, rows) for table, rows in zip(tables, found, strict=True)}
    return ShownTables(plan, records.num_rows, previews)
