"""Merges as a user starts them, hit from outside: killed, interrupted, two at once, files that cannot be read.

`scripts/kill_merges.py` does the same as the first test here, many more times.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mason.engines.storage.models.location import Location
from mason.pipeline.reading.tasks.kernel import merge_task
from mason.pipeline.reading.tasks.task import tasks_of
from mason.pipeline.tables.folder import TableFolder
from scripts.kill_merges import ENGINES, PHASES, WRITING, Site, kill_merges, merge_command, unsettled
from tests.conftest import PROJECT, Mason, write
from tests.merge.conftest import Merge
from tests.spark.conftest import eventually

pytestmark = pytest.mark.timeout(600)

KILLS = {
    ("driver", "here"): {"plan": 1, "tasks": 1, "commit": 2},
    ("driver", "warm"): {"tasks": 1},
    ("worker", "warm"): {"plan": 1, "tasks": 1, "commit": 1},
    ("server", "warm"): {"plan": 1, "tasks": 1, "commit": 1},
}
AT_WORK = {("warm", "tasks"): (WRITING,)}  # not before Spark has begun: few kills are to hit something
NEARLY_PUBLISHED = """
import os, sys
from pathlib import Path
import mason.pipeline.tables.folder as table_commit
from tests.merge.conftest import Merge

