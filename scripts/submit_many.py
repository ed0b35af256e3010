"""Detaches very many jobs at once: `scripts/submit_many.py --jobs 200 --slots 4`.

Each notes when it begins and when it ends. All are to be run, each once, and no more of them at the same time than
there are slots. It ends with 1 when something is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

JOBS, SLOTS = 200, 4
_PROJECT = Path(__file__).parent.parent
_COMMANDS_AT_ONCE = 16
_PATIENCE_SECONDS = 1800.0
_DEFINITION = """\
type: operator
namespace: many
command: note
description: Notes when it begins and when it ends
parameters:
  required: [word]
"""
_CODE = """\
import os
import time

from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse


def note(line):
    file = os.open("notes", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, (line + "\\n").encode())
    os.close(file)


class ManyNote(OperatorDefinition):
    def run(self, env, config, parameters, resp):
        word = parameters.get_required("word")
        note(f"{word} begins")
        time.sleep(0.2)
        note(f"{word} ends")
        return OperatorResponse(resp)
"""


@dataclass(frozen=True)
class Submitted:
    """What came of many jobs."""

    statuses: Mapping[str, int]
    """How many of them stand how at the end."""
    begun: Mapping[str, int]
    """How often each was begun."""
    most_at_once: int
    seconds: float

    def problems(self, words: Sequence[str], slots: int) -> Sequence[str]:
        """Return what is not as it should be."""
        wrong = {word: self.begun.get(word, 0) for word in words if self.begun.get(word, 0) != 1}
        others = {status: count for status, count in self.statuses.items() if status != "succeeded"}
        found = [
            f"These were not run once: {wrong}" if wrong else "",
            f"These did not succeed: {others}" if others else "",
            f"{len(words)} were submitted, and {sum(self.statuses.values())} have a record"
            if sum(self.statuses.values()) != len(words)
            else "",
            f"{self.most_at_once} ran at once" if self.most_at_once > slots else "",
        ]
        return [each for each in found if each]


def submit_many(folder: Path, words: Sequence[str], slots: int) -> Submitted:
    """Detach a job for each word, as fast as some commands at once can, and wait until all are over."""
    operator = folder / "many_note"
    operator.mkdir()
    for name, text in (("operator.yaml", _DEFINITION), ("__init__.py", _CODE)):
        (operator / name).write_text(text)
    environment = {
        **os.environ,
        "MASON_HOME": str(folder / "home"),
        "MASON_DETACHED_JOBS": str(slots),
        "PYTHONPATH": str(_PROJECT),
    }

    def mason(*arguments: str) -> str:
        command = [sys.executable, "-m", "mason", *arguments]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
        return done.stdout

    mason("register", str(operator))
    began = time.monotonic()
    with ThreadPoolExecutor(_COMMANDS_AT_ONCE) as pool:
        list(pool.map(lambda word: mason("operator", "many", "note", "-p", f"word:{word}", "--detach"), words))
    while True:
        jobs = json.loads(mason("job", "list", "--limit", "1000"))["Data"]
        statuses = Counter(each["Status"] for each in jobs)
        if not statuses["queued"] + statuses["running"] or time.monotonic() - began > _PATIENCE_SECONDS:
            break
        time.sleep(0.5)
    begun, most = read_notes((folder / "notes").read_text().splitlines())
    return Submitted(
        {status: count for status, count in statuses.items() if count}, begun, most, time.monotonic() - began
    )


def read_notes(notes: Sequence[str]) -> tuple[Mapping[str, int], int]:
    """Return how often each job began, and how many were between their begin and their end at the same time."""
    begun: Counter[str] = Counter()
    running = most = 0
    for word, what in (line.split() for line in notes):
        begun[word] += what == "begins"
        running += 1 if what == "begins" else -1
        most = max(most, running)
    return begun, most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--slots", type=int, default=SLOTS)
    given = parser.parse_args()
    words = [f"word-{number}" for number in range(given.jobs)]
    with tempfile.TemporaryDirectory() as place:
        came = submit_many(Path(place), words, given.slots)
    sys.stdout.write(
        f"{given.jobs} jobs in {came.seconds:.0f} s, at most {came.most_at_once} at once: {came.statuses}\n"
    )
    problems = came.problems(words, given.slots)
    sys.stdout.writelines(f"{each}\n" for each in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
