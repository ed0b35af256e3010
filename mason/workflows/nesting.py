"""How workflows nest each other, looked at before they are written out: those that double forty times never would be.

Every workflow is looked at once, however often it is nested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mason.workflows.workflow_spec import WORKFLOW, StepSpec


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
