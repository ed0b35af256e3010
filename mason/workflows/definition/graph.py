"""The shape of a workflow: what is wrong with it, an order to run it in, and steps that share a path without an order.

Everything here is linear in the size of the workflow.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence

from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.valid_dag_step import Retry, ValidDagStep
from mason.util.names import IDENTIFIER_RULE, did_you_mean, is_identifier
from mason.util.yaml_file import Key
from mason.workflows.definition.condition import parse_condition
from mason.workflows.definition.workflow_spec import StepSpec
from mason.workflows.runs.step_paths import places_of

RESERVED = frozenset({"schedule", "schedule_name"})
"""Words that the file of parameters has beside the ids of steps."""

_MANY = 1_000
_LONGEST_CYCLE = 20
Dependencies = Mapping[str, Sequence[str]]


def step_problems(steps: Sequence[tuple[int, StepSpec]]) -> Iterator[tuple[Key, str]]:
    """Yield every problem of the steps that needs no operator to be known, each with its key in `workflow.yaml`.

    Args:
        steps: each with its number there.
    """
    first: dict[str, int] = {}
    for number, step in steps:
        place: Key = ("dag", number)
        if not is_identifier(step.id):
            yield (*place, "id"), f'"{step.id}" cannot be an id: {IDENTIFIER_RULE}'
        elif step.id in RESERVED:
            yield (
                (*place, "id"),
                f'"{step.id}" cannot be an id: the file of parameters has another use for it',
            )
        if first.setdefault(step.id, number) != number:
            yield (*place, "id"), f'"{step.id}" is the id of the step at dag[{first[step.id]}] as well'
        yield from (((*place, *key), message) for key, message in _policy_problems(step))
    yield from _dependency_problems(steps, first)


def _policy_problems(step: StepSpec) -> Iterator[tuple[Key, str]]:
    try:
        Retry.of(step.retry, step.retry_max)
    except ValueError as error:
        yield ("retry",), str(error)
    if step.when:
        try:
            parse_condition(step.when)
        except ValueError as error:
            yield ("when",), str(error)


def _dependency_problems(steps: Sequence[tuple[int, StepSpec]], known: Mapping[str, int]) -> Iterator[tuple[Key, str]]:
    unknown: set[str] = set()
    for number, step in steps:
        for index, each in enumerate(step.dependencies):
            if each not in known:
                unknown.add(step.id)
                near = did_you_mean(each, known) if len(known) <= _MANY else ""  # it compares with every one
                yield ("dag", number, "dependencies", index), f'there is no step "{each}". {near}'.rstrip()
    dependencies: dict[str, list[str]] = {key: [] for key in known}
    for _, step in steps:  # of steps with one id, each counts
        dependencies[step.id] += [each for each in step.dependencies if each in known]
    order = order_keys(dependencies)
    placed = set(order)
    left = [key for key in dependencies if key not in placed]
    on_cycles: set[str] = set()
    for cycle in _cycles(dependencies, left):
        on_cycles |= set(cycle)
        yield ("dag", known[cycle[0]], "dependencies"), f"depends on itself: {_path(cycle)}"
    yield from _never_reached(dependencies, known, left, on_cycles, unknown, order)


def _never_reached(
    dependencies: Dependencies,
    known: Mapping[str, int],
    left: Sequence[str],
    on_cycles: set[str],
    unknown: set[str],
    order: Sequence[str],
) -> Iterator[tuple[Key, str]]:
    for key in left:
        if key not in on_cycles:
            yield ("dag", known[key]), f'"{key}" can never be reached: a step before it depends on itself'
    lost = set(unknown)
    for key in order:
        if key not in lost and not lost.isdisjoint(dependencies[key]):
            lost.add(key)
            yield (
                ("dag", known[key]),
                f'"{key}" can never be reached: a step before it waits for one that is not there',
            )


def order_keys(dependencies: Dependencies) -> list[str]:
    """Return the keys so that each comes after those it depends on; those on a cycle, or behind one, are left out.

    Where several could be next, the one that was written first is.
    """
    waits = {key: len(set(before)) for key, before in dependencies.items()}
    followers: dict[str, list[str]] = {key: [] for key in dependencies}
    for key, before in dependencies.items():
        for each in set(before):
            followers[each].append(key)
    ready = deque(key for key, count in waits.items() if count == 0)
    order = []
    while ready:
        key = ready.popleft()
        order.append(key)
        for each in followers[key]:
            waits[each] -= 1
            if waits[each] == 0:
                ready.append(each)
    return order


def ancestors_among(wanted: Sequence[str], dependencies: Dependencies, order: Sequence[str]) -> dict[str, int]:
    """Return for every key which of the wanted ones come before it, as bits in their order.

    Bits, since sets would make a chain of steps cost the square of its length.
    """
    bits = {key: 1 << number for number, key in enumerate(dict.fromkeys(wanted))}
    before: dict[str, int] = {}
    for key in order:
        found = 0
        for each in dependencies[key]:
            found |= before[each] | bits.get(each, 0)
        before[key] = found
    return before


def _cycles(dependencies: Dependencies, left: Sequence[str]) -> Iterator[list[str]]:
    """Yield cycles among the keys that have no place in the order: one for each group that waits for itself."""
    groups = _groups(dependencies, left)
    looked_at: set[int] = set()
    for start in left:
        if groups[start] in looked_at:
            continue
        looked_at.add(groups[start])
        path: dict[str, int] = {}
        key: str | None = start
        while key is not None and key not in path:
            path[key] = len(path)
            key = next((each for each in dependencies[key] if groups.get(each) == groups[start]), None)
        if key is not None:
            yield list(path)[path[key] :]


def _groups(dependencies: Dependencies, keys: Sequence[str]) -> dict[str, int]:
    """Return a number for every key, the same for those that wait for each other, over however many others."""
    followers: dict[str, list[str]] = {key: [] for key in keys}
    for key in keys:
        for each in dependencies[key]:
            if each in followers:
                followers[each].append(key)
    groups: dict[str, int] = {}
    for number, start in enumerate(reversed(list(_ends_first(dependencies, followers)))):
        reached = [start]
        while reached:
            key = reached.pop()
            if key not in groups:
                groups[key] = number
                reached += followers[key]
    return groups


def _ends_first(dependencies: Dependencies, keys: Collection[str]) -> Iterator[str]:
    """Yield the keys, each when all that can be reached from it by way of dependencies were seen."""
    seen: set[str] = set()
    for start in keys:
        path = {start: iter(dependencies[start])} if start not in seen else {}
        seen.add(start)
        while path:
            key, before = next(reversed(path.items()))
            found = next((each for each in before if each in keys and each not in seen), None)
            if found is None:
                path.popitem()
                yield key
            else:
                seen.add(found)
                path[found] = iter(dependencies[found])


def _path(cycle: Sequence[str]) -> str:
    closed = [*cycle, cycle[0]]
    if len(closed) > _LONGEST_CYCLE:
        closed = [
            *closed[: _LONGEST_CYCLE // 2],
            f"… {len(closed) - _LONGEST_CYCLE} more …",
            *closed[-_LONGEST_CYCLE // 2 :],
        ]
    return " → ".join(closed)


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
