"""A type of job that another package brings is planned, submitted, followed, cancelled, lost and recorded as Mason's.

The package is the one of docs/write-a-job.md.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cli.support import install_package
from tests.conftest import Mason, write
from tests.documents import FileBlock, read_document, write_file
from tests.jobs.test_detached import LOST, detach, job_of, stands, until

GUIDE = Path(__file__).parents[2] / "docs" / "write-a-job.md"
FILES = {f"in/{number}.txt": "a\n" * number for number in range(1, 6)}


@pytest.fixture
def acme(mason: Mason) -> Mason:
    """Somebody who has installed the package of the guide, and has five files with one to five lines."""
    blocks = {each.path: each for each in read_document(GUIDE) if isinstance(each, FileBlock)}
    points = tomllib.loads(blocks["pyproject.toml"].content)["project"]["entry-points"]["mason.jobs"]
    code = blocks["mason_lines/__init__.py"].content
    install_package(mason, "mason_lines", "mason.jobs", points, {"__init__.py": code})
    write(mason.folder, FILES)
    for path, block in blocks.items():
        if path.startswith(("operators/", "config")):
            write_file(block, mason.folder)
    for arguments in (("config", "config.yaml"), ("register", "operators")):
        done = mason(*arguments)
        assert done.exit_code == 0, done.stderr
    return mason


def count(acme: Mason, *options: str, pause: float = 0) -> Any:
    return acme("operator", "lines", "count", "-p", f"path:in,output_path:out,pause:{pause}", *options)


def start(acme: Mason, pause: float) -> str:
    return detach(acme, "lines", "count", "-p", f"path:in,output_path:out,pause:{pause}")


def job_document(acme: Mason, **more: Any) -> dict[str, Any]:
    folder = str(acme.folder)
    places = {name: {"path": {"path": f"{folder}/{name}", "storage": "file:///"}} for name in ("in", "out")}
    told = {"inputs": places["in"], "outputs": places["out"], "options": {}}
    return {"type": "lines", **told, **more}


def plan(acme: Mason, **more: Any) -> str:
    """Plan a job in a process that sees the package, and return what it says."""
    code = (
        "import json, sys\n"
        "from mason.engines.execution.models.job import Job\n"
        "from mason.errors import MasonError\n"
        "from mason.pipeline.driving.job_types import plan_work\n"
        "try:\n"
        "    print(plan_work(Job(**json.loads(sys.argv[1]))).summary)\n"
        "except MasonError as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    arguments = [sys.executable, "-c", code, json.dumps(job_document(acme, **more))]
    where: Any = {"cwd": acme.folder, "env": acme.environment()}
    return subprocess.run(arguments, **where, capture_output=True, text=True, check=True).stdout


def test_it_is_planned(acme: Mason) -> None:
    planned = count(acme, "--plan").json

    assert planned["Data"][1]["JobType"] == "lines"
    assert [Path(each).name for each in planned["Data"][1]["Inputs"]] == [f"{each}.txt" for each in range(1, 6)]
    assert not (acme.folder / "out").exists()


def test_it_is_run_and_its_table_committed(acme: Mason) -> None:
    done = count(acme).json

    assert done["Info"][-1].startswith("15 lines in 5 files")
    (record,) = done["Data"]
    assert (record["JobType"], record["Status"], record["RowsIn"], record["RowsOut"]) == ("lines", "succeeded", 5, 5)
    assert [*record["Lines"].values()] == [1, 2, 3, 4, 5]
    kept = job_of(acme, record["JobID"])
    assert (kept["JobType"], kept["Status"], kept["Commit"]) == ("lines", "succeeded", record["Commit"])
    assert "Lines" not in kept  # it is shown once, and not kept
    assert pq.read_table(acme.folder / "out").column("lines").to_pylist() == [1, 2, 3, 4, 5]


def test_it_is_submitted_and_recorded(acme: Mason) -> None:
    job = start(acme, pause=0)

    record = stands(acme, job, "succeeded")

    assert (record["RowsIn"], record["RowsOut"], record["Operator"]) == (5, 5, "lines:count")
    assert record["Files"] and record["Commit"]
    logs = acme("job", "logs", job).stdout
    assert "Planned 5 files, 30 bytes, 5 tasks." in logs and logs.rstrip().endswith("Committed.")


def test_it_is_followed(acme: Mason) -> None:
    job = start(acme, pause=1.2)

    seen = until(lambda: 0 < job_of(acme, job).get("TasksDone", 0) < 5 and job_of(acme, job))
    followed = acme("job", "logs", job, "--follow")

    assert (seen["Status"], seen["Tasks"]) == ("running", 5)
    assert followed.exit_code == 0 and followed.stdout.rstrip().endswith("Committed.")


def test_it_is_cancelled_between_two_tasks_and_nothing_is_committed(acme: Mason) -> None:
    job = start(acme, pause=1)
    until(lambda: job_of(acme, job)["Status"] == "running")

    assert acme("job", "cancel", job).exit_code == 0

    assert stands(acme, job, "cancelled")["Error"]
    assert not (acme.folder / "out").exists()


def test_it_is_lost_with_its_process_and_the_next_one_commits(acme: Mason) -> None:
    job = start(acme, pause=30)
    until(lambda: list(acme.folder.glob(".mason/tables/out/staging/*")))

    for pid in find_processes(acme):
        os.kill(pid, signal.SIGKILL)

    assert stands(acme, job, "lost")["Error"] == LOST
    assert not (acme.folder / "out").exists()
    assert count(acme).json["Data"][0]["Status"] == "succeeded"


def find_processes(acme: Mason) -> list[int]:
    """The processes that work in the home of this test: those of its detached job."""
    home, found = f"MASON_HOME={acme.home}".encode(), []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and home in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue  # it has just ended, or is somebody else's
    return found


def test_a_job_with_what_its_type_does_not_have_is_refused_by_name(acme: Mason) -> None:
    assert 'A job of the type "lines" has no option "pauze". Did you mean "pause"?' in plan(acme, options={"pauze": 1})
    assert 'A job of the type "lines" needs "path" among its inputs.' in plan(acme, inputs={})
    assert 'There is no job of the type lined. Did you mean "lines"?' in plan(acme, type="lined")


def test_two_packages_with_one_type_are_both_named(acme: Mason) -> None:
    install_package(acme, "other_lines", "mason.jobs", {"lines": "other_lines:Work"}, {})

    found = count(acme)

    assert found.exit_code == 1
    assert 'The job type "lines" is declared by several packages: ' in found.stderr
    assert "mason-lines (mason_lines:LinesWork)" in found.stderr and "other-lines (other_lines:Work)" in found.stderr


def test_a_package_cannot_take_the_place_of_a_type_of_masons(acme: Mason) -> None:
    install_package(acme, "other_merge", "mason.jobs", {"merge": "other_merge:Work"}, {})

    told = plan(acme, type="merge")

    assert "mason-data (mason.pipeline.jobs.merge.work:MergeWork) and other-merge (other_merge:Work)" in told
    assert count(acme).exit_code == 0  # other types are as they were


BROKEN = {
    "not importable": ("import nowhere_at_all", "No module named 'nowhere_at_all'"),
    "raising": ("raise RuntimeError('out of order')", "RuntimeError: out of order"),
    "without the class": ("", "has no attribute 'BrokenWork'"),
    "no work": ("class BrokenWork: ...", "is not a subclass of mason.pipeline.work.base.Work"),
    "half a work": (
        "from mason.pipeline.work.base import Work\n"
        "class BrokenWork(Work):\n    amounts = task_bytes = ()\n    plan = None",
        "does not define run, to_dict",
    ),
    "no plan": (
        "from mason.pipeline.work.base import Work\nclass BrokenWork(Work):\n    amounts = task_bytes = ()\n"
        "    run = to_dict = None\n    plan = classmethod(lambda cls, job: None)",
        "its plan is None and no Work",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_type_is_named_with_its_package(mason: Mason, case: str) -> None:
    code, told = BROKEN[case]
    install_package(mason, "broken", "mason.jobs", {"lines": "broken:BrokenWork"}, {"__init__.py": code})

    said = plan(mason)

    assert 'BrokenJobType The job type "lines" of the package broken (broken:BrokenWork) cannot be used: ' in said
    assert told in said and "Mend or uninstall broken." in said


def test_a_type_that_returns_no_outcome_fails_by_name(acme: Mason) -> None:
    change(acme, "return LinesOutcome(self, rows, sums, commit)", "return rows")

    assert "its run returns a list and no Outcome" in count(acme).stderr


def test_a_type_that_loses_a_row_commits_nothing(acme: Mason) -> None:
    change(acme, "for number, path in enumerate(self.files)]", "for number, path in enumerate(self.files)][1:]")

    done = count(acme)

    assert done.exit_code == 1
    assert "5 files were counted, but 4 were written. Nothing was committed." in done.stderr
    assert not (acme.folder / "out").exists()


def test_a_type_that_states_other_rows_than_its_files_hold_commits_nothing(acme: Mason) -> None:
    change(acme, "sum(each.rows for each in written)", "len(self.files) + 1")

    done = count(acme)

    assert "hold 5 rows, and not 6" in done.stderr
    assert not (acme.folder / "out").exists()


def change(acme: Mason, old: str, new: str) -> None:
    """Break the package."""
    file = acme.folder.parent / "site" / "mason_lines" / "__init__.py"
    code = file.read_text(encoding="utf-8")
    assert old in code
    file.write_text(code.replace(old, new), encoding="utf-8")


def test_masons_own_types_are_declared_as_those_of_others() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    from mason.pipeline.driving.job_types import find_job_type, job_types
    from mason.util.packages import OWN_DISTRIBUTION, list_entry_points

    declared = {each.name: each.value for each in list_entry_points("mason.jobs") if each.distribution == "mason-data"}

    assert project["name"] == OWN_DISTRIBUTION
    assert project["entry-points"]["mason.jobs"] == declared
    assert set(declared) <= set(job_types())
    assert [find_job_type(name).__name__.endswith("Work") for name in declared] == [True] * 9
