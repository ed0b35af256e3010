"""Whatever happens in the middle of a merge, the output is the old table or the new one, and no row is lost unsaid."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from mason.engines.storage.models.location import Location
from mason.errors import BadPath, Conflict, UnreadableFile
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.reading.tasks.task import TaskResult
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.work.row_sums import RowsLost
from tests.conftest import PROJECT
from tests.merge.conftest import Merge


class Tampering(InProcessRunner):
    """Does something between the plan and the tasks, or to what a task says."""

    def __init__(self, before: object = None, falsify: object = None) -> None:
        self._before, self._falsify = before, falsify

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
        if callable(self._before):
            self._before(tasks)
        for number, content in super().run(kernel, tasks):
            yield number, self._falsify(content) if callable(self._falsify) else content


def test_a_row_that_a_kernel_drops_fails_the_job(merge: Merge) -> None:
    merge.given("a.csv", "a\n1\n2\n3\n")
    merge.run()

    def drop_one(content: bytes) -> bytes:
        result = TaskResult.of(content)
        staging = next(merge.room.glob("staging/job*"))
        import pyarrow.parquet as pq

        file = staging / result.files[0]
        pq.write_table(pq.read_table(file).slice(1), file)
        return content

    merge.runner = Tampering(falsify=drop_one)
    with pytest.raises(RowsLost, match="3 records were read, but 2 were written and 0 quarantined"):
        merge.run()
    assert merge.table().num_rows == 3


def test_a_task_without_a_result_fails_the_job(merge: Merge) -> None:
    class Forgetful(InProcessRunner):
        def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
            return iter(())

    merge.given("a.csv", "a\n1\n")
    merge.runner = Forgetful()

    with pytest.raises(RowsLost, match="1 of 1 tasks gave no result"):
        merge.run()


def test_a_task_that_ran_twice_counts_once(merge: Merge) -> None:
    class Speculating(InProcessRunner):
        def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
            list(super().run(kernel, tasks))  # the twin whose result nobody takes
            return super().run(kernel, tasks)

    merge.given("a.csv", "a,b\n1,2\n3\n")
    merge.runner = Speculating()

    result = merge.run()

    assert (result.rows_out, result.quarantined, len(merge.rejects())) == (1, 1, 1)
    assert len(list(merge.output.glob("part-*"))) == 1


def test_a_file_that_changes_after_the_plan_fails_the_job(merge: Merge) -> None:
    file = merge.given("a.csv", "a\n1\n")
    merge.runner = Tampering(before=lambda tasks: file.write_text("a\n2\n3\n"))

    with pytest.raises(UnreadableFile, match=r"a\.csv: it was changed after the plan was made"):
        merge.run()
    assert not merge.output.exists()


def test_a_file_that_vanishes_after_the_plan_fails_the_job(merge: Merge) -> None:
    file = merge.given("a.csv", "a\n1\n")
    merge.runner = Tampering(before=lambda tasks: file.unlink())

    with pytest.raises(UnreadableFile, match=r"a\.csv: it vanished"):
        merge.run()


def test_of_two_merges_into_one_output_one_wins_and_the_other_says_so(merge: Merge) -> None:
    merge.given("a.csv", "a\n1\n")
    other = Merge(merge.root, jobs=iter(range(500, 600)))
    merge.runner = Tampering(before=lambda tasks: other.run())

    with pytest.raises(Conflict, match=r"was changed by another job \(job500\)"):
        merge.run()
    assert merge.table().num_rows == 1
    assert merge.left_behind() == []


def test_an_append_keeps_what_is_there(merge: Merge) -> None:
    file = merge.given("a.csv", "a\n1\n")
    merge.run()
    file.write_text("a\n2\n")

    merge.run(mode="append")

    assert sorted(merge.table()["a"].to_pylist()) == [1, 2]
    assert len(list(merge.output.glob("part-*"))) == 2


def test_an_output_that_is_the_input_works_and_the_input_is_kept(merge: Merge) -> None:
    from mason.pipeline.jobs.merge.job import MergeJob
    from mason.pipeline.jobs.merge.plan import plan_merge
    from mason.pipeline.jobs.merge.run import run_merge

    merge.given("a.csv", "a\n1\n2\n")
    same = str(merge.root / "in")

    run_merge(plan_merge(MergeJob(Location(same), Location(same))), InProcessRunner(), "job", lambda *_: None)

    (commit,) = [TableFolder(same).current()]
    assert commit is not None and commit.rows == 2
    assert (merge.root / ".mason/tables/in/kept/job/a.csv.kept").read_text() == "a\n1\n2\n"


def test_a_link_stands_for_the_folder_that_it_leads_to(merge: Merge) -> None:
    file = merge.given("a.csv", "a\n1\n")
    (merge.root / "elsewhere").mkdir()
    merge.output.symlink_to(merge.root / "elsewhere")

    merge.run()
    file.write_text("a\n2\n")
    merge.run(mode="append")

    assert merge.output.is_symlink()
    assert TableFolder(str(merge.root / "elsewhere")).current() == TableFolder(str(merge.output)).current()
    assert sorted(merge.table()["a"].to_pylist()) == [1, 2]


def test_an_output_that_a_link_leads_into_the_input_or_that_is_a_file_is_refused(merge: Merge) -> None:
    merge.given("inner/a.csv", "a\n1\n")
    merge.output.symlink_to(merge.root / "in" / "inner")

    with pytest.raises(BadPath, match="lies inside the input"):
        merge.plan()
    merge.output.unlink()
    merge.output.write_text("not a folder")
    with pytest.raises(BadPath, match="out is a file: a table is a folder"):
        merge.plan()


def test_a_full_disk_leaves_the_old_table(merge: Merge, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    small = SmallDisk(disk)
    try:
        merge.given("a.csv", "a\n1\n")
        on_disk = Merge(disk)
        (disk / "in").symlink_to(merge.root / "in")
        on_disk.run()
        noise = "".join(f"{random.random()}\n" for _ in range(200_000))
        merge.given("a.csv", "a\n" + noise)
        with pytest.raises(OSError, match="space|large"):
            on_disk.run()
        assert on_disk.table().num_rows == 1
        assert list(disk.glob(".out.mason-job*")) == []
    finally:
        small.release()


class SmallDisk:
    """A disk of 1 MiB where the tests may mount one; a limit on the size of files where they may not."""

    def __init__(self, place: Path) -> None:
        import resource

        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
        self._mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
        self._place = place
        self._limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        if not self._mounted:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, self._limits[1]))

    def release(self) -> None:
        import resource

        if self._mounted:
            subprocess.run(["umount", "-l", str(self._place)], check=True)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, self._limits)


MERGING = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    sys.path.insert(0, {project!r})
    from tests.merge.conftest import Merge
    {broken}
    merge = Merge(Path({root!r}), jobs=iter(range({number}, {number} + 1)))
    print("ready", flush=True)
    merge.run()
    """
)
NOT_ATOMIC = textwrap.dedent(
    """
    import mason.pipeline.tables.folder as commit, shutil, time
    def piece_by_piece(one, other):
        for each in list(other.iterdir()):
            shutil.rmtree(each) if each.is_dir() else each.unlink()
            time.sleep(0.02)
        for each in list(one.iterdir()):
            each.rename(other / each.name)
            time.sleep(0.02)
        one.rmdir()
    commit.exchange_folders = piece_by_piece
    commit.TableFolder._complete = lambda self, pending: self._room.settle(pending)
    """
)


