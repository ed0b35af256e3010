"""Hands a workflow to its scheduler: to run when it is due, or at once where the scheduler is not this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mason.clients.discovery import clients_in
from mason.clients.engines.role import support_of
from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag_run import StepStatus
from mason.engines.scheduler.models.deployment import Deployment, StepPlace
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import BadInput, MasonError, NotFound, Unprocessable
from mason.operators.registration.registry import keep_versions
from mason.pipeline.driving.handover import RUN, hand_over, note_forgotten
from mason.state.home import open_state, read_state
from mason.state.models import Origin, Registration
from mason.workflows.definition.step_code import StepCode
from mason.workflows.definition.valid_workflow import ValidWorkflow
from mason.workflows.runs.outside_runs import OutsideRun
from mason.workflows.runs.recorded_runs import LOST, show_run

FAILED = Unprocessable.status


def runs_here(workflow: ValidWorkflow) -> bool:
    """Say whether the scheduler of a workflow runs it in this process."""
    return not support_of(type(_scheduler(workflow)))["run_dag"]


def schedule_of(workflow: ValidWorkflow, name: str, expression: str) -> Schedule:
    """Return the schedule that a user asks for; what they leave open the parameters say, or else `workflow.yaml`."""
    given = workflow.file.document.value or {}
    return Schedule(
        name=name or given.get("schedule_name") or workflow.dag.name,
        expression=expression or given.get("schedule") or workflow.spec.schedule,
    )


def schedule_to_run(workflow: ValidWorkflow, name: str, expression: str, response: Response) -> Schedule:
    """Return the schedule of a workflow that is to run now: when it is due stays as it is, unless that is said too."""
    schedule = schedule_of(workflow, name, expression)
    if schedule.expression:
        return schedule
    known, _ = _scheduler(workflow).list_schedules(response=response)
    deployed = next((each.expression for each in known if each.name == schedule.name), "")
    return replace(schedule, expression=deployed)


def deploy_workflow(workflow: ValidWorkflow, schedule: Schedule, caller: str, response: Response) -> Schedule:
    """Hand a workflow to its scheduler, to be run when it is due. `caller` is who asks for it.

    Raises:
        MasonError: the scheduler does not take it, a secret was given, or the code of a step is gone.
    """
    _refuse_secrets(workflow)
    scheduler = _scheduler(workflow)
    scheduler.validate_schedule(schedule, response=response)
    StepCode(workflow)
    response.add_info(f"Registering workflow dag {schedule.name} with {workflow.scheduler}.")
    env = workflow.definitions.env
    keep_versions(env, open_state(env), _unregistered(workflow))
    registered, _ = scheduler.register_dag(_deployment(workflow, schedule, caller), response=response)
    response.add_info(f"Registered schedule {schedule.name}")
    return registered


def plan_deployment(workflow: ValidWorkflow, schedule: Schedule) -> Sequence[str]:
    """Return what a scheduler that is not this process would make of a workflow, a line each; nothing is made.

    Raises:
        MasonError: it would not take it, or a secret was given.
    """
    if runs_here(workflow):
        return ()
    _refuse_secrets(workflow)
    return _scheduler(workflow).plan_dag(_deployment(workflow, schedule, ""))


def run_outside(workflow: ValidWorkflow, schedule: Schedule, response: Response) -> None:
    """Have the scheduler run a workflow that was deployed, and tell what became of it as far as it can be known."""
    scheduler = _scheduler(workflow)

    def trigger() -> str:
        response.add_info(f"Triggering schedule: {schedule.name}")
        return scheduler.trigger_schedule(schedule.name, response=response)[0]

    if support_of(type(scheduler))["follow_run"]:
        run = trigger()
        response.add_data({"Schedule": schedule.name, "SchedulerRun": run, "Status": "triggered"})
        return
    run = hand_over(RUN, trigger)
    try:
        statuses, _ = scheduler.follow_run(schedule.name, run, response=response)
    except NotFound:
        note_forgotten(RUN)
        raise
    _tell(workflow, OutsideRun(workflow.scheduler, schedule.name, run), statuses, response)


def _refuse_secrets(workflow: ValidWorkflow) -> None:
    steps = [key for key, bound in workflow.bound.items() if bound.given_secrets]
    if steps:
        raise BadInput(
            f"A workflow that is deployed is written down with its parameters, and a secret is among them: {steps[0]}.",
            hint="Let its operator read the secret from its configuration.",
        )


def _scheduler(workflow: ValidWorkflow) -> SchedulerClient:
    return workflow.config.scheduler.client_named(workflow.scheduler)


def _deployment(workflow: ValidWorkflow, schedule: Schedule, caller: str) -> Deployment:
    return Deployment(
        schedule=schedule,
        dag=workflow.dag,
        workflow=workflow.registration.pinned_name,
        config_id=workflow.config.id,
        parameter_file=workflow.parameter_path,
        parameters=workflow.file.document.text,
        folder=str(Path.cwd()),
        home=str(workflow.definitions.env.home),
        roots=workflow.definitions.env.roots,
        deployed_by=caller,
        pinned={f"{each.name.kind} {each.name}": each.digest for each in _unregistered(workflow)},
        others=_others(workflow),
        find_place=lambda step, path: _step_place(workflow, step, path),
    )


def _unregistered(workflow: ValidWorkflow) -> Sequence[Registration]:
    """Return what a workflow uses that is not registered: what is on disk when it is due may be another version."""
    used = [*workflow.owners.values(), *(bound.operator.registration for bound in workflow.bound.values())]
    return list({each.digest: each for each in used if each.origin is not Origin.REGISTERED}.values())


def _step_place(workflow: ValidWorkflow, step: str, path: str) -> StepPlace:
    """Return where a step works, by its own configuration: that of the workflow may be another one."""
    config = workflow.bound[step].config
    storage = config.storage.client_for(path)
    place = storage.path(path)
    catalog = config.metastore.client.catalog() if config.metastore.client_names else ""
    return StepPlace(f"{place.scheme}://{place.path}", storage.address(), catalog)


def _others(workflow: ValidWorkflow) -> list[str]:
    """Return the schedulers that could take a workflow besides the one that is asked to."""
    known = [each for each in clients_in("scheduler") if each != workflow.scheduler]
    return [each for each in known if each in workflow.spec.supported_schedulers] or known


def _tell(workflow: ValidWorkflow, outside: OutsideRun, statuses: Mapping[str, StepStatus], response: Response) -> None:
    """Say how a run went: what Mason wrote down of it, or else what the scheduler says of its steps."""
    try:
        run = show_run(read_state(workflow.definitions.env), outside.run_id)
    except NotFound:
        run = {"Steps": []}
    steps = {each["Id"]: each for each in run["Steps"]}
    final = {key: _status(steps[key]["Status"]) if key in steps else status for key, status in statuses.items()}
    for key, status in final.items():
        if status is StepStatus.FAILED:
            reason = steps.get(key, {}).get("Reason") or _not_begun(workflow, outside, key)
            response.add_error(f"{key}: {reason}", FAILED)
    is_well = all(each.is_well for each in final.values())
    said = {key: value for key, value in run.items() if key != "Steps"}
    status = StepStatus.SUCCEEDED if is_well else StepStatus.FAILED
    response.add_data({**said, "SchedulerRun": outside.run, "Status": status, "Statuses": final})


def _not_begun(workflow: ValidWorkflow, outside: OutsideRun, key: str) -> str:
    try:
        why = _scheduler(workflow).why_failed(outside.schedule, outside.run, key)
    except MasonError:  # that it failed is known all the same
        why = ""
    return f"it failed before Mason could begin it ({outside.scheduler}){f': {why}' if why else ''}"


def _status(said: str) -> StepStatus:
    return StepStatus.FAILED if said == LOST else StepStatus(said)