table_commit.sync_tree = lambda folder: os._exit(9)
Merge(Path(sys.argv[1]), jobs=iter([500])).run()
"""
HERE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path / "site")
    site.set_up()
    yield site
    site.close()


def test_whoever_is_killed_in_whatever_phase_the_table_is_the_old_one_or_the_new_one(site: Site) -> None:
    chance = random.Random()
    kills = [
        kill
        for (victim, engine), phases in KILLS.items()
        for phase, count in phases.items()
        for kill in kill_merges(site, victim, engine, phase, count, chance, *AT_WORK.get((engine, phase), ()))
    ]

    assert [kill for kill in kills if kill.problems] == []
    assert {(kill.victim, kill.phase) for kill in kills} == {(victim, phase) for victim in ENGINES for phase in PHASES}
    assert unsettled(site) == [], "the records of killed merges say that they are lost"


def test_the_kill_loop_catches_a_commit_that_is_not_atomic(tmp_path: Path) -> None:
    site = Site(tmp_path / "site", broken=True)
    site.set_up()

    kills = kill_merges(site, "driver", "here", "commit", 6, random.Random(), "commit exchange")

    assert any(kill.problems for kill in kills), "the first that it catches is enough: the table is broken from then on"


@pytest.mark.parametrize("before", [0, 1])
def test_a_version_that_was_not_published_is_not_kept_as_a_former_one(merge: Merge, before: int) -> None:
    merge.given("a.csv", "n\n1\n")
    for _ in range(before):
        merge.run()
    died = subprocess.run([sys.executable, "-c", NEARLY_PUBLISHED, str(merge.root)], cwd=PROJECT, check=False)
    assert died.returncode == 9

    TableFolder(str(merge.output)).sweep()

    assert merge.left_behind() == []
    assert list(merge.room.glob("kept/*")) == []
    assert merge.output.exists() == bool(before)


def test_a_task_that_outlives_its_job_does_not_make_the_staging_folder_again(merge: Merge) -> None:
    merge.given("a.csv", "n,t\n1\n2,x\n")
    (task,) = tasks_of(merge.plan(), Location(str(merge.room / "staging" / "gone")), "gone")

    with pytest.raises(FileNotFoundError):
        merge_task(task.to_bytes())

    assert not merge.room.exists()


def test_ctrl_c_ends_a_merge_on_the_warm_spark_and_leaves_spark_idle(site: Site) -> None:
    site.given()
    merging = site.start(*merge_command("warm"))
    eventually(site.busy_workers, 120)

    merging.process.send_signal(signal.SIGINT)

    code, said = merging.ended()
    assert code == 130 and "Traceback" not in said, said
    (status,) = [status for job, status in site.jobs().items() if job not in site.known]
    assert status == "cancelled"
    assert (site.reader(), site.outsider(), site.leftovers()) == (site.old, site.old, [])
    eventually(lambda: site.spark_jobs()["Start"] == site.spark_jobs()["End"] > 0)
    assert site.busy_workers() == []
    (server,) = json.loads(site.must("spark", "status", "--json"))["Data"]
    assert server["state"] == "idle"
    new = site.given()
    site.must(*merge_command("warm"))
    assert (site.reader(), site.outsider(), site.leftovers()) == (new, new, [])
    assert json.loads(site.must("spark", "status", "--json"))["Data"][0]["pid"] == server["pid"], "it is the same Spark"


def test_of_two_merges_that_saw_the_same_table_one_wins_and_the_other_says_so(site: Site) -> None:
    hold = site.folder / "hold"
    hold.touch()
    amounts = [site.given("one"), site.given("two")]
    both = [site.start(*merge_command("here", inputs=name), PHASES_HOLD=str(hold)) for name in ("one", "two")]
    assert all(merging.wait_for("tasks run") for merging in both)

    hold.unlink()

    ends = [merging.ended() for merging in both]
    assert sorted(code for code, _ in ends) == [0, 1]
    (said,) = [said for code, said in ends if code == 1]
    assert "was changed by another job" in said
    winner = amounts[[code for code, _ in ends].index(0)]
    assert (site.reader(), site.outsider(), site.leftovers()) == (winner, winner, [])
    statuses = [status for job, status in site.jobs().items() if job not in site.known]
    assert sorted(statuses) == ["failed", "succeeded"]


def test_of_merges_at_the_same_moment_each_wins_or_says_that_it_did_not(site: Site) -> None:
    for _ in range(3):
        names = ("one", "two")
        amounts = [site.given(name) for name in names]
        both = [site.start(*merge_command("here", inputs=name)) for name in names]
        ends = [merging.ended() for merging in both]

        assert all(code == 0 or (code == 1 and "was changed by another job" in said) for code, said in ends), ends
        winners = [amount for amount, (code, _) in zip(amounts, ends, strict=True) if code == 0]
        assert site.reader() in winners and site.outsider() == site.reader()
        assert site.leftovers() == []
    succeeded = [status for status in site.jobs().values() if status == "succeeded"]
    current = TableFolder(str(site.output)).current()
    assert current is not None and current.number == len(succeeded), "whoever said that it won is in the history"


class WithoutPrivilege(Mason):
    """The command line of somebody whom permissions bind, even if root runs the tests."""

    @property
    def argv(self) -> list[str]:
        binding = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.getuid() == 0 else []
        return [*binding, *super().argv]


@pytest.fixture
def bound(tmp_path: Path) -> Mason:
    folder = write(tmp_path / "work", {"here.yaml": HERE, "in/a.csv": "a,b\n1,x\n"})
    mason = WithoutPrivilege(folder, tmp_path / "home")
    assert mason("config", "here.yaml").exit_code == 0
    mason.register_examples()
    assert mason("operator", "table", "merge", "-p", "input_path:in,output_path:out").exit_code == 0
    return mason


def refuse(file: Path) -> None:
    file.write_text("a,b\n2,y\n")
    file.chmod(0)


def dangle(file: Path) -> None:
    file.symlink_to("nowhere")


@pytest.mark.parametrize("spoil", [refuse, dangle, os.mkfifo])
def test_a_file_that_cannot_be_read_is_named_and_the_table_stays(bound: Mason, spoil: object) -> None:
    assert callable(spoil)
    before = TableFolder(str(bound.folder / "out")).current()
    spoil(bound.folder / "in" / "b.csv")

    result = bound("operator", "table", "merge", "-p", "input_path:in,output_path:out")

    assert result.exit_code == 1
    (error,) = result.json["Errors"]
    assert "b.csv" in error
    assert TableFolder(str(bound.folder / "out")).current() == before
    assert list(bound.folder.glob(".mason/tables/out/staging/*")) == []
