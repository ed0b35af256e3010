"""Checks a workflow with its parameters as a whole: every problem in one report, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mason.configurations.valid_config import ValidConfig
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.valid_dag_step import Retry, ValidDagStep
from mason.errors import InvalidDefinition, MasonError
from mason.parameters.definition import ParameterDefinitions
from mason.parameters.validated_parameters import ValidatedParameters, check_parameters
from mason.state.models import Registration
from mason.workflows.definition.condition import Condition, parse_condition
from mason.workflows.definition.definitions import Definitions, KnownOperator
from mason.workflows.definition.expansion import Expansion, FlatStep
from mason.workflows.definition.graph import ancestors_among, order_keys
from mason.workflows.definition.parameter_file import ParameterFile
from mason.workflows.definition.references import Reference, references_in
from mason.workflows.definition.valid_workflow import BoundStep, Target, ValidWorkflow
from mason.workflows.definition.workflow_spec import WorkflowSpec


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
    expansion = Expansion(definitions=definitions)
    expansion.expand(registration, file, config_id)
    scheduler = _choose_scheduler(expansion, registration, spec, config)
    bound = _Binding(expansion).bind()
    if expansion.problems:
        raise InvalidDefinition(sorted(set(expansion.problems)))
    dag = Dag(spec.title, tuple(_valid_step(step, bound[step.key]) for step in _run_order(expansion.steps)))
    return ValidWorkflow(
        registration=registration,
        spec=spec,
        dag=dag,
        bound=bound,
        owners=expansion.owners,
        config=config,
        scheduler=scheduler,
        file=file,
        definitions=definitions,
    )


def _choose_scheduler(expansion: Expansion, owner: Registration, spec: WorkflowSpec, config: ValidConfig) -> str:
    """Return the first scheduler of the configuration that the workflow supports, and all that are nested in it."""
    offered = config.scheduler.client_names
    limits = {"the workflow": spec.supported_schedulers, **_limits_of_nested(expansion)}
    limits = {name: supported for name, supported in limits.items() if supported}
    chosen = next((name for name in offered if all(name in each for each in limits.values())), "")
    if not chosen:
        has = f"has {' and '.join(offered)}" if offered else "has no scheduler"
        supports = [f"{name} supports {', '.join(supported)}" for name, supported in limits.items()]
        wanted = "; ".join(supports) or "name one in it"
        expansion.note(owner, ("supported_schedulers",), f'the configuration "{config.id}" {has}; {wanted}')
    return chosen


def _limits_of_nested(expansion: Expansion) -> dict[str, Sequence[str]]:
    nested = {owner.digest: owner for prefix, owner in expansion.owners.items() if prefix}
    return {f"{each.name} in it": each.definition.get("supported_schedulers", ()) for each in nested.values()}


def _run_order(steps: Iterable[FlatStep]) -> Iterator[FlatStep]:
    by_key = {step.key: step for step in steps}
    return (by_key[key] for key in order_keys({step.key: step.dependencies for step in by_key.values()}))


def _valid_step(step: FlatStep, bound: BoundStep) -> ValidDagStep:
    return ValidDagStep(
        id=step.spec.id,
        key=step.key,
        operator=step.spec.name,
        digest=bound.operator.registration.digest,
        config_id=bound.config.id,
        dependencies=step.dependencies,
        parameters=bound.given,
        retry=Retry.of(step.spec.retry, step.spec.retry_max),
        timeout=step.spec.timeout,
        when=" and ".join(text for _, text in step.conditions),
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
                self._configuration(step, self._expansion.definitions.configuration)
                continue
            parameters = self._check_parameters(step, operator, given, late)
            config = self._configuration(step, partial(self._expansion.definitions.require_accepted, operator))
            if config is not None:
                bound[step.key] = BoundStep(
                    operator=operator,
                    config=config,
                    given=given,
                    parameters=parameters,
                    targets=targets,
                    conditions=conditions,
                )
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
        checked, problems = check_parameters(self._without_need_of(operator, known_late), (), now, operator.spec.name)
        for problem in problems:
            self._note_parameter(step, problem.name, problem.message)
        return checked if not late else None

    def _without_need_of(self, operator: KnownOperator, names: frozenset[str]) -> ParameterDefinitions:
        """Return what an operator takes, of which these are not needed yet: a step gives them."""
        if not names:
            return operator.spec.parameters
        key = (operator.registration.digest, names)
        if key not in self._without:
            every = operator.spec.parameters
            late = tuple(replace(each, required=False) for each in every.required if each.name in names)
            needed = tuple(each for each in every.required if each.name not in names)
            self._without[key] = ParameterDefinitions(needed, (*every.optional, *late))
        return self._without[key]

    def _configuration(self, step: FlatStep, find: Callable[[str], ValidConfig]) -> ValidConfig | None:
        try:
            return find(step.config_id)
        except MasonError as error:
            for message in error.messages:
                self._expansion.problems.append(step.file.problem((step.spec.id, "config_id"), message))
            return None

    def _check_order(self) -> None:
        """Note every reference to a step that need not have run when it is needed."""
        dependencies = {step.key: step.dependencies for step in self._expansion.steps}
        order = order_keys(dependencies)
        targets = list(dict.fromkeys(target.key for _, target, _ in self._wanted))
        bits = {key: 1 << number for number, key in enumerate(targets)}
        before = ancestors_among(targets, dependencies, order)
        for step, target, name in self._wanted:
            if not before.get(step.key, 0) & bits[target.key]:
                message = _too_early(step.key, target.key)
                if name == "when":
                    self._expansion.note(step.owner, (*step.place, "when"), message)
                else:
                    self._note_parameter(step, name, message)

    def _note_parameter(self, step: FlatStep, name: str, message: str) -> None:
        self._expansion.problems.append(step.file.problem((step.spec.id, "parameters", name), message))


def _too_early(key: str, target: str) -> str:
    if key == target:
        return f'"{key}" refers to itself, and has not run by then'
    return f'"{key}" refers to "{target}", which need not have run by then: add it to dependencies'


def _nothing(reference: Reference) -> str:
    return f'"{{{{{reference.text}}}}}" refers to nothing: there is no step of that name'
