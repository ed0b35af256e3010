"""What the service asks of workflows: found and checked as a whole, then planned, run or deployed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from mason.clients.response import Response
from mason.errors import BadInput
from mason.operators.registration.registry import list_registered
from mason.operators.use_warnings import warn_of_use
from mason.pipeline.driving.handover import RUN, was_handed_over
from mason.state.home import read_state
from mason.state.models import Record, Registration
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.workflows.definition.definitions import Definitions
from mason.workflows.definition.parameter_file import ParameterFile, parameters_of_request, read_parameters
from mason.workflows.definition.valid_workflow import ValidWorkflow
from mason.workflows.definition.validation import validate_workflow


@dataclass(frozen=True, kw_only=True)
class WorkflowCall:
    """A workflow with what a user gives for it."""

    name: str
    digest: str = ""
    parameter_file: Path | None = None
    config_id: str = ""
    schedule_name: str = ""
    schedule: str = ""
    given: ParameterFile | None = None
    """The parameters themselves, where they are in no file."""
    caller: str = ""
    """Who asks: the name of a token of the REST API; nothing for a command."""


def find_workflow(env: MasonEnvironment, call: WorkflowCall) -> ValidWorkflow:
    """Return the workflow, checked as a whole.

    Raises:
        MasonError: it is not there, or something about it is wrong.
    """
    definitions = Definitions(env, read_state(env))
    registration = definitions.workflow(call.name, call.digest)
    given = call.given or read_parameters(call.parameter_file)
    return validate_workflow(definitions, registration, given, call.config_id)


def warn_of_workflow(workflow: ValidWorkflow, response: Response) -> None:
    """Warn of clients that the configurations and operators of a workflow name, and that nobody can use."""
    definitions = workflow.definitions
    used: dict[str, dict[str, Registration]] = {}
    for bound in workflow.bound.values():
        used.setdefault(bound.config.id, {})[bound.operator.registration.digest] = bound.operator.registration
    owners = {each.digest: each for each in workflow.owners.values()}
    used.setdefault(workflow.config.id, {}).update(owners)
    for config_id, registrations in used.items():
        config = definitions.configuration(config_id)
        warn_of_use(response, config, registrations.values(), lambda: list_registered(definitions.store))


def handle_workflow(
    workflow: ValidWorkflow,
    call: WorkflowCall,
    response: Response,
    *,
    deploy: bool = False,
    run: bool = False,
    limit: int = 0,
) -> None:
    """Deploy a workflow, run it, do both, or, where neither is asked for, plan it.

    A scheduler that is not this process is handed the workflow as it is now in any case, and asked to run it; where an
    earlier process has done so for the same call, that run is followed.
    """
    from mason.workflows.plan import plan_workflow
    from mason.workflows.runs.runner import run_workflow
    from mason.workflows.schedules.deployment import (
        deploy_workflow,
        run_outside,
        runs_here,
        schedule_of,
        schedule_to_run,
    )

    warn_of_workflow(workflow, response)
    if not deploy and not run:
        plan_workflow(workflow, schedule_of(workflow, call.schedule_name, call.schedule), response)
        return
    here = run and runs_here(workflow)
    _refuse_what_would_be_left_out(workflow, call, runs_now=here and not deploy, limit=0 if here else limit)
    if deploy or not here:
        choose = schedule_of(workflow, call.schedule_name, call.schedule) if deploy else None
        schedule = choose or schedule_to_run(workflow, call.schedule_name, call.schedule, response)
        deployed = None if was_handed_over(RUN) else deploy_workflow(workflow, schedule, call.caller, response)
        if deployed and not run:
            response.add_data(deployed)
        elif not here:
            run_outside(workflow, schedule, response)
    if here:
        run_workflow(workflow, response, limit=limit)


def _refuse_what_would_be_left_out(workflow: ValidWorkflow, call: WorkflowCall, *, runs_now: bool, limit: int) -> None:
    """Refuse what only another scheduler, or a deployment, could make use of."""
    if runs_now and (call.schedule or call.schedule_name):
        raise BadInput(
            f"{workflow.scheduler} runs a workflow at once, and leaves out when else it is due.",
            hint="--schedule and --schedule-name go with --deploy.",
        )
    if limit:
        raise BadInput(
            f"{workflow.scheduler} decides by itself how many steps run at the same time.", hint="Leave out --parallel."
        )


def find_resumed(
    env: MasonEnvironment, store: StateStore, run_id: str, call: WorkflowCall
) -> tuple[Record, ValidWorkflow]:
    """Return a run and its workflow, checked as a whole: what the call does not say is as it was then.

    Raises:
        MasonError: there is no such run, or something about its workflow is wrong.
    """
    from mason.workflows.runs.recorded_runs import find_run

    record = find_run(store, run_id)
    then = record.document
    name = call.name or str(then["Workflow"]).partition("@")[0]
    config_id = call.config_id or then["Configuration"]
    given, file = call.given, call.parameter_file
    if given is None and file is None:
        given = replace(parameters_of_request(then["Parameters"]), is_kept=True) if "Parameters" in then else None
        file = Path(then["ParameterFile"]) if then["ParameterFile"] else None
    return record, find_workflow(
        env, WorkflowCall(name=name, digest=call.digest, parameter_file=file, config_id=config_id, given=given)
    )
