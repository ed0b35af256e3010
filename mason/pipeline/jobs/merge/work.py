"""Merging, and merging again what was mended, as jobs of an engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.readings import draw_readings
from mason.pipeline.formats.file_readings import describe_readings
from mason.pipeline.jobs.merge.appending import Patience, after_others
from mason.pipeline.jobs.merge.job import COMMIT_TIMEOUT, MergeJob, Mode
from mason.pipeline.jobs.merge.outcome import MergeResult
from mason.pipeline.jobs.merge.plan import MergePlan, plan_merge
from mason.pipeline.jobs.merge.replay import ReplayJob, ReplayPlan, ReplayResult, plan_replay, run_replay
from mason.pipeline.jobs.merge.run import run_merge
from mason.pipeline.work.base import Progress, Work
from mason.pipeline.work.record_parts import Column
from mason.pipeline.work.tasks import TaskRunner
from mason.util.words import counted


@dataclass(frozen=True)
class MergeWork(Work):
    """A merge that is planned."""

    merge: MergePlan

    @classmethod
    def plan(cls, job: Job) -> MergeWork:
        merge = MergeJob.of(job)
        return cls(plan_merge(merge))

    @property
    def amounts(self) -> Sequence[str]:
        return [counted(len(self.merge.files), "file"), *self.amount_of_tasks]

    @property
    def warnings(self) -> Iterable[str]:
        return [*map(str, self.merge.conflicts), *self.merge.respelled.values(), *self.merge.warnings]

    @property
    def task_bytes(self) -> Sequence[int]:
        return self.merge.task_bytes

    @property
    def output_columns(self) -> Sequence[Column]:
        return list(self.merge.schema)

    def to_dict(self) -> dict[str, Any]:
        return self.merge.to_dict()

    def picture(self, width: int) -> list[str]:
        """Draw how the files are read."""
        schemas, explained = self.merge.schemas, self.merge.job.options.explain
        return draw_readings(describe_readings({explained: schemas[explained]} if explained else schemas), width)

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> MergeResult:
        """Run the merge. What adds to a table can add to whatever it is by then; so it is tried again after others."""
        job = self.merge.job
        patience = Patience(job.options.commit_timeout)
        merge = partial(run_merge, runner=runner, job_id=job_id, progress=progress, patience=patience)
        if job.options.mode is not Mode.APPEND:
            return merge(self.merge)
        plan_again = partial(plan_merge, job)
        return after_others(self.merge, merge, plan_again, patience)


@dataclass(frozen=True)
class ReplayWork(Work):
    """A replay that is planned."""

    replay: ReplayPlan

    @classmethod
    def plan(cls, job: Job) -> ReplayWork:
        replay = ReplayJob.of(job)
        return cls(plan_replay(replay))

    @property
    def amounts(self) -> Sequence[str]:
        return [counted(len(self.replay.records), "record")]

    @property
    def warnings(self) -> Iterable[str]:
        if self.replay.unchanged:
            yield f"As it was, and so still in the quarantine: {counted(self.replay.unchanged, 'record')}."

    @property
    def task_bytes(self) -> Sequence[int]:
        return [sum(len(each.raw) for each in self.replay.records)]

    def to_dict(self) -> dict[str, Any]:
        return self.replay.to_dict()

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> ReplayResult:
        """Run the replay; again, if another job changed the table meanwhile: it is planned for what is there then."""
        job = self.replay.job
        replay = partial(run_replay, runner=runner, job_id=job_id, progress=progress)
        plan_again = partial(plan_replay, job)
        return after_others(self.replay, replay, plan_again, Patience(COMMIT_TIMEOUT))
