"""What the steps of a workflow cost with the local scheduler, each run recorded, beside Prefect, Dagster and Luigi.

.venv/bin/python -m benchmarks.workflow [--scale 0.01] [--rivals FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.child import Child
from benchmarks.measure import Comparison, Contestant, Result, Runs, interleaved, seconds
from benchmarks.profiling import profile_call
from benchmarks.rivals import RIVALS, rival_environment
from benchmarks.script import Script, script
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from mason.workflows.definition.registration import WORKFLOWS
from mason.workflows.workflow_calls import WorkflowCall
from tests import workflow_calls

CHAIN, LONG_CHAIN, DIAMONDS, SLEEPS = 1_000, 10_000, 200, 200
SLEEP_SECONDS, PARALLEL = 0.05, 50
SLOW_ROUNDS = 3
PER_STEP = "ms a step"
MOST_MILLISECONDS = 2.0
MOST_OF_LINEAR = 1.2
MOST_OF_CHAIN = 1.0
MOST_OF_IDEAL = 1.3

_OPERATOR = """\
import time

from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse


class Demo{name}(OperatorDefinition):
    def run(self, env, config, parameters, resp):
        {body}
        return OperatorResponse(resp)
"""


@dataclass(frozen=True)
class Shape:
    """A workflow: the steps that each of its steps waits for."""

    name: str
    steps: Sequence[Sequence[int]]
    operator: str = "noop"

    def yaml(self) -> str:
        head = f"type: workflow\nnamespace: demo\ncommand: {self.name}\ndag:\n"
        return head + "".join(map(self._step, range(len(self.steps)))) + "supported_schedulers: [local]\n"

    def _step(self, number: int) -> str:
        before = ", ".join(f"s{each}" for each in self.steps[number])
        what = f"type: operator, namespace: demo, command: {self.operator}"
        return f"  - {{id: s{number}, {what}, dependencies: [{before}]}}\n"


def chain(name: str, steps: int) -> Shape:
    return Shape(name, [[number - 1] if number else [] for number in range(steps)])


def ladder(diamonds: int) -> Shape:
    """Diamonds one below the other: the last step of each is the first of the next."""
    steps: list[list[int]] = [[]]
    for top in range(0, 3 * diamonds, 3):
        steps += [[top], [top], [top + 1, top + 2]]
    return Shape("ladder", steps)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rivals", type=Path, help="a folder that keeps the environments of the rivals")
    with script(__doc__, rounds=5, parser=parser) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Register the workflows, make the rivals' environments, and measure."""

    def scaled(whole: int) -> int:
        return max(int(whole * running.scale), 10)

    short, long = chain("chain", scaled(CHAIN)), chain("long_chain", scaled(LONG_CHAIN))
    rungs, sleeps = ladder(scaled(DIAMONDS)), Shape("sleeps", [[]] * SLEEPS, "sleep")
    level = chain("level", len(rungs.steps))
    _register(running.folder / "definitions", [short, long, rungs, level, sleeps])
    with ExitStack() as stack:
        shapes = [_mason("Mason", short), _mason("10,000 steps", long), _mason("ladder", rungs), _mason("chain", level)]
        alone = interleaved([*shapes, _fan_out(sleeps)], running.rounds)
        rivals, versions = _rivals(running, stack, len(short.steps))
        beside = interleaved([_mason("Mason", short), *rivals], min(running.rounds, SLOW_ROUNDS))
    comparisons = [*_alone(alone), *_beside(beside)]
    result = Result("workflow", _told(short, long, rungs), comparisons, notes=[versions])
    if running.wants_profile(result):
        what = f"a run of the chain of {len(short.steps):,} steps"
        return replace(result, profile=profile_call(what, lambda: _run(short)))
    return result


def _told(short: Shape, long: Shape, rungs: Shape) -> str:
    diamonds = len(rungs.steps) // 3
    steps = f"chains of {len(short.steps):,} and {len(long.steps):,} steps, a ladder of {diamonds:,} diamonds"
    return f"{steps}, all no-ops; {SLEEPS} sleeps of {1000 * SLEEP_SECONDS:.0f} ms, {PARALLEL} at a time"


