"""Kills runs of a workflow at random moments and resumes them: `scripts/kill_workflows.py --kills 50`.

Every step appends its name to a file. After the resume none may be missing, and none that was recorded as succeeded may
be there twice; the one that was running when the kill came may be, since its work was not recorded.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

STEPS = 40
MASON = (sys.executable, "-m", "mason")
_PROJECT = Path(__file__).parent.parent
_OPERATOR = """\
import time

from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse


class DemoSay(OperatorDefinition):
    def run(self, env, config, parameters, resp):
        time.sleep(0.02)
        with open("trace", "a") as trace:
            trace.write(parameters.get_required("text") + "\\n")
        return OperatorResponse(resp)
"""


def main(points: int, seed: int) -> int:
    with tempfile.TemporaryDirectory() as place:
        kills = []
        for number, kill in enumerate(kill_runs(Path(place), points, seed), 1):
            kills.append(kill)
            sys.stdout.write(f"{number} of {points}\n")
    hit = [each for each in kills if each.recorded < STEPS]
    sys.stdout.write(f"{points} kills, {len(hit)} of them before the last step was recorded. No step was missed.\n")
    sys.stdout.write(f"{sum(each.twice for each in hit)} steps ran twice; none was recorded before the kill.\n")
    return 0


class Kill(NamedTuple):
    """What a kill left behind it."""

    recorded: int
    """So many steps were known to have succeeded."""
    twice: int
    """So many had done their work, which was not recorded yet."""


def kill_runs(folder: Path, points: int, seed: int, mason: Sequence[str] = MASON) -> Iterator[Kill]:
    """Kill a run again and again, resume it, and yield what each kill left behind it.

    Args:
        mason: how Mason is called; a broken one is found out.

    Raises:
        AssertionError: a step was missed, or ran again although it was recorded.
    """
    chance = random.Random(seed)
    site = Site(folder, mason)
    _define(folder)
    site.mason("register", "defs")
    whole = _seconds(site)
    for _ in range(points):
        yield _try_once(site, chance.uniform(0, whole))


class Site(NamedTuple):
    """A folder with a workflow, and the Mason that runs it."""

    folder: Path
    command: Sequence[str]

    @property
    def trace(self) -> Path:
        return self.folder / "trace"

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        others = {"MASON_HOME": str(self.folder / "home"), "PYTHONPATH": str(_PROJECT), "MASON_CONFIG": ""}
        command = [*self.command, *arguments]
        return subprocess.Popen(
            command, cwd=self.folder, env={**os.environ, **others}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def mason(self, *arguments: str) -> str:
        process = self.start(*arguments)
        stdout, stderr = process.communicate(timeout=120)
        assert process.returncode == 0, stderr.decode()
        return stdout.decode()


def _define(folder: Path) -> None:
    operator = folder / "defs" / "say"
    operator.mkdir(parents=True)
    yaml = "type: operator\nnamespace: demo\ncommand: say\nparameters:\n  required: [text]\n"
    (operator / "operator.yaml").write_text(yaml)
    (operator / "__init__.py").write_text(_OPERATOR)
    # A ladder of diamonds: each third step waits for the two before it.
    steps, given = [], []
    for number in range(STEPS):
        start = number - number % 3
        before = [] if number == 0 else [number - 1, number - 2] if number % 3 == 0 else [start]
        names = ", ".join(f"s{each}" for each in before)
        steps.append(f"  - {{id: s{number}, type: operator, namespace: demo, command: say, dependencies: [{names}]}}\n")
        given.append(f"s{number}:\n  parameters: {{text: s{number}}}\n")
    workflow = folder / "defs" / "flow"
    workflow.mkdir()
    (workflow / "workflow.yaml").write_text(
        f"type: workflow\nnamespace: demo\ncommand: flow\ndag:\n{''.join(steps)}supported_schedulers: [local]\n"
    )
    (folder / "p.yaml").write_text("".join(given))


def _seconds(site: Site) -> float:
    """Return how long a run takes from its first step to its last: kills are aimed there, not at Python's start."""
    process = _begin(site)
    began = time.monotonic()
    while len(site.trace.read_text().splitlines()) < STEPS:
        time.sleep(0.001)
    seconds = time.monotonic() - began
    process.communicate()
    return seconds


def _begin(site: Site) -> subprocess.Popen[bytes]:
    site.trace.unlink(missing_ok=True)
    process = site.start("workflow", "demo", "flow", "-f", "p.yaml", "-r")
    while not site.trace.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)
    return process


def _try_once(site: Site, seconds: float) -> Kill:
    known = {each["RunID"] for each in json.loads(site.mason("workflow", "--runs", "--json"))["Data"]}
    process = _begin(site)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    new = [
        each for each in json.loads(site.mason("workflow", "--runs", "--json"))["Data"] if each["RunID"] not in known
    ]
    assert len(new) == 1, "a step ran in a run that was not recorded"
    shown = json.loads(site.mason("workflow", "--show", new[0]["RunID"], "--json"))["Data"][0]
    recorded = [each["Id"] for each in shown["Steps"] if each["Status"] == "succeeded"]
    site.mason("workflow", "--resume", new[0]["RunID"])
    done = site.trace.read_text().splitlines()
    assert set(done) == {f"s{number}" for number in range(STEPS)}, "a step was missed"
    assert all(done.count(key) == 1 for key in recorded), "a step that was recorded ran twice"
    return Kill(len(recorded), len(done) - STEPS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sys.exit(main(given.kills, given.seed))
