"""Runs a workflow with its scheduler, and keeps the record of the run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from mason.clients.engines.role import support_of
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag_run import FollowDecision, StepStatus
from mason.errors import Interrupted, MasonError, StateFailed, Unprocessable, Unsupported
from mason.operators.failed_code import describe_failure
from mason.state.home import open_run_state
from mason.state.models import RunStep
from mason.workflows.definition.step_code import StepCode
from mason.workflows.definition.valid_workflow import ValidWorkflow
from mason.workflows.runs.lineage import tell_run
from mason.workflows.runs.run_record import ASKED_FOR, Origin, RunRecord
from mason.workflows.runs.step_work import StepWork

FAILED = Unprocessable.status


@dataclass(frozen=True)
class Reused:
    """Steps of an earlier run that are not run again."""

    run_id: str = ""
    steps: Mapping[str, RunStep] = field(default_factory=dict)
    verdicts: Mapping[str, Mapping[str, FollowDecision]] = field(default_factory=dict)
    works: Mapping[str, str] = field(default_factory=dict)
    """The work of steps that had begun and not succeeded: what they had committed is not to be done twice."""

    @property
    def results(self) -> Mapping[str, Mapping[str, Any]]:
        return {key: step.document["Response"] for key, step in self.steps.items()}


def run_workflow(
    workflow: ValidWorkflow,
    response: Response,
    *,
    limit: int = 0,
    reused: Reused | None = None,
    origin: Origin = ASKED_FOR,
) -> None:
    """Run a workflow; what became of it is in the response and in the record.

    Raises:
        Interrupted: ctrl-C.
        MasonError: it could not be run, or not be recorded.
    """
    reused = reused or Reused()
    code = StepCode(workflow)
    scheduler = workflow.config.scheduler.client_named(workflow.scheduler)
    refused = support_of(type(scheduler))["run_dag"]
    if refused:
        raise Unsupported(f"{workflow.scheduler} does not run workflows in this process: {refused}.")
    origin = replace(origin, resumed=reused.run_id, works=reused.works)
    record = RunRecord(open_run_state(workflow.definitions.env), workflow, origin)
    response.add_info(f"Run {record.run_id} of {workflow.registration.name}.")
    record.reuse(reused.steps)
    work = StepWork(workflow, code, record, reused.results, reused.works)
    _tell(workflow, record.run_id, StepStatus.RUNNING, response)
    try:
        statuses, _ = scheduler.run_dag(workflow.dag, work, limit=limit, done=reused.verdicts, response=response)
    except BaseException as error:  # a bug as well: nobody shall wait for a run that is over
        ended = StepStatus.CANCELLED if isinstance(error, Interrupted) else StepStatus.FAILED
        said = str(error) if isinstance(error, MasonError) else _describe_bug(workflow, error)
        with suppress(StateFailed):  # it may be the very reason; who looks at the run will find it lost
            response.add_data(record.end(ended, _stop_steps(work.statuses), said))
        _tell(workflow, record.run_id, ended, response, said)
        raise
    is_well = all(status.is_well for status in statuses.values())
    reasons = [(key, reason) for key, found in work.reasons.items() for reason in found]
    for key, reason in reasons:
        response.add_error(f"{key}: {reason}", FAILED)
    ended = StepStatus.SUCCEEDED if is_well else StepStatus.FAILED
    result = record.end(ended, statuses)
    _tell(workflow, record.run_id, ended, response, "\n".join(reason for _, reason in reasons))
    response.add_data({**result, "Statuses": dict(statuses)})
    counted = ", ".join(f"{count} {status}" for status, count in result["Steps"].items())
    response.add_info(f"Run {record.run_id}: {counted}.")


def _describe_bug(workflow: ValidWorkflow, error: BaseException) -> str:
    return workflow.config.redactor(describe_failure(error, with_folder=workflow.definitions.env.roots is None))


def _stop_steps(statuses: Mapping[str, StepStatus]) -> dict[str, StepStatus]:
    """Return where steps stand whose run is over: none of them runs any more."""
    return {key: status if status.is_final else StepStatus.CANCELLED for key, status in statuses.items()}


def _tell(workflow: ValidWorkflow, run_id: str, status: StepStatus, response: Response, error: str = "") -> None:
    problem = tell_run(workflow, run_id, status, error)
    if problem:
        response.add_warning(problem)
