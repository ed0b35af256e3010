"""Nested workflows become one flat list: `load.step_1` is step_1 of the workflow that the step `load` nests.

How they nest each other is found out first, with one look at each: one that doubles forty times is never written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from mason.errors import InvalidDefinition, NotFound
from mason.state.models import Registration
from mason.util.yaml_file import Key, Problem, YamlDocument
from mason.workflows.definition.definitions import Definitions
from mason.workflows.definition.graph import step_problems
from mason.workflows.definition.parameter_file import ParameterFile
from mason.workflows.definition.workflow_spec import WORKFLOW, StepSpec, WorkflowSpec


@dataclass(frozen=True, slots=True)
class Extent:
    """How large a workflow is when those that it nests are written out."""

    steps: int = 0
    """Those that nest a workflow are among them: they are looked at as often."""
    starts: int = 0
    ends: int = 0
    dependencies: int = 0
    """Of its steps on each other; each of its starts has those on what comes before the workflow as well."""


_OPERATOR = Extent(starts=1, ends=1)


@dataclass
class Nesting:
    """The workflows that one nests, and those in them."""

    steps_of: Callable[[str], Sequence[StepSpec]]
    """The steps of a workflow in an order to run them; none where it is not there, or wrong."""
    circles: dict[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    """Workflows, each with the id of its step that nests one around it, and the way there; it leads nowhere."""

    def extents(self, root: str) -> Mapping[str, Extent]:
        """Return how large a workflow is, and every one in it."""
        found: dict[str, Extent] = {}
        for name in self._innermost_first(root):
            found[name] = self._extent(name, found)
        return found

    def _innermost_first(self, root: str) -> Iterator[str]:
        # Not by recursion: a thousand workflows in a row would be more than the stack holds.
        path = {root: self._steps_of_nested(root)}
        known = {root}
        while path:
            name, steps = next(reversed(path.items()))
            for step in steps:
                if step.name in path:
                    self.circles[name, step.id] = [*path, step.name]
                elif step.name not in known:
                    known.add(step.name)
                    path[step.name] = self._steps_of_nested(step.name)
                    break
            else:
                path.popitem()
                yield name

    def _steps_of_nested(self, name: str) -> Iterator[StepSpec]:
        return iter([step for step in self.steps_of(name) if step.type == WORKFLOW])

    def _extent(self, name: str, known: Mapping[str, Extent]) -> Extent:
        steps = starts = dependencies = 0
        ends: dict[str, int] = {}
        followed: set[str] = set()
        for step in self.steps_of(name):
            inner = self._inner(name, step, known)
            before = sum(ends[each] for each in set(step.dependencies))
            steps += 1 + inner.steps
            starts += 0 if before else inner.starts
            dependencies += inner.dependencies + before * inner.starts
            ends[step.id] = inner.ends or before
            followed.update(step.dependencies)
        return Extent(steps, starts, sum(ends[each] for each in ends if each not in followed), dependencies)

    def _inner(self, name: str, step: StepSpec, known: Mapping[str, Extent]) -> Extent:
        if step.type != WORKFLOW:
            return _OPERATOR
        return Extent() if (name, step.id) in self.circles else known[step.name]


MOST_LEVELS = 50
MOST_STEPS = 100_000
MOST_DEPENDENCIES = 5_000_000
"""What nests a workflow of many ends before one of many beginnings has the product of both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatStep:
    """A step of an operator with where it was written."""

    key: str
    prefix: str
    place: Key
    spec: StepSpec
    owner: Registration
    file: ParameterFile
    config_id: str
    dependencies: Sequence[str]
    conditions: Sequence[tuple[str, str]]
    """Texts, each with the prefix of the workflow that it was written in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """What a nested workflow takes from the step that nests it."""

    prefix: str = ""
    before: Sequence[str] = ()
    config_id: str = ""
    retry: str = ""
    retry_max: int | None = None
    timeout: float | None = None
    conditions: Sequence[tuple[str, str]] = ()
    level: int = 0


class _Steps(NamedTuple):
    """The steps of a workflow as they are written, in an order to run them, and those that nothing follows."""

    written: Sequence[StepSpec]
    ordered: Sequence[StepSpec]
    last: Sequence[StepSpec]


@dataclass(kw_only=True)
class Expansion:
    """The flat steps of a workflow, and what is wrong with it and with the workflows in it."""

    definitions: Definitions
    steps: list[FlatStep] = field(default_factory=list)
    owners: dict[str, Registration] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    _documents: dict[str, YamlDocument] = field(default_factory=dict)
    _steps: dict[str, _Steps] = field(default_factory=dict)
    _nested: dict[tuple[str, str], Registration] = field(default_factory=dict)
    """The workflow that a step of another one nests, by the name of that one and the id of the step."""

    def expand(self, registration: Registration, file: ParameterFile, config_id: str) -> None:
        """Write a workflow out.

        Raises:
            InvalidDefinition: that would fill the memory; nothing was written out.
        """
        self._look_at_nesting(registration)
        self._expand(registration, file, _Around(config_id=config_id))

    def note(self, owner: Registration, key: Key, message: str) -> None:
        """Keep a problem of a `workflow.yaml`."""
        if owner.digest not in self._documents:
            self._documents[owner.digest] = self.definitions.document(owner)
        self.problems.append(self._documents[owner.digest].problem(key, message))

    def _expand(self, owner: Registration, file: ParameterFile, around: _Around) -> Sequence[str]:
        """Add the steps of a workflow and return the keys of those that are its ends."""
        steps = self._steps_of(owner)
        self.owners[around.prefix] = owner
        self.problems += file.problems(steps.written)
        places = {step.id: number for number, step in enumerate(steps.written)}
        ends: dict[str, Sequence[str]] = {}
        for step in steps.ordered:
            before = [key for each in dict.fromkeys(step.dependencies) for key in ends[each]]
            inner = _inside(step, around, before or around.before, starts=not step.dependencies, file=file)
            if step.type == WORKFLOW:
                ends[step.id] = self._nest(owner, ("dag", places[step.id]), step, file, inner) or before
            else:
                ends[step.id] = (self._add(owner, ("dag", places[step.id]), step, file, inner),)
        return [key for step in steps.last for key in ends[step.id]]

    def _steps_of(self, owner: Registration) -> _Steps:
        """Return the steps of a workflow, looked at once however often it is nested; none, where they are wrong."""
        if owner.digest not in self._steps:
            written = WorkflowSpec.of(owner.definition).steps
            found = list(step_problems(list(enumerate(written))))
            for key, message in found:
                self.note(owner, key, message)
            followed = {each for step in written for each in step.dependencies}
            last = [step for step in written if step.id not in followed]
            self._steps[owner.digest] = _Steps(written, *(([], []) if found else (list(_in_order(written)), last)))
        return self._steps[owner.digest]

    def _look_at_nesting(self, root: Registration) -> None:
        """Find the workflows that are nested, and see that writing them out would not fill the memory."""
        owners = {str(root.name): root}

        def steps_of(name: str) -> Sequence[StepSpec]:
            if name not in owners:
                with suppress(NotFound):  # which is told below, with its place
                    owners[name] = self.definitions.workflow(name)
            return self._steps_of(owners[name]).ordered if name in owners else ()

        nesting = Nesting(steps_of)
        extent = nesting.extents(str(root.name))[str(root.name)]
        for owner in owners.values():
            self._find_nested(owner, nesting.circles)
        for number, most, what in (
            (extent.steps, MOST_STEPS, "steps"),
            (extent.dependencies, MOST_DEPENDENCIES, "dependencies"),
        ):
            if number > most:
                self.note(root, ("dag",), f"has more than {most:,} {what}, those of nested workflows among them")
                raise InvalidDefinition(sorted(set(self.problems)))

    def _find_nested(self, owner: Registration, circles: Mapping[tuple[str, str], Sequence[str]]) -> None:
        for number, step in enumerate(self._steps_of(owner).written):
            if step.type != WORKFLOW:
                continue
            place, key = ("dag", number, "command"), (str(owner.name), step.id)
            if key in circles:
                self.note(owner, place, f"nests itself: {' → '.join(circles[key])}")
                continue
            try:
                self._nested[key] = self.definitions.workflow(step.name)
            except NotFound as error:
                self.note(owner, place, str(error))

    def _nest(
        self, owner: Registration, place: Key, step: StepSpec, file: ParameterFile, inner: _Around
    ) -> Sequence[str]:
        nested = self._nested.get((str(owner.name), step.id))
        if nested is None:
            return ()
        if inner.level == MOST_LEVELS:
            self.note(owner, (*place, "command"), f"nests workflows more than {MOST_LEVELS} deep")
            return ()
        around = _Around(
            prefix=f"{inner.prefix}{step.id}.",
            before=inner.before,
            config_id=inner.config_id,
            retry=inner.retry,
            retry_max=inner.retry_max,
            timeout=inner.timeout,
            conditions=inner.conditions,
            level=inner.level + 1,
        )
        return self._expand(nested, file.select_nested(step.id), around)

    def _add(self, owner: Registration, place: Key, step: StepSpec, file: ParameterFile, inner: _Around) -> str:
        key = f"{inner.prefix}{step.id}"
        merged = step._replace(retry=inner.retry, retry_max=inner.retry_max, timeout=inner.timeout)
        self.steps.append(
            FlatStep(
                key=key,
                prefix=inner.prefix,
                place=place,
                spec=merged,
                owner=owner,
                file=file,
                config_id=inner.config_id,
                dependencies=tuple(inner.before),
                conditions=inner.conditions,
            )
        )
        return key


def _inside(step: StepSpec, around: _Around, before: Sequence[str], *, starts: bool, file: ParameterFile) -> _Around:
    """Return what holds for a step: what it says itself, else what is said around its workflow."""
    own = ((around.prefix, step.when),) if step.when else ()
    says_retry = bool(step.retry) or step.retry_max is not None
    return _Around(
        prefix=around.prefix,
        before=before,
        config_id=file.config_id(step.id) or around.config_id,
        retry=step.retry if says_retry else around.retry,
        retry_max=step.retry_max if says_retry else around.retry_max,
        timeout=around.timeout if step.timeout is None else step.timeout,
        # Whoever comes later in a nested workflow is skipped with those it begins with.
        conditions=(*(around.conditions if starts else ()), *own),
        level=around.level,
    )


def _in_order(steps: Sequence[StepSpec]) -> Iterator[StepSpec]:
    from mason.workflows.definition.graph import order_keys

    by_id = {step.id: step for step in steps}
    return (by_id[key] for key in order_keys({step.id: step.dependencies for step in steps}))
