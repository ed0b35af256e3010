"""What goes wrong while a table is taken apart leaves what was there, or nothing."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from mason.errors import UnreadableFile
from mason.pipeline.tables.folder import TableFolder
from tests.conftest import PROJECT, Mason, write
from tests.explode.conftest import Explode, read_table
from tests.merge.test_faults import SmallDisk


def test_a_full_disk_leaves_the_old_tables(explode: Explode, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    small = SmallDisk(disk)
    try:
        explode.given([{"l": [1]}])
        on_disk = Explode(disk)
        (disk / "orders").symlink_to(explode.root / "orders")
        on_disk.run()
        explode.given([{"l": [random.random() for _ in range(20)]} for _ in range(10_000)])
        with pytest.raises(OSError, match="space|large"):
            on_disk.run()
        assert on_disk.table("orders_l").to_pylist() == [{"orders_id": 0, "position": 0, "value": 1}]
        assert list(disk.glob(".mason/tables/out/staging/*")) == []
    finally:
        small.release()


def test_a_file_that_vanishes_after_the_plan_fails_the_job(explode: Explode) -> None:
    explode.given([{"l": [1]}], "a.jsonl")
    file = explode.given([{"l": [1]}], "b.jsonl")
    plan = explode.plan()
    file.unlink()

    with pytest.raises(UnreadableFile, match="b.jsonl"):
        explode.run_plan(plan)
    assert not explode.output.exists()


@pytest.mark.timeout(120)
def test_ctrl_c_in_the_middle_leaves_nothing(mason: Mason) -> None:
    here = "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\n"
    write(mason.folder, {"here.yaml": here, "orders/00.jsonl": json_lines(20_000)})
    for number in range(1, 40):  # much to read that takes the disk of one file
        shutil.copyfile(mason.folder / "orders" / "00.jsonl", mason.folder / "orders" / f"{number:02}.jsonl")
    assert mason("config", "here.yaml").exit_code == 0
    mason.register_examples()
    exploding = mason.start("operator", "table", "explode", "-p", "path:orders,output_path:out")
    end = time.monotonic() + 60
    while not list(mason.folder.glob(".mason/tables/out/staging/*/orders_l/part-*")):
        assert exploding.poll() is None and time.monotonic() < end
        time.sleep(0.01)

    exploding.send_signal(signal.SIGINT)
    stdout, stderr = exploding.communicate(timeout=60)

    assert exploding.returncode == 130, stderr
    assert '"Interrupted."' in stdout and "Traceback" not in stderr
    assert sorted(each.name for each in mason.folder.iterdir()) == [".mason", "here.yaml", "orders"]
    (job,) = mason("operator", "job", "list").json["Data"]
    assert job["Status"] == "cancelled"


def json_lines(rows: int) -> str:
    return "".join(json.dumps({"n": number, "l": [{"x": [number]}] * 3}) + "\n" for number in range(rows))


EXPLODING = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    sys.path.insert(0, {project!r})
    from tests.explode.conftest import Explode
    explode = Explode(Path({root!r}), jobs=iter([{number}]))
    plan = explode.plan()
    print("ready", flush=True)
    explode.run_plan(plan)
    """
)


@pytest.mark.timeout(300)
def test_an_explode_that_is_killed_at_any_moment_leaves_all_tables_of_the_old_or_all_of_the_new(
    explode: Explode,
) -> None:
    chance = random.Random(5)
    explode.given(json_lines(1_000))
    explode.run()
    code, took = run_and_kill(explode, 1000, None)
    assert code == 0
    ends = []
    for number in range(1001, 1013):
        explode.given(json_lines(1_000 + number))
        ends.append(run_and_kill(explode, number, chance.uniform(0, took))[0])
        assert not mixed(explode)
    assert -signal.SIGKILL in ends
    explode.run()
    assert list(explode.root.glob(".mason/tables/out/staging/*")) == []


def run_and_kill(explode: Explode, number: int, after: float | None) -> tuple[int, float]:
    """Run it, kill it so many seconds after it was planned; return how it ended, and after how long."""
    code = EXPLODING.format(project=str(PROJECT), root=str(explode.root), number=number)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    began = time.monotonic()
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.kill()
    with process.stdout:
        return process.wait(), time.monotonic() - began


def mixed(explode: Explode) -> str:
    """Say what is wrong, if not all tables are whole and of one commit."""
    commits: set[Any] = set()
    rows = []
    for name in ("", "orders", "orders_l", "orders_l_x"):
        commit = TableFolder(str(explode.output / name)).current()
        commits.add(commit and commit.id)
    for name in ("orders", "orders_l", "orders_l_x"):
        rows.append(read_table(explode.output / name).num_rows)
    if len(commits) != 1 or rows[1] != 3 * rows[0] or rows[2] != 3 * rows[0]:
        return f"commits {commits}, rows {rows}"
    return ""