def _kill_while_merging(merge: Merge, *, times: int, broken: str = "") -> list[str]:
    """Kill merges at random moments and return what was wrong with the table afterwards; the first of it is enough.

    The moments are within the time that a whole merge took just before: on a busy machine that is longer.
    """
    chance = random.Random(7)
    whole = 0.0
    for number in range(times + 1):
        merge.given("a.csv", "a,b\n" + "".join(f"{row},x\n" for row in range(1_000 + number)))
        code = MERGING.format(project=str(PROJECT), root=str(merge.root), number=1_000 + number, broken=broken)
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        if whole:
            time.sleep(chance.uniform(0, whole))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        else:
            began = time.monotonic()
            assert process.wait() == 0
            whole = time.monotonic() - began
        process.stdout.close()
        if wrong := _problems(merge):
            return wrong
    return []


def _problems(merge: Merge) -> list[str]:
    """What a reader, of Mason's kind or an outsider who lists the folder, would stumble over."""
    commit = TableFolder(str(merge.output)).current()
    if commit is None:
        return [f"no commit in {sorted(each.name for each in merge.output.glob('*'))}"]
    listed = {each.path for each in commit.files}
    there = {each.name for each in merge.output.glob("part-*")}
    if listed != there:
        return [f"the commit lists {listed}, there are {there}"]
    return [] if merge.table().num_rows == commit.rows else ["the rows do not add up"]


def test_a_merge_that_is_killed_at_any_moment_leaves_the_old_table_or_the_new_one(merge: Merge) -> None:
    merge.given("a.csv", "a,b\n1,x\n")
    merge.run()

    assert _kill_while_merging(merge, times=25) == []

    merge.run()
    assert merge.left_behind() == [], "staging of killed merges is swept by the next one"


def test_the_kill_loop_catches_a_commit_that_is_not_atomic(merge: Merge) -> None:
    merge.given("a.csv", "a,b\n1,x\n")
    merge.run()

    assert _kill_while_merging(merge, times=100, broken=NOT_ATOMIC) != []


def test_everything_is_on_the_disk_before_anybody_is_pointed_to_it(
    merge: Merge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut is imitated by the order of the calls: fsync of every file and folder, then the exchange."""
    import mason.pipeline.tables.folder as table_commit

    merge.given("a.csv", "a\n1\n")
    merge.run()
    calls: list[str] = []
    fsync, exchange = os.fsync, table_commit.exchange_folders

    def told_fsync(handle: int) -> None:
        calls.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", told_fsync)
    monkeypatch.setattr(table_commit, "exchange_folders", lambda a, b: (calls.append("exchange"), exchange(a, b)))

    merge.run()

    before = calls[: calls.index("exchange")]
    staged = [call for call in before if "/staging/job" in call]
    assert any(call.endswith(".parquet") for call in staged)
    assert str(merge.room / "new") in before, "the record, which gets its name in one step"
    assert before[-1] == str(merge.room)
    after = calls[calls.index("exchange") :]
    assert [str(merge.room / "staging"), str(merge.root)] == after[1:3], "both folders that were changed"


def test_a_table_of_nothing_but_its_schema_can_be_merged(merge: Merge) -> None:
    merge.given("a.csv", "a,b\n")
    merge.given("b.parquet", pa.table({"a": pa.array([], pa.int64())}))

    result = merge.run()

    assert (result.rows_in, result.rows_out) == (0, 0)


def test_a_task_that_outlives_its_job_does_not_bring_the_staging_folder_back(merge: Merge) -> None:
    from mason.pipeline.reading.tasks.kernel import merge_task
    from mason.pipeline.reading.tasks.task import tasks_of

    merge.given("bad.csv", "a,b\n1\n2,2\n")
    gone = merge.root / "gone"
    for keys in ([], ["a"]):
        (task,) = tasks_of(merge.plan(repartition_keys=keys), Location(str(gone)), "job")
        with pytest.raises(OSError, match="gone"):
            merge_task(task.to_bytes())
    assert not gone.exists()
