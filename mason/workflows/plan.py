"""The dry run: what each step would do, as far as its inputs exist. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mason.clients.response import Response
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import MasonError
from mason.operators.failed_code import describe_failure
from mason.operators.operator_response import OperatorResponse
from mason.operators.runner import PreparedOperator, respond
from mason.parameters.validated_parameters import ValidatedParameters
from mason.workflows.definition.graph import Clashes
from mason.workflows.definition.step_code import StepCode
from mason.workflows.definition.valid_workflow import BoundStep, ValidWorkflow
from mason.workflows.picture import draw, to_dict
from mason.workflows.runs.step_paths import StepPath, foreseen_paths, places_of
from mason.workflows.runs.step_work import StepResult, StepSays
from mason.workflows.schedules.deployment import plan_deployment

_DRY_RUN = (
    "Performing Dry Run for Workflow.  To Deploy workflow use --deploy -d flag.  To run now use the --run -r flag"
)


def plan_workflow(workflow: ValidWorkflow, schedule: Schedule, response: Response, *, width: int | None = None) -> None:
    """Say what running the workflow would do, and what its scheduler would make of it.

    Args:
        schedule: what it would be deployed as.
        width: the columns of the terminal that the DAG is drawn on, if it is one.

    Raises:
        MasonError: the code of an operator is gone.
    """
    planner = _Planner(workflow=workflow, code=StepCode(workflow), response=response, clashes=Clashes(workflow.dag))
    for line in (_DRY_RUN, "", "Valid Workflow DAG Definition:", "-" * 80, "\n".join(draw(workflow.dag, width)), ""):
        response.add_info(line)
    plans = [planner.plan(step) for step in workflow.dag.steps]
    outline = {"Workflow": workflow.registration.pinned_name, "Scheduler": workflow.scheduler}
    made = _list_made_outside(workflow, schedule, response)
    response.add_data({**outline, **to_dict(workflow.dag), "Steps": plans, **({"Made": made} if made else {})})


def _list_made_outside(workflow: ValidWorkflow, schedule: Schedule, response: Response) -> list[str]:
    """Return what the scheduler of a workflow would make, and tell it; that it refuses the workflow is an error."""
    try:
        made = list(plan_deployment(workflow, schedule))
    except MasonError as error:
        for message in error.messages:
            response.add_error(workflow.config.redactor(message), error.status)
        return []
    for line in made:
        response.add_info(f"{workflow.scheduler}: {line}")
    return made


@dataclass(frozen=True)
class _Paths:
    """The paths that a step reads and writes, as far as they are known."""

    reads: Sequence[StepPath] = ()
    writes: Sequence[StepPath] = ()

    def __str__(self) -> str:
        parts = [f"{verb} {', '.join(map(str, paths))}" for verb, paths in self._paths_by_name() if paths]
        return f"{' and '.join(parts)}." if parts else ""

    def to_dict(self) -> dict[str, list[str]]:
        return {verb.capitalize(): [*map(str, paths)] for verb, paths in self._paths_by_name() if paths}

    def _paths_by_name(self) -> Sequence[tuple[str, Sequence[StepPath]]]:
        return ("reads", self.reads), ("writes", self.writes)


@dataclass(kw_only=True)
class _Planner:
    """Plans step after step, and knows which of them writes what."""

    workflow: ValidWorkflow
    code: StepCode
    response: Response
    clashes: Clashes
    writers: dict[str, str] = field(default_factory=dict)
    """The steps by the paths that they write."""

    def plan(self, step: ValidDagStep) -> dict[str, Any]:
        """Return the plan of a step, and tell what there is to know of it."""
        bound = self.workflow.bound[step.key]
        document = {
            "Id": step.key,
            "Dependencies": list(step.dependencies),
            **({"When": step.when} if step.when else {}),
        }
        document["Operator"] = step.pinned_operator
        if bound.parameters is None:
            self._warn(step, self.clashes.add(step, (), ()))
            waits = ", ".join(f"{{{{{text}}}}}" for text in bound.targets)
            self._tell(step, f"It is planned when {waits} is known.")
            return {**document, "Waits": f"planned when {waits} is known"}
        said = StepSays(step.key, silent=True)
        paths, planned = self._plan_step(bound, bound.parameters, said)
        has_plan = self.code.has_plan(bound.operator.registration)
        self._tell(step, str(paths), *(planned["Info"] if has_plan else ()))
        self._warn(step, planned["Warnings"])
        self._warn(step, self.clashes.add(step, [*map(str, paths.reads)], [*map(str, paths.writes)]))
        may_wait = bool(planned["Errors"] and step.dependencies)
        waits = self._waits(step, paths, planned["Errors"][0]) if may_wait else ""
        self.writers |= {str(each).rstrip("/"): step.key for each in paths.writes}
        if waits:
            return {**document, **paths.to_dict(), "Waits": waits}
        for error in planned["Errors"]:
            self.response.add_error(f"{step.key}: {error}", said.status)
        return {**document, **paths.to_dict(), "Plan": planned["Data"], "Info": planned["Info"]}

    def _plan_step(
        self, bound: BoundStep, parameters: ValidatedParameters, said: Response
    ) -> tuple[_Paths, Mapping[str, Any]]:
        """Return the paths of a step, and what its operator says: also what goes wrong, without secrets."""
        paths = _Paths()

        def work(response: Response) -> OperatorResponse:
            nonlocal paths
            response.redactor = bound.config.redactor
            response.redactor.learn(parameters.secrets)
            registration, env = bound.operator.registration, self.workflow.definitions.env
            operator = self.code.operator(registration)
            prepared = PreparedOperator(
                env=env,
                config=bound.config,
                parameters=parameters,
                registration=registration,
                operator=operator,
                response=response,
            )
            paths = _Paths(*(foreseen_paths(prepared, bound.operator.spec) or ()))
            return prepared.plan()

        describe_bug = partial(describe_failure, with_folder=self.workflow.definitions.env.roots is None)
        planned = StepResult.of(respond(work, said, describe_bug), describe_bug).to_dict()
        return paths, planned

    def _waits(self, step: ValidDagStep, paths: _Paths, error: str) -> str:
        """Return what a step that cannot be planned waits for, and tell it."""
        maker = self._maker(paths)
        if maker:
            self._tell(step, f'It is planned when "{maker}" has made what it reads.')
            return f'planned when "{maker}" has made what it reads'
        reason = f"its inputs are not there yet, or it would fail: {error}"
        self._tell(step, f"It cannot be planned yet: {reason}")
        return reason

    def _maker(self, paths: _Paths) -> str:
        """Return the step before that makes what a step reads, if it is not there yet."""
        for each in paths.reads:
            maker = next((self.writers[place] for place in places_of(str(each)) if place in self.writers), "")
            if maker and _is_missing(each):
                return maker
        return ""

    def _warn(self, step: ValidDagStep, warnings: Iterable[str]) -> None:
        for warning in warnings:
            self.response.add_warning(f"{step.key}: {warning}")

    def _tell(self, step: ValidDagStep, *lines: str) -> None:
        for line in filter(None, lines):
            self.response.add_info(f"{step.key}: {line}")


def _is_missing(path: StepPath) -> bool:
    try:
        return not path.exists()
    except (MasonError, OSError, ValueError):  # a storage that cannot be asked: what the step itself says of it is told
        return False
