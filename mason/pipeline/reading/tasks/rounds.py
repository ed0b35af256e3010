"""Runs the tasks of a plan until every value fits: a sampled schema is a hypothesis."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from mason.engines.storage.models.location import Location
from mason.pipeline.formats.odd_values import Misfit
from mason.pipeline.reading.plan.read_plan import ReadPlan
from mason.pipeline.reading.tasks.kernel import evidence_of_results
from mason.pipeline.reading.tasks.sinks import SinkSpec
from mason.pipeline.reading.tasks.staging import empty
from mason.pipeline.reading.tasks.task import KERNEL, TaskResult, tasks_of
from mason.pipeline.work.base import Progress
from mason.pipeline.work.row_sums import RowsLost
from mason.pipeline.work.tasks import TaskRunner, running, without_beats

LOG = logging.getLogger("mason.pipeline")
MOST_ROUNDS = 10

P = TypeVar("P", bound=ReadPlan)


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """How the tasks of a plan are run, whoever asks for it."""

    runner: TaskRunner
    sink: SinkSpec
    job_id: str
    progress: Progress
    staging: Location | None = None
    """The folder that the sinks write to; None if they write nothing."""
    columns: Sequence[str] = ()
    """The columns that the sinks get; none stands for all."""

    def run(self, plan: P) -> tuple[P, Mapping[int, TaskResult], int]:
        """Return the plan whose schema held every value, what its tasks returned, and how many rounds it took.

        Where values beyond the sample need a wider type, or a file cannot be cut after all, the tasks run again.

        Raises:
            PlanRefused: what was seen beyond the sample cannot be in one table.
            RowsLost: a task gave no result, or no schema holds all values.
        """
        for number in range(1, MOST_ROUNDS + 1):
            results = self._run_tasks(plan)
            untrusted = {path for result in results.values() for path in result.not_to_cut}
            seen = evidence_of_results(results)
            if untrusted:
                plan = plan.without_cuts(untrusted)
            elif seen:
                plan = _wider(plan, plan.widen_with(seen).with_base_files(), seen)
                plan = plan.with_misfits(_misfits(results))
            else:
                return plan, results, number
            if self.staging:
                empty(self.staging)
        raise RowsLost(f"No schema was found in {MOST_ROUNDS} rounds.")

    def _run_tasks(self, plan: P) -> Mapping[int, TaskResult]:
        tasks = tasks_of(plan, self.staging, self.job_id, self.sink, self.columns)
        results: dict[int, TaskResult] = {}
        records = 0
        with running(self.runner, KERNEL, [task.to_bytes() for task in tasks]) as events:
            for number, content in without_beats(events):
                results[number] = TaskResult.of(content)
                records += results[number].records
                self.progress(len(results), len(tasks), records)
        if len(results) != len(tasks):
            raise RowsLost(f"{len(tasks) - len(results)} of {len(tasks)} tasks gave no result.")
        return results


def _misfits(results: Mapping[int, TaskResult]) -> dict[str, Misfit]:
    """The first value of each column that did not fit, in the order of the files."""
    found: dict[str, Misfit] = {}
    for number in sorted(results):
        for name, each in results[number].misfits.items():
            found.setdefault(name, Misfit.of(each))
    return found


def _wider(before: P, after: P, seen: Mapping[str, Mapping[str, object]]) -> P:
    if after.schema == before.schema:
        names = {name: None for columns in seen.values() for name in columns}
        raise RowsLost(f"Columns {', '.join(names)} do not fit the schema that was decided for them.")
    _tell_what_is_wider(before.schema, after.schema)
    return after


def _tell_what_is_wider(before: pa.Schema, after: pa.Schema) -> None:
    known = dict(zip(before.names, before.types, strict=True))
    for field in after:
        if known.get(field.name) != field.type:
            LOG.info('Column "%s" is %s beyond the sample: the tasks run again.', field.name, field.type)
