"""The dry run: what each step would do, as far as its inputs exist. Nothing is written."""

from __future__ import annotations

from typing import Any

from mason.clients.response import Response
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.operators.operator_response import OperatorResponse
from mason.operators.runner import PreparedOperator, respond
from mason.workflows.picture import draw, to_dict
from mason.workflows.step_code import StepCode
from mason.workflows.step_work import StepSays
from mason.workflows.valid_workflow import ValidWorkflow

_DRY_RUN = (
    "Performing Dry Run for Workflow.  To Deploy workflow use --deploy -d flag.  To run now use the --run -r flag"
)


def plan_workflow(workflow: ValidWorkflow, response: Response) -> None:
    """Say what running the workflow would do.

    Raises:
        MasonError: the code of an operator is gone.
    """
    code = StepCode(workflow)
    for line in (_DRY_RUN, "", "Valid Workflow DAG Definition:", "-" * 80, "\n".join(draw(workflow.dag)), ""):
        response.add_info(line)
    plans = [_plan_step(workflow, code, step, response) for step in workflow.dag.steps]
    outline = {"Workflow": workflow.registration.pinned_name, "Scheduler": workflow.scheduler}
    response.add_data({**outline, **to_dict(workflow.dag), "Steps": plans})


def _plan_step(workflow: ValidWorkflow, code: StepCode, step: ValidDagStep, response: Response) -> dict[str, Any]:
    shown = {"Id": step.key, "Dependencies": list(step.dependencies), **({"When": step.when} if step.when else {})}
    bound = workflow.bound[step.key]
    parameters = bound.parameters
    if parameters is None:
        waits = ", ".join(f"{{{{{text}}}}}" for text in bound.targets)
        return {**shown, "Operator": step.pinned_operator, "Waits": f"planned when {waits} is known"}

    def plan(own: Response) -> OperatorResponse:
        own.redactor = bound.config.redactor
        own.redactor.learn(parameters.secrets)
        operator = code.operator(bound.operator.registration)
        env = workflow.definitions.env
        return PreparedOperator(env, bound.config, parameters, bound.operator.registration, operator, own).plan()

    said = StepSays(step.key, silent=True)
    planned = respond(plan, said).to_dict()
    for warning in planned["Warnings"]:
        response.add_warning(f"{step.key}: {warning}")
    if planned["Errors"] and step.dependencies:
        reason = f"its inputs are not there yet, or it would fail: {planned['Errors'][0]}"
        response.add_info(f"{step.key}: cannot be planned before the steps before it have run; {reason}")
        return {**shown, "Operator": step.pinned_operator, "Waits": reason}
    for error in planned["Errors"]:
        response.add_error(f"{step.key}: {error}", said.status)
    return {**shown, "Operator": step.pinned_operator, "Plan": planned["Data"], "Info": planned["Info"]}
