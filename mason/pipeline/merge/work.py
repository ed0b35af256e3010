"""Merging, and merging again what was mended, as jobs of an engine."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.readings import draw_readings
from mason.pipeline.file_readings import describe_readings
from mason.pipeline.merge.appending import Patience
from mason.pipeline.merge.job import COMMIT_TIMEOUT, MergeJob, Mode
from mason.pipeline.merge.outcome import MergeResult
from mason.pipeline.merge.plan import MergePlan, plan_merge
from mason.pipeline.merge.replay import ReplayJob, ReplayPlan, ReplayResult, plan_replay, run_replay
from mason.pipeline.merge.run import run_merge
from mason.pipeline.storage_address import open_filesystem
from mason.pipeline.table_commit import ChangedMeanwhile
from mason.pipeline.tasks import TaskRunner
from mason.pipeline.work import Progress
from mason.util.words import counted

_LOG = logging.getLogger("mason.pipeline")


@dataclass(frozen=True)
class MergeWork:
    """A merge that is planned."""

    merge: MergePlan

    @classmethod
    def plan(cls, job: Job) -> MergeWork:
        merge = MergeJob.of(job)
        filesystem = open_filesystem(merge.storage)
        return cls(plan_merge(filesystem, merge))

    @property
    def summary(self) -> str:
        sizes = self.task_bytes
        files, tasks = counted(len(self.merge.files), "file"), counted(len(sizes), "task")
        return f"Planned {files}, {sum(sizes):,} bytes, {tasks}."

    @property
    def warnings(self) -> Iterable[str]:
        return [*map(str, self.merge.conflicts), *self.merge.respelled.values(), *self.merge.warnings]

    @property
    def task_bytes(self) -> Sequence[int]:
        return self.merge.task_bytes

    def to_dict(self) -> dict[str, Any]:
        return self.merge.to_dict()

    def picture(self, width: int) -> list[str]:
        """Draw how the files are read."""
        schemas, explained = self.merge.schemas, self.merge.job.options.explain
        return draw_readings(describe_readings({explained: schemas[explained]} if explained else schemas), width)

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> MergeResult:
        """Run the merge. What adds to a table can add to whatever it is by then; so it is tried again after others."""
        plan = self.merge
        patience = Patience(plan.job.options.commit_timeout)
        while True:
            try:
                return run_merge(plan, runner, job_id, progress, patience=patience)
            except ChangedMeanwhile as error:
                if plan.job.options.mode is not Mode.APPEND:
                    raise
                patience.pause(error)
                _LOG.info("%s was changed by another job meanwhile: the merge is planned anew.", plan.job.output)
                plan = plan_merge(open_filesystem(plan.job.storage), plan.job)


@dataclass(frozen=True)
class ReplayWork:
    """A replay that is planned."""

    replay: ReplayPlan

    @classmethod
    def plan(cls, job: Job) -> ReplayWork:
        replay = ReplayJob.of(job)
        filesystem = open_filesystem(replay.storage)
        return cls(plan_replay(filesystem, replay))

    @property
    def summary(self) -> str:
        return f"Planned {counted(len(self.replay.records), 'record')}."

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
        plan, patience = self.replay, Patience(COMMIT_TIMEOUT)
        while True:
            try:
                return run_replay(plan, runner, job_id, progress)
            except ChangedMeanwhile as error:
                patience.pause(error)
                _LOG.info("%s was changed by another job meanwhile: the replay is planned anew.", plan.job.table)
                plan = plan_replay(open_filesystem(plan.job.storage), plan.job)
