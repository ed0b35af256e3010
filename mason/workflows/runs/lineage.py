"""Lineage of workflows: a run, and its steps as parts of it. The jobs that steps run send their own events."""

from __future__ import annotations

from mason.engines.scheduler.models.dags.dag_run import StepEvent, StepStatus
from mason.lineage.sender import tell
from mason.lineage.stories import Moment, Said, run_subject, step_subject
from mason.workflows.definition.valid_workflow import ValidWorkflow

_MOMENTS = {
    StepStatus.RUNNING: Moment.START,
    StepStatus.RETRYING: Moment.RUNNING,
    StepStatus.SUCCEEDED: Moment.COMPLETE,
    StepStatus.FAILED: Moment.FAIL,
    StepStatus.CANCELLED: Moment.ABORT,
}
"""Steps that are skipped or blocked do not run, and nothing is told of them."""


def tell_run(workflow: ValidWorkflow, run_id: str, status: StepStatus, error: str = "") -> str:
    """Tell that a run began or ended; return why it could not be told, once."""
    said = Said(error=workflow.config.redactor(error), tags={"mason_run_id": run_id})
    return tell(workflow.definitions.env, _MOMENTS[status], run_subject(str(workflow.registration.name), run_id), said)


def tell_step(workflow: ValidWorkflow, run_id: str, event: StepEvent) -> str:
    """Tell a change of a step; return why it could not be told, once."""
    moment = _MOMENTS.get(event.status)
    began = event.attempt > 0  # what is cancelled before its turn never ran
    if moment is None or not began or (event.status is StepStatus.RUNNING and event.attempt > 1):
        return ""
    redact = workflow.bound[event.step.key].config.redactor
    said = Said(error=redact(event.reason), tags={"mason_run_id": run_id, "mason_attempt": str(event.attempt)})
    return tell(
        workflow.definitions.env, moment, step_subject(str(workflow.registration.name), run_id, event.step.key), said
    )
