"""Writers of every kind at one table, by chance, some of them killed: the history accounts for every row.

The commits say which job came after which; replayed one after the other, they must give the table that is there.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Collection, Mapping

import pytest

from mason.engines.storage.models.location import Location
from mason.errors import Conflict, NotFound
from mason.pipeline.jobs.merge.job import Mode
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.versions import VersionGone, plan_vacuum, roll_back, vacuum
from tests.conftest import PROJECT
from tests.merge.conftest import Merge
from tests.merge.test_appends import at_once, given, leftovers, planned, run

pytestmark = pytest.mark.timeout(300)

WRITERS = 6
OPERATIONS = 7


def problems(
    merge: Merge, appended: Mapping[str, Collection[int]], replaced: Mapping[str, Collection[int]]
) -> list[str]:
    """Replay the history, and say where the table is not what it should be; which jobs failed is not asked here."""
    versions: dict[str, Counter[int]] = {}
    rows = Counter[int]()
    found: list[str] = []
    for number, commit in enumerate(reversed(list(TableFolder(str(merge.output)).history())), 1):
        if commit.number != number or commit.id in versions:
            found.append(f"version {commit.number} of {commit.id} stands where {number} should be")
        if commit.id in appended:
            rows = rows + Counter(appended[commit.id])
        elif commit.id in replaced:
            rows = Counter(replaced[commit.id])
        else:
            rows = versions[commit.details["rolled_back_to"]]
        versions[commit.id] = rows
        if commit.rows != rows.total():
            found.append(f"version {number} has {commit.rows} rows instead of {rows.total()}")
    there = Counter(merge.table()["n"].to_pylist())
    if there != rows:
        found.append(f"lost: {sorted(rows - there)}, there too often: {sorted(there - rows)}")
    return found


class Writers:
    """Threads that do by chance what can be done to a table, and note who says that it was done."""

    def __init__(self, merge: Merge, seed: int) -> None:
        self._merge, self._seed = merge, seed
        self.appended: dict[str, Collection[int]] = {}
        self.replaced: dict[str, Collection[int]] = {}
        self.succeeded: list[str] = []
        self.failed: list[str] = []

    def write(self, writer: int) -> None:
        chance = random.Random(f"{self._seed}-{writer}")
        for step in range(OPERATIONS):
            job = f"job{writer}x{step}"
            what = chance.choices([self._append, self._replace, self._go_back, self._vacuum], [6, 1, 1, 1])[0]
            try:
                what(job, chance)
            except (Conflict, NotFound, VersionGone) as error:
                assert what != self._append, f"{job}: {error}"
                self.failed.append(job)
            else:
                if what != self._vacuum:
                    self.succeeded.append(job)

    def _append(self, job: str, chance: random.Random) -> None:
        self.appended[job] = self._given(job, chance)
        run(planned(self._merge, job), job)

    def _replace(self, job: str, chance: random.Random) -> None:
        self.replaced[job] = self._given(job, chance)
        run(planned(self._merge, job, mode=Mode.REPLACE), job)

    def _go_back(self, job: str, chance: random.Random) -> None:
        roll_back(Location(str(self._merge.output)), str(chance.randint(1, 12)), job)

    def _vacuum(self, job: str, chance: random.Random) -> None:
        vacuum(plan_vacuum(Location(str(self._merge.output)), chance.randint(0, 3), 0))

    def _given(self, job: str, chance: random.Random) -> Collection[int]:
        numbers = [chance.randrange(10**9) for _ in range(3)]
        given(self._merge, job, "n\n" + "".join(f"{number}\n" for number in numbers))
        return numbers


@pytest.mark.parametrize("seed", range(3))
def test_whatever_writers_do_at_once_the_history_accounts_for_every_row(merge: Merge, seed: int) -> None:
    writers = Writers(merge, seed)

    said = at_once([lambda n=n: writers.write(n) for n in range(WRITERS)])

    assert said == [], "\n".join(said)
    assert problems(merge, writers.appended, writers.replaced) == []
    committed = [each.id for each in TableFolder(str(merge.output)).history()]
    assert sorted(committed) == sorted(writers.succeeded), "who says that it is done is in the history, and nobody else"
    assert leftovers(merge) == []


APPENDING = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    sys.path.insert(0, {project!r})
    from tests.merge.conftest import Merge
    from tests.merge.test_appends import planned, run
    {broken}
    merge = Merge(Path({root!r}))
    print("ready", flush=True)
    for job in {jobs!r}:
        run(planned(merge, job), job)
        print(job, flush=True)
    """
)
IGNORES_THE_LOST_RACE = (
    "import mason.pipeline.tables.folder as t; t.follow_newest = lambda p, h, record, *, kept, **_: (record, kept)"
)


def append_and_be_killed(merge: Merge, *, rounds: int, broken: str = "") -> list[str]:
    """Let processes append at once, kill some of them, and return what is wrong with the table after each round."""
    chance = random.Random(11)
    appended: dict[str, Collection[int]] = {}
    done: list[str] = []
    for turn in range(rounds):
        processes = []
        for writer in range(4):
            jobs = [f"job{turn}x{writer}x{step}" for step in range(6)]
            for job in jobs:
                appended[job] = [len(appended)]
                given(merge, job, f"n\n{len(appended) - 1}\n")
            code = APPENDING.format(project=str(PROJECT), root=str(merge.root), jobs=jobs, broken=broken)
            processes.append(subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True))
        for process in processes:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for process in processes[:3]:  # one comes to its end
            time.sleep(chance.uniform(0, 0.15))
            os.kill(process.pid, signal.SIGKILL)
        for process in processes:
            done += process.communicate(timeout=120)[0].split()
        assert processes[3].returncode == 0
        TableFolder(str(merge.output)).sweep()
        committed = {each.id for each in TableFolder(str(merge.output)).history()}
        wrong = [*problems(merge, appended, {}), *(f"{job} is not committed" for job in done if job not in committed)]
        if wrong or leftovers(merge):
            return [*wrong, *leftovers(merge)]
    return []


def test_appends_of_processes_that_are_killed_are_there_whole_or_not_at_all(merge: Merge) -> None:
    assert append_and_be_killed(merge, rounds=3) == []


def test_the_killed_appends_catch_a_commit_that_ignores_who_was_faster(merge: Merge) -> None:
    assert append_and_be_killed(merge, rounds=8, broken=IGNORES_THE_LOST_RACE) != []
