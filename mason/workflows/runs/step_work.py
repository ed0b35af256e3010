"""The work of a workflow's steps: operators with parameters from earlier steps, conditions, and what follows what."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from mason.clients.response import LOG, Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.scheduler.models.dags.dag_run import Follow, FollowDecision, StepEvent, StepStatus
from mason.engines.scheduler.models.dags.executed_dag_step import ExecutedDagStep
from mason.engines.scheduler.models.dags.failed_dag_step import FailedDagStep
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.errors import MasonError, Unprocessable
from mason.lineage.sender import is_wanted
from mason.lineage.surroundings import within_step
from mason.operators.calls.operator_process import run_apart
from mason.operators.failed_code import describe_failure, find_failed_code
from mason.operators.operator_response import OperatorResponse
from mason.operators.runner import PreparedOperator, respond, show_result
from mason.parameters.validated_parameters import ValidatedParameters, validate_parameters
from mason.state.models import Registration
from mason.util.redaction import hide_secrets
from mason.workflows.definition.references import Missing, Reference, fill, find_value
from mason.workflows.definition.step_code import StepCode, common_prefix
from mason.workflows.definition.valid_workflow import BoundStep, ValidWorkflow
from mason.workflows.runs.lineage import tell_step
from mason.workflows.runs.step_notes import StepNotes

_NONE: Mapping[str, str] = MappingProxyType({})


def work_of(run_id: str, step: str) -> str:
    """Return by what the work of a step is known again, should another run have to take it up."""
    return f"{run_id}/{step}"


def failure_reasons(reason: str, errors: Sequence[str]) -> Sequence[str]:
    """Return why a step failed: the verdict on it, and the operator's own errors, which a verdict must not hide."""
    return tuple(dict.fromkeys([reason, *errors]))


class StepSays(Response):
    """The response of a step: what it logs begins with the step, since several may speak at the same time."""

    def __init__(self, key: str, *, silent: bool = False) -> None:
        super().__init__()
        self._key = key
        self._silent = silent

    def _log(self, level: int, message: str) -> None:
        if not self._silent:
            LOG.log(level, "%s: %s", self._key, message)


@dataclass(frozen=True)
class StepResult(OperatorResponse):
    """What a step gave, in JSON as it is recorded and referred to.

    The thread that ran the step writes it out: should that fail, since an object cannot be shown, it is this step that
    has failed, and not the run.
    """

    shown: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, result: OperatorResponse, describe_bug: Callable[[BaseException], str]) -> StepResult:
        response = result.response
        document = show_result(result, describe_bug)
        return cls(response, None if response.errors else result.object, document)

    def to_dict(self) -> dict[str, Any]:
        return dict(self.shown)


