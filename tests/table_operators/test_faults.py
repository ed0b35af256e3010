"""Ctrl-C in the middle, and a disk that is full: nothing is half there, and nothing is left behind."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.dedupe.job import DedupeJob, DedupeOptions, DedupeWork
from mason.pipeline.tables.folder import TableFolder
from mason.state.home import read_state
from mason.state.models import Record, RecordKind
from mason.util.environment import MasonEnvironment
from tests.cluster import configuration
from tests.conftest import Mason
from tests.merge.test_faults import SmallDisk
from tests.sql.conftest import Database

pytestmark = pytest.mark.timeout(300)

LONG_QUERY = "select count(*) n from t a cross join t b cross join t c cross join t d where a.k + b.k + c.k + d.k > 7"
JOBS: Mapping[str, Mapping[str, str]] = {
    "query": {"database_name": "shop", "query_string": LONG_QUERY},
    "dedupe": {"path": "shop/t", "keys": "k,n", "order_by": "n desc", "output_path": "out"},
    "diff": {"path": "shop/t", "other_path": "shop/u", "keys": "k"},
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mason]:
    root = tmp_path_factory.mktemp("faults")
    for name in ("runtime", "tmp"):
        (root / name).mkdir(mode=0o700)
    variables = {"XDG_RUNTIME_DIR": str(root / "runtime"), "TMPDIR": str(root / "tmp")}
    mason = Mason(root / "work", root / "home", variables)
    (mason.folder / "configs").mkdir(parents=True)
    (mason.folder / "configs" / "here.yaml").write_text(configuration({}))
    (mason.folder / "configs" / "warm.yaml").write_text(configuration({"type": "local", "warm": "always"}))
    for name in ("t", "u"):
        (mason.folder / "raw" / name).mkdir(parents=True)
        rows = 3_000_000
        numbers = pa.array(range(rows), pa.int64())
        text = pa.array([f"text {number}" for number in range(1000)]).take(pa.array([n % 1000 for n in range(rows)]))
        table = pa.table({"k": numbers, "n": numbers, "text": text})
        pq.write_table(table, mason.folder / "raw" / name / "a.parquet")
    assert mason("config", "configs").exit_code == 0
    mason.register_examples()
    for name in ("t", "u"):
        made = mason("operator", "table", "merge", "-c", "here", "-p", f"input_path:raw/{name},output_path:shop/{name}")
        assert made.exit_code == 0, made.stderr
    yield mason
    assert mason("spark", "stop").exit_code == 0


@pytest.mark.parametrize(
    ("command", "engine"),
    [("query", "here"), ("dedupe", "here"), ("diff", "here"), ("query", "warm"), ("dedupe", "warm")],
)
def test_ctrl_c_in_the_middle_leaves_nothing(here: Mason, command: str, engine: str) -> None:
    given = [part for name, value in JOBS[command].items() for part in ("-p", f"{name}:{value}")]
    if engine == "warm":
        asked = here("operator", "table", "query", "-c", engine, "-p", "database_name:shop,query_string:select 1")
        assert asked.exit_code == 0, asked.stderr
    before = newest(here).id
    process = here.start("operator", "table", command, "-c", engine, *given)
    wait_until_it_asks(here, process, before)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=90)

    assert process.returncode == 130, stderr
    assert '"Interrupted."' in stdout
    assert "Traceback" not in stderr
    assert newest(here).document["Error"] == "It was interrupted."
    assert not (here.folder / "out").exists()
    assert list(here.folder.glob(".mason/tables/out/staging/*")) == []
    left = [each.name for each in Path(here.variables["TMPDIR"]).glob("mason-*")]
    assert [each for each in left if not each.startswith("mason-spark-")] == [], "a warm server has its own folder"
    for name in ("t", "u"):
        commit = TableFolder(str(here.folder / "shop" / name)).current()
        assert commit is not None and commit.number == 1


def wait_until_it_asks(mason: Mason, process: subprocess.Popen[str], before: str) -> None:
    """Return when the job has begun: its record is written before its engine is asked."""
    deadline = time.monotonic() + 90
    while newest(mason).id == before:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it did not begin in time"
        time.sleep(0.02)
    time.sleep(0.3)
    assert process.poll() is None, "it was over before it could be interrupted"


def newest(mason: Mason) -> Record:
    return read_state(MasonEnvironment(mason.home)).list_records(RecordKind.JOB)[0]


@pytest.mark.parametrize("command", ["query", "dedupe"])
def test_a_full_disk_leaves_the_old_table(command: str, tmp_path: Path) -> None:
    database = Database(tmp_path, InProcessRunner())
    path = database.given("t", pa.table({"k": range(200_000), "f": np.random.default_rng(1).random(200_000)}))
    disk = tmp_path / "disk"
    disk.mkdir()
    small = SmallDisk(disk)
    try:
        output = disk / "out"
        database.ask("select 1 as k", output=str(output))
        with pytest.raises(OSError, match="space|large"):
            if command == "query":
                database.ask("select * from t", output=str(output))
            else:
                job = DedupeJob(path=Location(str(path)), output=Location(str(output)), options=DedupeOptions(("k",)))
                DedupeWork.plan(job.to_job()).run(database.runner, "deduped", lambda *_: None)
        commit = TableFolder(str(output)).current()
        assert commit is not None and (commit.number, commit.rows) == (1, 1)
        assert {each.name for each in disk.iterdir()} == {"out", ".mason"}
    finally:
        small.release()
