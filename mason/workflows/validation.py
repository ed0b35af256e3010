"""Checks a workflow with its parameters as a whole: every problem in one report, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mason.configurations.valid_config import ValidConfig
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.retry import Retry
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.errors import InvalidDefinition, MasonError
from mason.parameters.definition import ParameterDefinitions
from mason.parameters.validated_parameters import ValidatedParameters, check_parameters
from mason.state.models import Registration
from mason.workflows.condition import Condition, parse_condition
from mason.workflows.definitions import Definitions, KnownOperator
from mason.workflows.expansion import Expansion, FlatStep
from mason.workflows.graph import ancestors_among, ordered
from mason.workflows.parameter_file import ParameterFile
from mason.workflows.references import Reference, references_in
from mason.workflows.valid_workflow import BoundStep, Target, ValidWorkflow
from mason.workflows.workflow_spec import WorkflowSpec


def validate_workflow(
    definitions: Definitions, registration: Registration, file: ParameterFile, config_id: str = ""
) -> ValidWorkflow:
    """Check a workflow and return it ready for a plan or a run.

    Raises:
        InvalidDefinition: with every problem, each with its file and line.
        ConfigurationNotFound: there is no configuration of the id that was asked for.
    """
    config = definitions.configuration(config_id)
    spec = WorkflowSpec.of(registration.definition)
    expansion = Expansion(definitions)
    expansion.expand(registration, file, config_id)
    scheduler = _choose_scheduler(expansion, registration, spec, config)
    bound = _Binding(expansion).bind()
    if expansion.problems:
        raise InvalidDefinition(sorted(set(expansion.problems)))
    dag = Dag(spec.title, tuple(_valid_step(step, bound[step.key]) for step in _run_order(expansion.steps)))
    return ValidWorkflow(registration, spec, dag, bound, expansion.owners, config, scheduler, file, definitions)


def _choose_scheduler(expansion: Expansion, owner: Registration, spec: WorkflowSpec, config: ValidConfig) -> str:
    offered = config.scheduler.client_names
    supported = spec.supported_schedulers or offered
    chosen = next((name for name in offered if name in supported), "")
    if not chosen:
        has = f"has {' and '.join(offered)}" if offered else "has no scheduler"
        wanted = f"the workflow supports {', '.join(spec.supported_schedulers)}" if spec.supported_schedulers else ""
        expansion.note(
            owner, ("supported_schedulers",), f'the configuration "{config.id}" {has}; {wanted or "name one in it"}'
        )
    return chosen


def _run_order(steps: Iterable[FlatStep]) -> Iterator[FlatStep]:
    by_key = {step.key: step for step in steps}
    return (by_key[key] for key in ordered({step.key: step.dependencies for step in by_key.values()}))


def _valid_step(step: FlatStep, bound: BoundStep) -> ValidDagStep:
    return ValidDagStep(
        step.spec.id,
        step.key,
        step.spec.name,
        bound.operator.registration.digest,
        bound.config.id,
        step.dependencies,
        bound.given,
        Retry.of(step.spec.retry, step.spec.retry_max),
        step.spec.timeout,
        " and ".join(text for _, text in step.conditions),
    )


class _Binding:
    """Finds what each step names, and notes in the expansion what is wrong."""

    def __init__(self, expansion: Expansion) -> None:
        self._expansion = expansion
        self._keys = {step.key for step in expansion.steps}
        self._wanted: list[tuple[FlatStep, Target, str]] = []
        self._without: dict[tuple[str, frozenset[str]], ParameterDefinitions] = {}

    def bind(self) -> dict[str, BoundStep]:
        bound = {}
        for step in self._expansion.steps:
            targets: dict[str, Target] = {}
            conditions = self._conditions(step, targets)
            given = step.file.parameters(step.spec.id)
            late = self._late_parameters(step, given, targets)
            try:
                operator = self._expansion.definitions.operator(step.spec.name)
            except MasonError as error:
                self._expansion.note(step.owner, (*step.place, "command"), str(error))
                continue
            parameters = self._check_parameters(step, operator, given, late)
            config = self._accepted(step, operator)
            if config is not None:
                bound[step.key] = BoundStep(operator, config, given, parameters, targets, conditions)
        self._check_order()
        return bound

    def _conditions(self, step: FlatStep, targets: dict[str, Target]) -> list[Condition]:
        conditions = [(prefix, parse_condition(text)) for prefix, text in step.conditions]
        for prefix, condition in conditions:
            for reference in condition.references:
                target = self._target(reference, prefix)
                if target is None:
                    self._expansion.note(step.owner, (*step.place, "when"), _nothing(reference))
                else:
                    targets[reference.text] = target
                    self._wanted.append((step, target, "when"))
        return [condition for _, condition in conditions]

    def _late_parameters(self, step: FlatStep, given: Mapping[str, Any], targets: dict[str, Target]) -> set[str]:
        """Return the parameters that are known only when earlier steps have run."""
        late = set()
        for name, value in given.items():
            try:
                for reference in references_in(value):
                    late.add(name)
                    target = self._target(reference, step.prefix)
                    if target is None:
                        self._note_parameter(step, name, _nothing(reference))
                    else:
                        targets[reference.text] = target
                        self._wanted.append((step, target, name))
            except ValueError as error:
                late.add(name)
                self._note_parameter(step, name, str(error))
        return late

    def _target(self, reference: Reference, prefix: str) -> Target | None:
        """Return what a reference means where it stands: a step of its own workflow, else of one around it."""
        words = reference.words
        while True:
            for count in range(len(words) - 1, 0, -1):
                key = prefix + ".".join(words[:count])
                if key in self._keys:
                    return Target(key, words[count:])
            if not prefix:
                return None
            prefix = "".join(f"{each}." for each in prefix.split(".")[:-2])

    def _check_parameters(
        self, step: FlatStep, operator: KnownOperator, given: Mapping[str, Any], late: set[str]
    ) -> ValidatedParameters | None:
        definitions = operator.spec.parameters
        known_late = frozenset(found.name for name in late if (found := definitions.find(name)))
        now = {name: value for name, value in given.items() if name not in late or definitions.find(name) is None}
        checked, problems = check_parameters(
            self._definitions_without(operator, known_late), (), now, operator.spec.name
        )
        for problem in problems:
            self._note_parameter(step, problem.name, problem.message)
        return checked if not late else None

    def _definitions_without(self, operator: KnownOperator, names: frozenset[str]) -> ParameterDefinitions:
        if not names:
            return operator.spec.parameters
        key = (operator.registration.digest, names)
        if key not in self._without:
            every = operator.spec.parameters
            self._without[key] = ParameterDefinitions(
                tuple(each for each in every.required if each.name not in names),
                tuple(each for each in every.optional if each.name not in names),
            )
        return self._without[key]

    def _accepted(self, step: FlatStep, operator: KnownOperator) -> ValidConfig | None:
        try:
            return self._expansion.definitions.accepted(operator, step.config_id)
        except MasonError as error:
            for message in error.messages:
                self._expansion.problems.append(step.file.problem((step.spec.id, "config_id"), message))
            return None

    def _check_order(self) -> None:
        """Note every reference to a step that need not have run when it is needed."""
        dependencies = {step.key: step.dependencies for step in self._expansion.steps}
        order = ordered(dependencies)
        targets = list(dict.fromkeys(target.key for _, target, _ in self._wanted))
        bits = {key: 1 << number for number, key in enumerate(targets)}
        before = ancestors_among(targets, dependencies, order)
        for step, target, name in self._wanted:
            if not before.get(step.key, 0) & bits[target.key]:
                message = (
                    f'"{step.key}" refers to "{target.key}", which need not have run by then: add it to dependencies'
                )
                if name == "when":
                    self._expansion.note(step.owner, (*step.place, "when"), message)
                else:
                    self._note_parameter(step, name, message)

    def _note_parameter(self, step: FlatStep, name: str, message: str) -> None:
        self._expansion.problems.append(step.file.problem((step.spec.id, "parameters", name), message))


def _nothing(reference: Reference) -> str:
    return f'"{{{{{reference.text}}}}}" refers to nothing: there is no step of that name'
