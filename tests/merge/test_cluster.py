"""A merge on a standalone cluster: the executors do the work, and one that dies takes no row with it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

from mason.pipeline.jobs.merge.run import MergeResult
from scripts.kill_merges import descendants
from tests.cluster import Cluster, events_of
from tests.merge.conftest import Merge
from tests.merge.kernels.merge_kernels import SEEN

pytestmark = pytest.mark.timeout(600)

KERNELS = Path(__file__).parent / "kernels"
FILES = 6
ROWS_IN_FILE = 250_000
_SECONDS_TO_KNOW = 0.1
_SECONDS_OF_PASSING_ON = 2


@pytest.fixture
def large(merge: Merge, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Merge:
    """Files of 10 MB each, a task for each: every file of the output is open until it was seen."""
    monkeypatch.setattr("mason.pipeline.reading.plan.read_plan.TASK_FILES", 1)  # the plan is made in this process
    monkeypatch.syspath_prepend(KERNELS)
    monkeypatch.setattr("mason.pipeline.reading.tasks.rounds.KERNEL", "merge_kernels:merge_and_wait_to_be_seen")
    (merge.root / SEEN).mkdir()
    text = pa.array([f"some text of row {number}" for number in range(ROWS_IN_FILE)])
    for number in range(FILES):
        ids = pa.array(range(number * ROWS_IN_FILE, (number + 1) * ROWS_IN_FILE))
        place = merge.root / "in" / f"{number}.csv"
        pyarrow.csv.write_csv(pa.table({"id": ids, "t": text, "u": text}), place)
    merge.runner = cluster.runner(executors=2)
    return merge


class Watcher:
    """Looks all the time who has the files of a merge open for writing, among the processes below some others."""

    def __init__(self, staged: str, roots: Mapping[str, int], on_sight: Callable[[str, str], None]):
        self.writers: dict[str, set[str]] = defaultdict(set)
        self._staged, self._roots, self._on_sight = staged, roots, on_sight
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        known, known_at = self._processes(), time.monotonic()
        while not self._over.wait(0.002):
            for root, pid in known:
                self._look_at(root, pid)
            if time.monotonic() > known_at + _SECONDS_TO_KNOW:  # finding them takes longer than a look
                known, known_at = self._processes(), time.monotonic()

    def _processes(self) -> list[tuple[str, int]]:
        """Every process below each of the roots, but those of Java: it only starts those that write."""
        others = set(self._roots.values())
        below = {root: (pid, *descendants(pid, without=others - {pid})) for root, pid in self._roots.items()}
        return [(root, pid) for root, pids in below.items() for pid in pids if not _is_java(pid)]

    def _look_at(self, root: str, pid: int) -> None:
        with suppress(OSError):  # a process that ends, a file that is closed, while one looks
            for handle in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 (this must be quick)
                target = os.readlink(f"/proc/{pid}/fd/{handle}")  # noqa: PTH115
                if target.startswith(self._staged) and "/part-" in target and _is_written(pid, handle, target):
                    self.writers[Path(target).name].add(root)
                    self._on_sight(root, Path(target).name)


def _is_java(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "java"
    return True  # it is gone


def _is_written(pid: int, handle: str, target: str) -> bool:
    """Whether the handle writes the file that it led to a moment ago.

    Between two looks a handle's number may pass on to another file: the driver reads a part to sync it, closes it,
    and opens its commit record for writing. One reading of `fdinfo` tells of one open file, both its flags and its
    inode.
    """
    lines = Path(f"/proc/{pid}/fdinfo/{handle}").read_text(encoding="ascii").splitlines()
    told = dict(line.split(":", 1) for line in lines)
    is_the_target = int(told["ino"]) == os.stat(target).st_ino  # noqa: PTH116 (this must be quick)
    return is_the_target and int(told["flags"], 8) & os.O_ACCMODE != os.O_RDONLY


def watching(merge: Merge, cluster: Cluster, on_sight: Callable[[str], None] = lambda root: None) -> Watcher:
    """Watch a merge whose files stay open until they were seen, and `on_sight` has returned."""

    def note(root: str, name: str) -> None:
        on_sight(root)
        (merge.root / SEEN / name).touch()

    roots = {"worker one": cluster.workers[0], "worker two": cluster.workers[1], "driver": os.getpid()}
    return Watcher(str(merge.room / "staging"), roots, note)


def check_rows(merge: Merge, result: MergeResult) -> None:
    """Every row is there, once."""
    rows = FILES * ROWS_IN_FILE
    assert (result.rows_in, result.rows_out) == (rows, rows)
    ids = merge.table()["id"]
    assert (len(ids), pc.count_distinct(ids).as_py(), pc.sum(ids).as_py()) == (rows, rows, rows * (rows - 1) // 2)
    assert {each.path for each in result.commit.files} == {file.name for file in merge.output.glob("part-*")}


def test_the_executors_write_every_file(cluster: Cluster, large: Merge) -> None:
    before = cluster.applications()

    with watching(large, cluster) as watcher:
        result = large.run()

    check_rows(large, result)
    committed = {each.path for each in result.commit.files}
    assert len(committed) == FILES
    assert committed <= watcher.writers.keys(), "each was seen while it was written"
    assert set.union(*watcher.writers.values()) == {"worker one", "worker two"}, "and never by the driver"
    (application,) = cluster.applications() - before
    ended = [event["Task Info"] for event in events_of(application) if event["Event"] == "SparkListenerTaskEnd"]
    done = [task["Executor ID"] for task in ended if not task["Failed"]]
    assert len(done) >= FILES and set(done) == {"0", "1"}


def test_the_watcher_sees_what_this_process_writes_itself(cluster: Cluster, large: Merge) -> None:
    large.runner = Merge(large.root).runner

    with watching(large, cluster) as watcher:
        large.run()

    assert set.union(*watcher.writers.values()) == {"driver"}


def test_the_watcher_takes_no_file_for_written_that_is_only_read(tmp_path: Path) -> None:
    """As the driver does: each part is read to be synced, and the handle's number passes on to what is written next."""
    part = tmp_path / "staged" / "part-0"
    part.parent.mkdir()
    part.touch()
    end = time.monotonic() + _SECONDS_OF_PASSING_ON

    with Watcher(str(part.parent), {"driver": os.getpid()}, lambda root, name: None) as watcher:
        while time.monotonic() < end:
            for mode, path in (("rb", part), ("wb", tmp_path / "record")):
                with path.open(mode):
                    pass

    assert not watcher.writers


