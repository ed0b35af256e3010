"""Finds steps that use one path although nothing says which of them comes first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.workflows.step_paths import places_of


class Clashes:
    """Hears what each step of a DAG reads and writes, in the DAG's order, and says what others do there meanwhile.

    A step with paths has a bit, so that "those before a step" is a number, and one look at a path costs the same
    however many steps use it.
    """

    def __init__(self, dag: Dag) -> None:
        self._open = {step.key: len(dag.followers[step.key]) for step in dag.steps}
        self._before: dict[str, int] = {}
        self._known: list[ValidDagStep] = []
        self._read = _Uses()
        self._written = _Uses()

    def add(self, step: ValidDagStep, reads: Sequence[str], writes: Sequence[str]) -> Iterator[str]:
        """Yield a sentence for each path of a step that one which neither precedes nor follows it changes, too."""
        before = self._before_it(step)
        for path in writes:
            writers = self._written.around(path) & ~before
            yield from self._describe_clash(step, f"It writes {path} as", "does", writers)
            if not writers:
                yield from self._describe_clash(
                    step, f"It writes {path}, which", "reads", self._read.around(path) & ~before
                )
        for path in reads:
            if path not in writes:
                yield from self._describe_clash(
                    step, f"It reads {path}, which", "writes", self._written.around(path) & ~before
                )
        mine = 1 << len(self._known) if reads or writes else 0
        self._known += [step] if mine else []
        self._read.add(reads, mine)
        self._written.add(writes, mine)
        if self._open[step.key]:
            self._before[step.key] = before | mine

    def _before_it(self, step: ValidDagStep) -> int:
        before = 0
        for key in step.dependencies:
            before |= self._before[key]
            self._open[key] -= 1
            if not self._open[key]:
                del self._before[key]  # nobody asks for it any more
        return before

    def _describe_clash(self, step: ValidDagStep, begin: str, verb: str, others: int) -> Iterator[str]:
        if not others:
            return
        other = self._known[(others & -others).bit_length() - 1]
        if not (step.when and other.when):  # of two that have conditions perhaps only one ever runs
            yield f'{begin} "{other.key}" {verb}, and nothing says which of them comes first. Add a dependency.'


class _Uses:
    """Which steps use which paths."""

    def __init__(self) -> None:
        self._at: defaultdict[str, int] = defaultdict(int)
        self._below: defaultdict[str, int] = defaultdict(int)

    def add(self, paths: Sequence[str], step: int) -> None:
        for path in paths:
            for height, place in enumerate(places_of(path)):
                (self._below if height else self._at)[place] |= step

    def around(self, path: str) -> int:
        """Return the steps that use the path, something in it, or a folder that it lies in."""
        found = self._below.get(path.rstrip("/"), 0)
        for place in places_of(path):
            found |= self._at.get(place, 0)
        return found