def _beside(runs: Sequence[Runs]) -> list[Comparison]:
    ours, *rivals = runs
    return [Comparison("the chain of 1,000, beside a rival", ours, each, PER_STEP) for each in rivals]


def _alone(runs: Sequence[Runs]) -> list[Comparison]:
    short, long, rungs, level, sleeps = runs
    rounds = len(short.values)
    target = Runs("the target", [MOST_MILLISECONDS] * rounds)
    ideal = Runs("the ideal", [SLEEPS * SLEEP_SECONDS / PARALLEL] * rounds)
    linear = replace(short, label="1,000 steps")
    return [
        Comparison("a chain of 1,000", short, target, PER_STEP, limit=1.0),
        Comparison("a chain of 10,000, beside one of 1,000", long, linear, PER_STEP, limit=MOST_OF_LINEAR),
        Comparison("a ladder, beside a chain of as many steps", rungs, level, PER_STEP, limit=MOST_OF_CHAIN),
        Comparison("sleeps at the same time", sleeps, ideal, limit=MOST_OF_IDEAL),
    ]


def _mason(label: str, shape: Shape) -> Contestant:
    measure = seconds(lambda: _run(shape))
    return Contestant(label, lambda: 1000 * measure() / len(shape.steps))


def _fan_out(shape: Shape) -> Contestant:
    return Contestant("Mason", seconds(lambda: _run(shape, PARALLEL)))


def _run(shape: Shape, limit: int = 0) -> None:
    """Run a workflow as the command does: found, checked as a whole, run, every step recorded."""
    said = workflow_calls.run(MasonEnvironment.of(), WorkflowCall(name=f"demo:{shape.name}"), limit=limit)
    statuses = said.response.data[-1]["Statuses"] if said.response.data else {}
    if said.response.errors or len(statuses) != len(shape.steps):
        raise RuntimeError(f"{shape.name}: {said.response.errors}")


def _register(folder: Path, shapes: Sequence[Shape]) -> None:
    for name, body in (("noop", "pass"), ("sleep", f"time.sleep({SLEEP_SECONDS})")):
        (folder / name).mkdir(parents=True)
        (folder / name / "operator.yaml").write_text(f"type: operator\nnamespace: demo\ncommand: {name}\n")
        (folder / name / "__init__.py").write_text(_OPERATOR.format(name=name.capitalize(), body=body))
    for shape in shapes:
        (folder / shape.name).mkdir()
        (folder / shape.name / "workflow.yaml").write_text(shape.yaml())
    found = read_definitions(folder, [OPERATORS, WORKFLOWS])
    if found.problems:
        raise RuntimeError("\n".join(map(str, found.problems)))
    env = MasonEnvironment.of()
    register(env, open_state(env), found.valid, replace=True)


def _rivals(running: Script, stack: ExitStack, steps: int) -> tuple[list[Contestant], str]:
    """Return the rivals on a chain of so many steps, and what their versions are."""
    contestants, versions = [], {}
    for rival in RIVALS:
        place = (running.options.rivals or running.folder / "rivals").absolute() / rival.package
        python = rival_environment(place, rival)
        home = running.folder / f"home-{len(contestants)}"
        home.mkdir()
        variables = {**rival.variables, rival.home: str(home)}
        child = stack.enter_context(Child(rival.module, str(home), rival.argument, python=python, variables=variables))
        versions[rival.package.capitalize()] = child.ask("version")
        contestants.append(Contestant(rival.label, _asking(child, steps)))
    told = ", ".join(f"{name} {number}" for name, number in versions.items())
    return contestants, f"Rivals, each the newest that pip gives: {told}; {SLOW_ROUNDS} rounds beside them."


def _asking(child: Child, steps: int) -> Callable[[], float]:
    return lambda: 1000 * float(child.ask(str(steps))) / steps


if __name__ == "__main__":
    main()