class StepWork:
    """What a scheduler runs when it runs a workflow."""

    def __init__(
        self,
        workflow: ValidWorkflow,
        code: StepCode,
        record: StepNotes,
        results: Mapping[str, Mapping[str, Any]],
        works: Mapping[str, str] = _NONE,
    ) -> None:
        self._workflow = workflow
        self._code = code
        self._record = record
        self._results: dict[str, Mapping[str, Any]] = dict(results)
        self._works = works  # of steps that another run had begun
        self.reasons: dict[str, Sequence[str]] = {}
        """Why steps failed: what the workflow says of each, and what its operator said itself."""
        self.statuses: dict[str, StepStatus] = {}
        self._tells_folders = workflow.definitions.env.roots is None  # those of a server are nobody's business
        self._tells = is_wanted(
            workflow.definitions.env
        )  # asked once: the answer is in a file, and there may be thousands of steps

    def skips(self, step: ValidDagStep) -> str:
        bound = self._workflow.bound[step.key]
        for condition in bound.conditions:
            try:
                if not condition.holds(lambda reference: self._value(bound, reference)):
                    return f"when {condition.text}: it does not hold"
            except (Missing, ValueError) as error:
                raise Unprocessable(f"when {condition.text}: {error}.") from error
        return ""

    def run_step(self, step: ValidDagStep) -> ExecutedDagStep:
        bound = self._workflow.bound[step.key]
        registration = bound.operator.registration

        def work(response: Response) -> OperatorResponse:
            response.redactor = bound.config.redactor
            parameters = bound.parameters or self._late_parameters(bound)
            response.redactor.learn(parameters.secrets)
            operator = self._code.operator(registration)
            prepared = PreparedOperator(
                env=self._workflow.definitions.env,
                config=bound.config,
                parameters=parameters,
                registration=registration,
                operator=operator,
                response=response,
            )
            self._record.begin_work(step, prepared)
            name, run_id = str(self._workflow.registration.name), self._record.run_id
            with within_step(name, run_id, step.key, self._works.get(step.key, work_of(run_id, step.key))):
                result = run_apart(prepared) if self._needs_process(step, bound) else prepared.run()
            self._record.end_work(step)
            return result

        result = respond(work, StepSays(step.key), self._describe_bug)
        return ExecutedDagStep(step, StepResult.of(result, self._describe_bug))

    def _needs_process(self, step: ValidDagStep, bound: BoundStep) -> bool:
        """What may take a limited time can only be ended for certain where it is a process; an engine may need one."""
        return bool(step.timeout) or (bound.config.id in self._configs_apart)

    @cached_property
    def _configs_apart(self) -> frozenset[str]:
        """The configurations whose engine cannot be in this process, since that of another one will be."""
        configs = {bound.config.id: bound.config for bound in self._workflow.bound.values()}
        if len(configs) < 2:
            return frozenset()
        return frozenset([each for each, config in configs.items() if _is_one_per_process(config)][1:])

    def make_failed_step(self, step: ValidDagStep, message: str) -> ExecutedDagStep:
        response = StepSays(step.key)
        response.redactor = self._workflow.bound[step.key].config.redactor
        response.add_error(message)
        return ExecutedDagStep(step, OperatorResponse(response))

    def follow(self, current: ExecutedDagStep, following: ValidDagStep) -> FollowDecision:
        prefix = common_prefix(current.step.key, following.key)
        definition = self._code.workflows[prefix]
        seen = current.step.with_name(_name_in(prefix, current.step.key))
        now = current if seen is current.step else ExecutedDagStep(seen, current.operator_response)
        try:
            with hide_secrets(lambda text: self._redact(text, current.step, following)):
                answer: object = definition.step(now, following.with_name(_name_in(prefix, following.key)))
        except (Exception, SystemExit) as error:  # noqa: BLE001 (the author's code: the run has failed, and says where)
            LOG.error("%s", self._redact(traceback.format_exc(), current.step, following))
            said = self._describe_raise(self._workflow.owners[prefix], error)
            return FollowDecision(Follow.STOP, self._redact(said, current.step, following))
        if isinstance(answer, ValidDagStep):
            return FollowDecision(Follow.RUN)
        if isinstance(answer, FailedDagStep):
            reason = self._redact(str(answer.reason), current.step, following)
            return FollowDecision(Follow.FAIL, reason or "The workflow calls it failed.")
        if isinstance(answer, ExecutedDagStep):
            return FollowDecision(Follow.END, f'the branch ended with "{current.step.key}"')
        name = self._workflow.owners[prefix].name
        return FollowDecision(Follow.STOP, f"step of {name} returned {type(answer).__name__}, which is not a step.")

    def follow_blocked(self, blocked: ValidDagStep, following: ValidDagStep, reason: str) -> FollowDecision:
        stop = FollowDecision(Follow.STOP, f'"{blocked.key}" did not run')
        # To the workflow around it, the step that nests a workflow has failed: that is for its own rules to judge.
        inside = blocked.key.rpartition(".")[0]
        if not inside or following.key.startswith(f"{inside}.") or not self._code.decides(blocked.key, following.key):
            return stop
        response = StepSays(blocked.key, silent=True)
        response.add_error(reason)
        verdict = self.follow(ExecutedDagStep(blocked, OperatorResponse(response)), following)
        return stop if verdict.follow is Follow.FAIL else verdict

    def note(self, event: StepEvent) -> None:
        result = event.executed.operator_response.to_dict() if event.executed else None
        if result is not None:
            self._results[event.step.key] = result
        self.statuses[event.step.key] = event.status
        self._record.note(event, result)
        if event.status is StepStatus.FAILED:
            self.reasons[event.step.key] = failure_reasons(
                event.reason, event.executed.errors if event.executed else ()
            )
        LOG.log(*_describe_event(event), extra={"step_event": event})
        problem = tell_step(self._workflow, self._record.run_id, event) if self._tells else ""
        if problem:
            LOG.warning("%s", problem)

    def keep(self) -> None:
        self._record.keep()

    def _redact(self, text: str, *steps: ValidDagStep) -> str:
        """Return what a workflow's own code says of steps without their secrets, which it can see."""
        for step in steps:
            bound = self._workflow.bound[step.key]
            bound.config.redactor.learn(bound.given_secrets)
            text = bound.config.redactor(text)
        return text

    def _describe_bug(self, error: BaseException) -> str:
        return describe_failure(error, with_folder=self._tells_folders)

    def _describe_raise(self, owner: Registration, error: BaseException) -> str:
        """Say what a workflow's own code raised, and where in it."""
        place = find_failed_code(error)
        said = f"step of {owner.name} raised {type(error).__name__}: {error}"
        if place is None:
            return said
        return f"{said} ({place if self._tells_folders else place.in_folder})"

    def _late_parameters(self, bound: BoundStep) -> ValidatedParameters:
        def look_up(reference: Reference) -> Any:
            try:
                return self._value(bound, reference)
            except Missing as error:
                raise Unprocessable(f'"{{{{{reference.text}}}}}" has no value: {error}.') from error

        spec = bound.operator.spec
        return validate_parameters(spec.parameters, (), fill(bound.given, look_up), spec.name)

    def _value(self, bound: BoundStep, reference: Reference) -> Any:
        target = bound.targets[reference.text]
        if target.key not in self._results:
            raise Missing(f'the step "{target.key}" gave nothing')
        return find_value(self._results[target.key], target.words)


def _is_one_per_process(config: ValidConfig) -> bool:
    try:
        return config.execution.client.is_one_per_process()
    except MasonError:  # it names none, or one that cannot be used: the step itself says so, if it matters
        return False


def _name_in(prefix: str, key: str) -> str:
    """Return what a workflow calls a step: of one inside a nested workflow, it knows the step that nests it."""
    return key.removeprefix(prefix).partition(".")[0]


def _describe_event(event: StepEvent) -> tuple[int, str, Any, Any]:
    if event.status is StepStatus.RETRYING:
        said = f"attempt {event.attempt} failed, the next is in {event.wait:.1f} s: {event.reason}"
        return logging.WARNING, "%s: %s", event.step.key, said
    said_before = event.executed is not None and event.reason in event.executed.errors
    detail = event.step.operator if event.status is StepStatus.RUNNING else "" if said_before else event.reason
    return logging.INFO, "%s: %s", event.step.key, f"{event.status}{f' ({detail})' if detail else ''}"