def test_an_executor_that_dies_takes_no_row_with_it_and_adds_none(cluster: Cluster, large: Merge) -> None:
    before, killed = cluster.applications(), list[int]()

    def kill_executor(root: str) -> None:
        if root == "worker one" and not killed:
            killed.extend(descendants(cluster.workers[0]))
            for pid in killed:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    with watching(large, cluster, kill_executor) as watcher:
        result = large.run()

    assert len(killed) >= 3, "the executor, its daemon and a Python worker, in the middle of a file"
    check_rows(large, result)
    lost = watcher.writers.keys() - {each.path for each in result.commit.files}
    assert lost and not [name for name in lost if (large.output / name).exists()]
    (application,) = cluster.applications() - before
    assert "SparkListenerExecutorRemoved" in {event["Event"] for event in events_of(application)}


def test_what_an_attempt_wrote_before_it_failed_is_in_no_table(
    cluster: Cluster, merge: Merge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(KERNELS)
    monkeypatch.setattr("mason.pipeline.reading.tasks.rounds.KERNEL", "merge_kernels:fail_after_writing")
    monkeypatch.setattr("mason.pipeline.reading.plan.read_plan.TASK_FILES", 1)
    for name in ("a.csv", "b.csv"):
        merge.given(name, "n,t\n1,x\n2,y\n3\n")
    merge.runner = cluster.runner(executors=2)
    before = cluster.applications()

    result = merge.run()

    (application,) = cluster.applications() - before
    ended = [event["Task Info"] for event in events_of(application) if event["Event"] == "SparkListenerTaskEnd"]
    assert len([task for task in ended if task["Failed"]]) == 2, "each task had a first attempt"
    assert (result.rows_in, result.rows_out, result.quarantined) == (6, 4, 2)
    assert sorted(merge.table()["n"].to_pylist()) == [1, 1, 2, 2]
    assert {each.path for each in result.commit.files} == {file.name for file in merge.output.glob("part-*")}
    assert len(merge.rejects()) == 2
