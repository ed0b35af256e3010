"""Runs that a scheduler elsewhere drives: it calls Mason for each step, and at the end for the verdict on the run.

Every call is a process of its own. What they have to know of each other is in the state, below an id that all of them
make from what the scheduler calls the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum

from mason.clients.response import LOG, Response
from mason.engines.scheduler.models.dags.dag_run import (
    Follow,
    FollowDecision,
    StepEvent,
    StepStatus,
    end_without_running,
    judge_step,
)
from mason.engines.scheduler.models.dags.executed_dag_step import ExecutedDagStep
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.errors import AlreadyExists, BadInput, Conflict, MasonError, Unprocessable
from mason.state.home import open_run_state
from mason.state.models import RecordKind, RunStep
from mason.state.store import StateStore
from mason.util.names import did_you_mean
from mason.workflows.definition.step_code import StepCode
from mason.workflows.definition.valid_workflow import ValidWorkflow
from mason.workflows.runs.lineage import tell_run
from mason.workflows.runs.run_record import Origin, document_of_end, run_document
from mason.workflows.runs.step_notes import StepNotes
from mason.workflows.runs.step_work import StepWork, failure_reasons

FAILED = Unprocessable.status


class StepExit(IntEnum):
    """How a call for a step ends, for the scheduler that made it."""

    DONE = 0
    FAILED = 1
    """It has failed, and another attempt would not help, or there were enough of them."""
    AGAIN = 75
    """It has failed, and its policy wants another attempt."""
    SKIPPED = 99
    """It does not run: its condition, or a step before it, says so."""


@dataclass(frozen=True)
class OutsideRun:
    """A run as its scheduler knows it."""

    scheduler: str
    schedule: str
    run: str

    @property
    def run_id(self) -> str:
        """What Mason calls it."""
        return hashlib.sha256(f"{self.scheduler}\0{self.schedule}\0{self.run}".encode()).hexdigest()[:16]


def run_outside_step(workflow: ValidWorkflow, outside: OutsideRun, key: str, attempt: int) -> StepExit:
    """Run one step, as far as those before it let it, and write down what became of it.

    Raises:
        BadInput: the workflow has no such step.
        MasonError: the state cannot be written, or the code of a step is gone.
    """
    if key not in workflow.dag.by_key:
        raise BadInput(f'The workflow has no step "{key}".', hint=did_you_mean(key, workflow.dag.by_key))
    store = open_run_state(workflow.definitions.env)
    _begin(store, workflow, outside)
    rows = {row.step: row for row in store.list_run_steps(outside.run_id)}
    before = {key: rows[key].document} if key in rows and attempt > 1 else {}
    notes = StepNotes(store, workflow, outside.run_id, before)
    results = {row.step: row.document["Response"] for row in rows.values() if "Response" in row.document}
    work = StepWork(workflow, StepCode(workflow), notes, results)
    try:
        return _run(workflow, work, workflow.dag.by_key[key], attempt, rows)
    finally:
        notes.keep()


def judge_outside_run(workflow: ValidWorkflow, outside: OutsideRun, response: Response) -> None:
    """Write down how a run ended whose steps have all had their turn; what failed is in the response.

    Raises:
        MasonError: the state cannot be written.
    """
    store = open_run_state(workflow.definitions.env)
    _begin(store, workflow, outside)
    rows = {row.step: row for row in store.list_run_steps(outside.run_id)}
    statuses = {step.key: _final(rows.get(step.key)) for step in workflow.dag.steps}
    for key, status in statuses.items():
        if status is StepStatus.FAILED:
            for reason in _reasons(rows.get(key)):
                response.add_error(f"{key}: {reason}", FAILED)
    status = StepStatus.SUCCEEDED if all(each.is_well for each in statuses.values()) else StepStatus.FAILED
    record = store.get_record(RecordKind.RUN, outside.run_id)
    while record is not None:
        try:
            record = store.update_record(record, status, document_of_end(record.document, statuses))
            break
        except Conflict:
            record = store.get_record(RecordKind.RUN, outside.run_id)
    _tell(workflow, outside, status, "\n".join(response.errors))
    response.add_data({"RunID": outside.run_id, "Status": status, "Statuses": statuses})


def _begin(store: StateStore, workflow: ValidWorkflow, outside: OutsideRun) -> None:
    document = {**run_document(workflow, Origin(schedule=outside.schedule)), "SchedulerRun": outside.run}
    with suppress(AlreadyExists):  # by the first of its steps
        store.add_record(RecordKind.RUN, outside.run_id, StepStatus.RUNNING, document)
        _tell(workflow, outside, StepStatus.RUNNING)


def _tell(workflow: ValidWorkflow, outside: OutsideRun, status: StepStatus, error: str = "") -> None:
    problem = tell_run(workflow, outside.run_id, status, error)
    if problem:
        LOG.warning("%s", problem)


def _run(
    workflow: ValidWorkflow, work: StepWork, step: ValidDagStep, attempt: int, rows: Mapping[str, RunStep]
) -> StepExit:
    before = [workflow.dag.by_key[each] for each in step.dependencies]
    ended = end_without_running([_says(work, rows.get(each.key), each, step) for each in before])
    if ended:
        work.note(StepEvent(step, *ended))
        return StepExit.SKIPPED
    try:
        reason = work.skips(step)
    except MasonError as error:
        return _end(workflow, work, step, attempt, work.make_failed_step(step, str(error)), may_retry=False)
    if reason:
        work.note(StepEvent(step, StepStatus.SKIPPED, 0, reason))
        return StepExit.SKIPPED
    work.note(StepEvent(step, StepStatus.RUNNING, attempt))
    work.keep()
    return _end(workflow, work, step, attempt, work.run_step(step))


def _end(
    workflow: ValidWorkflow,
    work: StepWork,
    step: ValidDagStep,
    attempt: int,
    executed: ExecutedDagStep,
    *,
    may_retry: bool = True,
) -> StepExit:
    verdicts = {each.key: work.follow(executed, each) for each in workflow.dag.followers[step.key]}
    reason, asks_again = judge_step(executed.errors, list(verdicts.values()))
    if asks_again and may_retry and attempt <= step.retry.most:
        work.note(StepEvent(step, StepStatus.RETRYING, attempt, reason, executed, wait=step.retry.wait(attempt)))
        return StepExit.AGAIN
    status = StepStatus.FAILED if reason else StepStatus.SUCCEEDED
    work.note(StepEvent(step, status, attempt, reason, executed, verdicts))
    return StepExit.FAILED if reason else StepExit.DONE


def _says(work: StepWork, row: RunStep | None, before: ValidDagStep, step: ValidDagStep) -> FollowDecision:
    """Return what a step that had its turn says to one that follows it."""
    if row is None or not StepStatus(row.status).is_final:
        return FollowDecision(Follow.STOP, f'"{before.key}" did not end')
    if row.status == StepStatus.SKIPPED:
        return FollowDecision(Follow.END, f'"{before.key}" was skipped')
    if row.status == StepStatus.BLOCKED:
        return work.follow_blocked(before, step, row.document.get("Reason", ""))
    if row.status == StepStatus.CANCELLED:
        return FollowDecision(Follow.STOP, f'"{before.key}" did not run')
    follow, reason = row.document.get("Follows", {}).get(step.key, (Follow.RUN, ""))
    return FollowDecision(Follow(follow), reason)


def _reasons(row: RunStep | None) -> Sequence[str]:
    """Return why a step failed, as its row says; what is said of one that has no row, or one without an end."""
    if row is None or not row.document.get("Reason"):
        return ["Mason was not called for it, or died before it was over"]
    return failure_reasons(row.document["Reason"], row.document.get("Response", {}).get("Errors", ()))


def _final(row: RunStep | None) -> StepStatus:
    status = StepStatus(row.status) if row else StepStatus.FAILED
    return status if status.is_final else StepStatus.FAILED
