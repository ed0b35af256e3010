"""Decides which steps of an earlier run need not run again: those whose result could not be another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.dag_run import Follow, FollowDecision, StepStatus
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.errors import BadInput, Conflict, MasonError, Unprocessable
from mason.operators.registration.loader import SOURCE_FILE, read_source
from mason.operators.runner import PreparedOperator
from mason.parameters.validated_parameters import ValidatedParameters, validate_parameters
from mason.state.models import Record, RunStep
from mason.state.store import StateStore
from mason.util.names import did_you_mean
from mason.workflows.definition.references import Missing, Reference, fill, find_value
from mason.workflows.definition.step_code import StepCode, common_prefix
from mason.workflows.definition.valid_workflow import BoundStep, ValidWorkflow, call_digest
from mason.workflows.runs.recorded_runs import is_alive
from mason.workflows.runs.run_record import WORKS, this_folder
from mason.workflows.runs.runner import Reused
from mason.workflows.runs.step_paths import StepPath, foreseen_paths, places_of
from mason.workflows.runs.step_work import work_of

_SHOWN_STEPS = 20


@dataclass(frozen=True)
class Choice:
    """What a user wants to run again besides what must: everything from a step on, or a step alone."""

    first: str = ""
    only: str = ""


def check_choice(workflow: ValidWorkflow, store: StateStore, run: Record, choice: Choice) -> None:
    """Look at whether a run can be resumed at all, and has the steps that a user names.

    Raises:
        Conflict: the run goes on.
        BadInput: there is no such step.
    """
    if is_alive(store, run):
        raise Conflict(f'The run "{run.id}" goes on in another process.', hint="Wait for it, or stop it.")
    for key in filter(None, (choice.first, choice.only)):
        if key not in workflow.dag.by_key:
            some = f"Steps: {', '.join(list(workflow.dag.by_key)[:_SHOWN_STEPS])}."
            raise BadInput(f'There is no step "{key}".', hint=did_you_mean(key, workflow.dag.by_key) or some)


def resume_workflow(
    workflow: ValidWorkflow, store: StateStore, run: Record, choice: Choice, response: Response
) -> tuple[ValidWorkflow, Reused]:
    """Return the workflow as it is to be run, and what is reused; the response says which steps, and why others not.

    Raises:
        Conflict: the run goes on.
        BadInput: there is no such step.
        Unprocessable: a step that should run alone needs one that has not succeeded.
    """
    check_choice(workflow, store, run, choice)
    rows = {row.step: row for row in store.list_run_steps(run.id)}
    judge = _Judge(workflow, rows, run)
    reused: dict[str, RunStep] = {}
    for step in workflow.dag.steps:
        reason = "it was asked for" if step.key in (choice.first, choice.only) else judge.reason(step, reused)
        if not reason:
            reused[step.key] = rows[step.key]
        elif not choice.only or step.key == choice.only:
            response.add_info(f"{step.key}: {_does(rows.get(step.key))}, since {reason}.")
    if choice.only:
        workflow, reused = _alone(workflow, choice.only, reused)
    for key in reused:
        response.add_info(f"{key}: reused from run {run.id}.")
    verdicts = {key: _verdicts(row, judge.code) for key, row in reused.items()}
    asked = {common_prefix(key, following) for key, said in verdicts.items() for following in said}
    if _was_edited(workflow, run, asked):
        response.add_warning(
            "A workflow's own step was edited since: what it said after steps that are reused stays as it was then. "
            "--from STEP asks it again."
        )
    return workflow, Reused(run.id, reused, verdicts, _works(run, rows))


class _Judge:
    """Says why a step has to run again."""

    def __init__(self, workflow: ValidWorkflow, rows: Mapping[str, RunStep], run: Record) -> None:
        self._workflow = workflow
        self.code = StepCode(workflow)
        here = this_folder()
        self._is_elsewhere = run.document.get("Folder", here) != here
        self._rows = rows
        self._written = _last_written(rows.values())
        self._shared = {folder for path in self._written for folder in islice(places_of(path), 1, None)}
        self._referred = {target.key for bound in workflow.bound.values() for target in bound.targets.values()}

    def reason(self, step: ValidDagStep, reused: Mapping[str, RunStep]) -> str:
        """Return the first reason, or nothing; steps before it were judged before."""
        row = self._rows.get(step.key)
        again = next((each for each in step.dependencies if each not in reused), None)
        if row is None or row.status == StepStatus.BLOCKED:
            return "it did not before"
        if row.status == StepStatus.SKIPPED:
            return "it was skipped"
        if row.status != StepStatus.SUCCEEDED:
            return "it did not succeed"
        if again:
            return f'"{again}" before it does'
        if row.document["Operator"] != step.pinned_operator:
            return "its operator was changed"
        bound = self._workflow.bound[step.key]
        parameters = self._parameters(bound, reused)
        if parameters is None or not _asks_the_same(bound, parameters, row):
            return "its parameters or its configuration were changed"
        if self._is_elsewhere and self._leads_elsewhere(bound, parameters, row):
            return "its paths lead elsewhere from this folder"
        if row.document.get("DependsOn"):
            return f"its answer depends on {row.document['DependsOn']}"
        if self._files_changed(row, bound.config):
            return "the files that it reads were changed"
        if any(not StepPath.of(path, bound.config).is_whole() for path in row.document.get("Outputs", ())):
            return "what it wrote is not there any more"
        if step.key in self._referred and row.document["Response"].get("DataLeftOut"):
            return "its data were too large to be kept"
        return ""

    def _parameters(self, bound: BoundStep, reused: Mapping[str, RunStep]) -> ValidatedParameters | None:
        """Return the parameters that the step would have now; none where what they refer to is not there."""

        def look_up(reference: Reference) -> Any:
            target = bound.targets[reference.text]
            return find_value(reused[target.key].document["Response"], target.words)

        try:
            spec = bound.operator.spec
            return bound.parameters or validate_parameters(spec.parameters, (), fill(bound.given, look_up), spec.name)
        except (MasonError, Missing, KeyError):
            return None

    def _leads_elsewhere(self, bound: BoundStep, parameters: ValidatedParameters, row: RunStep) -> bool:
        """Say whether the paths of a step, seen from this folder, are not those that it had."""
        registration, env = bound.operator.registration, self._workflow.definitions.env
        operator = self.code.operator(registration)
        prepared = PreparedOperator(
            env=env,
            config=bound.config,
            parameters=parameters,
            registration=registration,
            operator=operator,
            response=Response(),
        )
        now = foreseen_paths(prepared, bound.operator.spec)
        then = (row.document.get("Inputs", ()), row.document.get("Outputs", ()))
        return now is None or any({*map(str, paths)} != {*known} for paths, known in zip(now, then, strict=True))

    def _files_changed(self, row: RunStep, config: ValidConfig) -> bool:
        inputs: Mapping[str, str] = row.document.get("Inputs", {})
        return any(
            known != StepPath.of(path, config).fingerprint() and not self._is_as_left(path, config)
            for path, known in inputs.items()
        )

    def _is_as_left(self, path: str, config: ValidConfig) -> bool:
        """Say whether it is what the run wrote itself, as the last of its steps has left it."""
        makers = [each for each in places_of(path) if each in self._written]
        if len(makers) > 1 or not self._shared.isdisjoint(makers):
            return True  # one step wrote into the folder of another: nobody knows what was in it at the end
        return any(self._written[each] in ("", StepPath.of(each, config).fingerprint()) for each in makers)


def _works(run: Record, rows: Mapping[str, RunStep]) -> dict[str, str]:
    """Return the work that steps of a run had begun, or had taken up, and not done."""
    begun = {key: work_of(run.id, key) for key, row in rows.items() if row.document.get("Attempts")}
    known = {**begun, **run.document.get(WORKS, {})}
    return {key: work for key, work in known.items() if key not in rows or rows[key].status != StepStatus.SUCCEEDED}


def _does(row: RunStep | None) -> str:
    """Return what a step does that is not reused; whether one that was skipped runs is said by those before it."""
    if row is None or row.status == StepStatus.BLOCKED:
        return "runs"
    return "is looked at again" if row.status == StepStatus.SKIPPED else "runs again"


def _last_written(rows: Iterable[RunStep]) -> dict[str, str]:
    """Return the paths that steps wrote, each as the last of them has left it; "" where nobody looked."""
    last: dict[str, str] = {}
    for row in sorted(rows, key=lambda each: str(each.document.get("EndedAt", ""))):
        written: Mapping[str, str] = row.document.get("Written", {})
        last |= {path.rstrip("/"): written.get(path, "") for path in row.document.get("Outputs", ())}
    return last


def _asks_the_same(bound: BoundStep, parameters: ValidatedParameters, row: RunStep) -> bool:
    asked = call_digest(bound.operator.registration.digest, bound.config, parameters)
    return bool(row.document.get("Call") == asked)


def _alone(
    workflow: ValidWorkflow, key: str, reused: Mapping[str, RunStep]
) -> tuple[ValidWorkflow, dict[str, RunStep]]:
    before: dict[str, None] = {}
    open_keys = list(workflow.dag.by_key[key].dependencies)
    while open_keys:
        each = open_keys.pop()
        if each not in before:
            before[each] = None
            open_keys += workflow.dag.by_key[each].dependencies
    missing = [each for each in before if each not in reused]
    if missing:
        raise Unprocessable(f'"{key}" cannot run alone: "{missing[0]}" before it has to run again.', hint="Use --from.")
    steps = tuple(step for step in workflow.dag.steps if step.key == key or step.key in before)
    return replace(workflow, dag=Dag(workflow.dag.name, steps)), {each: reused[each] for each in before}


def _verdicts(row: RunStep, code: StepCode) -> dict[str, FollowDecision]:
    """Return what a step said to those behind it, where the workflow has a `step` of its own: else they follow."""
    follows: Mapping[str, tuple[str, str]] = row.document.get("Follows", {})
    return {
        key: FollowDecision(Follow(follow), reason)
        for key, (follow, reason) in follows.items()
        if code.decides(row.step, key)
    }


def _was_edited(workflow: ValidWorkflow, run: Record, prefixes: Iterable[str]) -> bool:
    """Say whether the code of one of these workflows, known by their prefixes, is another than that of the run."""
    digests = _digests(run)
    store = workflow.definitions.store
    for prefix in prefixes:
        owner = workflow.owners[prefix]
        then = digests.get(str(owner.name) if prefix else "")
        if then is None:  # a run of before nested workflows were written down tells nothing of them
            return "Nested" in run.document
        if owner.digest == then:
            continue
        before = store.get_files(then)  # nothing of what was never registered
        if not before or read_source(store, owner) != before.get(SOURCE_FILE, b""):
            return True
    return False


def _digests(run: Record) -> dict[str, str]:
    """Return the versions of the workflows of a run: of its own, which has no name here, and of those nested in it."""
    nested = [str(each) for each in run.document.get("Nested", ())]
    own = str(run.document["Workflow"]).rpartition(":")[2]
    return {"": own, **{each.partition("@")[0]: each.rpartition(":")[2] for each in nested}}
