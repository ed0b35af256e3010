"""The verbs: operators, workflows, jobs, runs and configurations are listed, described, planned and run here.

Those for databases, tables and schedules stand in `engine_verbs`.

A verb returns a value and raises; the front doors put it into a `Reply` with `reply_with`. What a verb needs of the
rest of Mason it imports when it is called: a listing must not wait for what runs workflows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mason.errors import NotFound
from mason.service.caller import ANYBODY, Caller
from mason.service.row_verbs import RowVerbs
from mason.state.home import read_state
from mason.state.models import Kind, Record, Registration
from mason.util.names import full_name

if TYPE_CHECKING:
    from mason.clients.response import Response
    from mason.configurations.valid_config import ValidConfig
    from mason.engines.execution.models.job import JobRecord
    from mason.operators.operator_response import OperatorResponse
    from mason.operators.registration.catalogue import Catalogue
    from mason.operators.runner import OperatorCall, PreparedOperator
    from mason.state.store import StateStore
    from mason.util.environment import MasonEnvironment
    from mason.workflows.definition.valid_workflow import ValidWorkflow
    from mason.workflows.runs.resume import Choice
    from mason.workflows.workflow_calls import WorkflowCall

JOB_GET = "job:get"
JOB_CANCEL = "job:cancel"


@dataclass(frozen=True)
class Service(RowVerbs):
    """Mason, for one caller, in one environment."""

    env: MasonEnvironment
    caller: Caller = ANYBODY
    catalogue: Catalogue | None = None
    """What a process that lives on has read already; any other reads what it needs."""

    # Operators

    def list_operators(self, namespace: str = "") -> list[Registration]:
        """Return the operators that the caller may use, as they are written: all, or those of a namespace."""
        from mason.operators.registration.registry import outline_definitions

        return [
            each
            for each in outline_definitions(self._store, Kind.OPERATOR)
            if namespace in ("", each.name.namespace) and self.caller.may_use_operator(str(each.name))
        ]

    def find_operator(self, namespace: str, command: str, digest: str = "") -> Registration:
        """Return an operator's registration.

        Raises:
            OperatorNotFound: there is none of that name.
            Forbidden: the caller may not use it.
        """
        from mason.operators.registration.registry import find_operator

        self.caller.require_operator(full_name(namespace, command))
        return find_operator(self._store, namespace, command, digest)

    def run_operator(self, call: OperatorCall, response: Response) -> OperatorResponse:
        """Run an operator.

        Raises:
            MasonError: the caller, the operator, its parameters or the configuration do not allow it, or it failed.
        """
        return self._prepare(call, response).run()

    def plan_operator(self, call: OperatorCall, response: Response) -> OperatorResponse:
        """Say what running an operator would do; nothing is written.

        Raises:
            MasonError: the caller, the operator, its parameters or the configuration do not allow it.
        """
        return self._prepare(call, response).plan()

    def detach_operator(self, call: OperatorCall, response: Response) -> OperatorResponse:
        """Start an operator in a process of its own, and return the id of its job.

        Raises:
            MasonError: the caller, the operator, its parameters or the configuration do not allow it.
        """
        from mason.operators.calls.detached import detach_operator
        from mason.operators.operator_response import OperatorResponse

        self._require_call(call)
        job_id = detach_operator(self.env, call, response)
        response.add_info(f"The job {job_id} runs by itself: mason job get {job_id}")
        response.add_data({"JobID": job_id, "Status": "queued"})
        return OperatorResponse(response)

    def _prepare(self, call: OperatorCall, response: Response) -> PreparedOperator:
        from mason.operators.runner import prepare_call

        self._require_call(call)
        prepared = self.catalogue.prepare(call, response) if self.catalogue else prepare_call(self.env, call, response)
        self.caller.require_configuration(prepared.config.id)
        return prepared

    def _require_call(self, call: OperatorCall) -> None:
        self.caller.require_operator(full_name(call.namespace, call.command))
        if call.config_id:
            self.caller.require_configuration(call.config_id)

    # Workflows

    def list_workflows(self, namespace: str = "") -> list[Registration]:
        """Return the workflows: all, or those of a namespace.

        Raises:
            NotFound: there are workflows, and none in that namespace.
        """
        from mason.operators.registration.registry import outline_definitions

        registered = outline_definitions(self._store, Kind.WORKFLOW)
        found = [each for each in registered if namespace in ("", each.name.namespace)]
        if registered and not found:
            known = sorted({each.name.namespace for each in registered})
            raise NotFound(
                f'There is no namespace "{namespace}" among the workflows.', hint=f"There are: {', '.join(known)}."
            )
        return found

    def find_workflow(self, call: WorkflowCall) -> ValidWorkflow:
        """Return a workflow, checked as a whole.

        Raises:
            MasonError: it is not there, something about it is wrong, or the caller may not use one of its steps.
        """
        from mason.workflows.workflow_calls import find_workflow

        return self._check_allowed(find_workflow(self.env, call))

    def plan_workflow(
        self, call: WorkflowCall, response: Response, *, save: Path | None = None, width: int | None = None
    ) -> OperatorResponse:
        """Do a dry run, drawn for a terminal of that width, and save the plan if nothing is wrong with it.

        Raises:
            MasonError: as `find_workflow`.
        """
        from mason.operators.operator_response import OperatorResponse
        from mason.workflows.plan import plan_workflow
        from mason.workflows.schedules.deployment import schedule_of
        from mason.workflows.workflow_calls import warn_of_workflow

        workflow = self.find_workflow(call)
        warn_of_workflow(workflow, response)
        plan_workflow(workflow, schedule_of(workflow, call.schedule_name, call.schedule), response, width=width)
        if save and not response.errors:
            from mason.workflows.plan_file import save_plan

            save_plan(workflow, save)
            response.add_info(f"Saved the plan: {save}")
        return OperatorResponse(response)

    def run_workflow(
        self,
        call: WorkflowCall,
        response: Response,
        *,
        deploy: bool = False,
        run: bool = True,
        limit: int = 0,
        from_plan: Path | None = None,
    ) -> OperatorResponse:
        """Run a workflow, hand it to its scheduler, do both, or, where neither is asked for, plan it.

        Args:
            limit: so many steps at the same time at most; 0 leaves it to the scheduler.
            from_plan: a saved plan: only if everything is as it was then.

        Raises:
            MasonError: as `find_workflow`; or the run failed.
        """
        from mason.operators.operator_response import OperatorResponse
        from mason.workflows.workflow_calls import handle_workflow

        workflow = self.find_workflow(call)
        if from_plan:
            from mason.workflows.plan_file import check_plan

            check_plan(workflow, from_plan)
        handle_workflow(workflow, call, response, deploy=deploy, run=run, limit=limit)
        return OperatorResponse(response)

    def find_resumed(self, run_id: str, call: WorkflowCall, choice: Choice) -> tuple[Record, ValidWorkflow]:
        """Return a run that is to be resumed, and its workflow, checked as a whole.

        Raises:
            MasonError: there is no such run or step, or as `find_workflow`.
        """
        from mason.workflows.runs.resume import check_choice
        from mason.workflows.workflow_calls import find_resumed

        store = self._store
        record, workflow = find_resumed(self.env, store, run_id, call)
        self._check_allowed(workflow)
        check_choice(workflow, store, record, choice)
        return record, workflow

    def resume_workflow(
        self, run_id: str, call: WorkflowCall, choice: Choice, response: Response, *, limit: int = 0
    ) -> OperatorResponse:
        """Run again what has to be of an earlier run; what the call does not say is as it was then.

        Raises:
            MasonError: as `find_resumed`; or the run failed.
        """
        from mason.operators.operator_response import OperatorResponse
        from mason.workflows.runs.resume import resume_workflow
        from mason.workflows.runs.runner import run_workflow
        from mason.workflows.workflow_calls import warn_of_workflow

        record, workflow = self.find_resumed(run_id, call, choice)
        warn_of_workflow(workflow, response)
        workflow, reused = resume_workflow(workflow, self._store, record, choice, response)
        run_workflow(workflow, response, limit=limit, reused=reused)
        return OperatorResponse(response)

    def _check_allowed(self, workflow: ValidWorkflow) -> ValidWorkflow:
        for step in workflow.dag.steps:
            self.caller.require_operator(step.operator)
            self.caller.require_configuration(step.config_id)
        return workflow

    # Jobs

    def get_job(self, job_id: str, config_id: str, response: Response) -> JobRecord:
        """Return where a job stands.

        Raises:
            NotFound: there is no such job.
            Forbidden: the caller may not see it.
        """
        from mason.operators.calls.records import find_job

        self.require_job(job_id, JOB_GET)
        return find_job(self.env, self._configuration(config_id, response), job_id, response)

    def repeat_lost_job(self, job_id: str) -> bool:
        """Run a detached job again if its process is gone and its operator is repeatable; say whether it is run again.

        Raises:
            Forbidden: the caller may not see the job.
        """
        from mason.operators.calls.detached import repeat_lost

        self.require_job(job_id, JOB_GET)
        return repeat_lost(self.env, job_id)

    def complete_job_id(self, begun: str) -> str:
        """Return the id of the job whose id begins so, if the state knows exactly one; else what was given."""
        from mason.operators.calls.records import complete_job_id

        return complete_job_id(self._store, begun)

    def list_jobs(
        self, config_id: str, response: Response, *, most: int, status: str = "", name: str = ""
    ) -> list[JobRecord]:
        """Return the newest jobs: of all, of a status, or of an operator or workflow."""
        from mason.operators.calls.records import list_jobs

        config = self._configuration(config_id, response)
        return list_jobs(self.env, config, response, most=most, status=status, name=name)

    def cancel_job(self, job_id: str, config_id: str, response: Response) -> JobRecord:
        """End a job, or ask for its end.

        Raises:
            NotFound: there is no such job.
            Forbidden: the caller may not end it.
        """
        from mason.operators.calls.records import cancel_job

        self.require_job(job_id, JOB_CANCEL)
        return cancel_job(self.env, self._configuration(config_id, response), job_id, response)

    def require_job(self, job_id: str, operator: str = JOB_GET) -> None:
        """Check that the caller may look at a job, or end it.

        Raises:
            Forbidden: its token is neither for that operator nor the one that the job was begun with.
        """
        if self.find_own_job(job_id) is None:
            self.caller.require_operator(operator)

    def find_own_job(self, job_id: str) -> Record | None:
        """Return what is written of a job, if this caller began it and has a token that is not for everything.

        Raises:
            Forbidden: it is a job of others with a configuration that the token is not for.
        """
        from mason.operators.calls.records import find_record

        if not self.caller.is_limited:
            return None
        job = find_record(self._store, job_id)
        if job and job.document.get("CalledBy") == self.caller.name:
            return job
        if job:  # what runs without a request (a command, a step, a schedule) says its configuration as well
            self.caller.require_configuration(job.document.get("Configuration", ""))
        return None

    # Runs

    def list_runs(self, name: str = "", limit: int = 100) -> list[dict[str, Any]]:
        """Return the newest runs that the caller may see: of all workflows, of `table:daily`, or of all in `table:`."""
        from mason.workflows.runs.recorded_runs import list_runs

        store = self._store

        def may_see(run: Record) -> bool:
            if not self.caller.is_limited:
                return True
            return self.caller.may_see_run(run.document, [each.document for each in store.list_run_steps(run.id)])

        return list_runs(store, name, limit, may_see)

    def get_run(self, run_id: str) -> dict[str, Any]:
        """Return a run with its steps.

        Raises:
            NotFound: there is no such run, or more than one whose id begins so.
            Forbidden: the caller may not use what it used.
        """
        from mason.workflows.runs.recorded_runs import show_run

        run = show_run(self._store, run_id)
        self.caller.require_configuration(run["Configuration"])
        self.caller.require_steps(run["Steps"])
        if self.caller.is_limited:
            run.pop("Parameters", None)  # also of steps that have not begun; each that has says its own
        return run

    # Configurations

    def list_configurations(self) -> list[dict[str, Any]]:
        """Return the configurations that the caller may use, without their secrets."""
        from mason.configurations.saved import describe_configurations

        return [
            each for each in describe_configurations(self.env) if self.caller.may_use_configuration(each["ConfigID"])
        ]

    def choose_configuration(self, config_id: str) -> str:
        """Make a configuration the current one, and return what there is to say of it.

        Raises:
            ConfigurationNotFound: there is no such configuration.
            Forbidden: the caller may not choose it.
        """
        from mason.configurations.saved import choose_configuration
        from mason.state.tokens import Scope

        self.caller.require(Scope.ADMIN)
        self.caller.require_configuration(config_id)
        choose_configuration(self.env, config_id)
        return f"Setting current config to {config_id}"

    def _configuration(self, config_id: str, response: Response) -> ValidConfig:
        from mason.configurations.saved import use_configuration

        if config_id:
            self.caller.require_configuration(config_id)
        config = self.catalogue.configuration(config_id) if self.catalogue else use_configuration(self.env, config_id)
        response.redactor = config.redactor
        return config

    @property
    def _store(self) -> StateStore:
        return self.catalogue.store if self.catalogue else read_state(self.env)
