"""Gives a server more work than it has time for, again and again: `scripts/soak_api.py --minutes 10`.

A thousand jobs are queued at once; when they are over, the next thousand are. Each writes its name down once: none may
be missing and none there twice, and the memory of the server must stay flat. It ends with 1 when something is not so.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx

JOBS = 1000
_PROJECT = Path(__file__).parent.parent
_AT_ONCE = 8
_MOST_GROWTH = 1.1
_DEFINITION = """\
type: operator
namespace: soak
command: note
description: Writes a word down
parameters:
  required: [word]
"""
_SWAGGER = "paths:\n  /soak/note:\n    post:\n    get:\n"
_CODE = """\
import os

from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse


class SoakNote(OperatorDefinition):
    def run(self, env, config, parameters, resp):
        file = os.open("notes", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, (parameters.get_required("word") + "\\n").encode())
        os.close(file)
        return OperatorResponse(resp)
"""


@dataclass
class Soaked:
    """What came of it: rounds of jobs, and the megabytes that the server held after each."""

    rounds: int = 0
    megabytes: list[float] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """How much more the server holds at the end than after its first rounds, when everything had been used once."""
        settled = self.megabytes[len(self.megabytes) // 5 :]
        part = max(1, len(settled) // 4)
        return statistics.median(settled[-part:]) / statistics.median(settled[:part])


def define_operator(folder: Path) -> Path:
    """Write the operator whose calls are the jobs, and return its folder."""
    folder.mkdir(parents=True)
    for name, text in (("operator.yaml", _DEFINITION), ("swagger.yml", _SWAGGER), ("__init__.py", _CODE)):
        (folder / name).write_text(text)
    return folder


def queue_jobs(url: str, words: list[str]) -> None:
    """Queue a job for each word, as fast as some clients at once can."""

    def queue(share: list[str]) -> None:
        with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
            for word in share:
                reply = client.post("/api/soak/note", params={"wait": 0}, json={"word": word})
                assert reply.status_code in (200, 202), reply.text

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(queue, [words[number::_AT_ONCE] for number in range(_AT_ONCE)]))


def wait_until_idle(url: str, seconds: float = 300) -> None:
    """Wait until nothing is queued and nothing runs."""
    end = time.monotonic() + seconds
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
        while True:
            told = client.get("/readyz").json()
            if told["queued"] == told["running"] == 0:
                return
            assert time.monotonic() < end, told
            time.sleep(0.05)


def wrong_counts(notes: Path, words: list[str]) -> dict[str, int]:
    """Return the words that are not there exactly once, with how often they are."""
    found = Counter(notes.read_text().split())
    return {word: found[word] for word in {*words, *found} if found[word] != 1}


def resident_megabytes(pid: int) -> float:
    """Return what a process holds of the machine's memory."""
    return int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) / 1024


def soak(url: str, pid: int, notes: Path, seconds: float, jobs: int = JOBS) -> Soaked:
    """Queue rounds of jobs until the time is over; each round must be carried out, and each job of it once."""
    soaked, end = Soaked(), time.monotonic() + seconds
    while time.monotonic() < end:
        words = [f"{soaked.rounds}-{number}" for number in range(jobs)]
        notes.unlink(missing_ok=True)
        queue_jobs(url, words)
        wait_until_idle(url)
        wrong = wrong_counts(notes, words)
        if wrong:
            raise SystemExit(f"Round {soaked.rounds}: these were not carried out once: {wrong}")
        soaked.rounds += 1
        soaked.megabytes.append(resident_megabytes(pid))
        sys.stdout.write(f"round {soaked.rounds}: {jobs} jobs, {soaked.megabytes[-1]:.1f} MB\n")
        sys.stdout.flush()
    return soaked


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--jobs", type=int, default=JOBS, help="jobs of a round (1,000)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        operator = define_operator(folder / "soak_note")
        environment = {**os.environ, "MASON_HOME": str(folder / "home"), "PYTHONPATH": str(_PROJECT)}
        command = [sys.executable, "-m", "mason"]
        subprocess.run([*command, "register", str(operator)], cwd=folder, env=environment, check=True)
        log = folder / "log"
        with open(log, "w") as out:
            server = subprocess.Popen(
                [*command, "run", "--port", "0", "--queue", str(given.jobs)],
                cwd=folder,
                env=environment,
                stdout=out,
                stderr=out,
            )
        try:
            soaked = soak(_url(server, log), server.pid, folder / "notes", 60 * given.minutes, given.jobs)
        finally:
            server.terminate()
            server.wait(60)
    sys.stdout.write(f"{soaked.rounds * given.jobs} jobs, each carried out once; memory × {soaked.growth:.3f}\n")
    return 0 if soaked.growth <= _MOST_GROWTH else 1


def _url(server: subprocess.Popen[bytes], log: Path) -> str:
    while server.poll() is None:
        found = re.search(r"Mason listens on (http://\S+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    raise SystemExit(log.read_text())


if __name__ == "__main__":
    sys.exit(main())
