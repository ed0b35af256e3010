"""The program `mason`, which tells in which phase its merge is and dawdles there: for those who want to hit it midway.

A commit takes a few milliseconds; here each of its steps is announced, and waits a little before and after. Variables:
PHASES is the file that is told, PHASES_HOLD a file before which the tasks wait until it is gone, and PHASES_BROKEN asks
for a commit that is not atomic.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mason.pipeline.jobs.merge.run as merge_run
import mason.pipeline.jobs.merge.work as merge_work
import mason.pipeline.reading.plan.read_plan as plan
import mason.pipeline.reading.tasks.kernel as kernel
import mason.pipeline.reading.tasks.task_files as task_files
import mason.pipeline.tables.folder as table_folder
from mason.__main__ import main
from mason.pipeline.formats.file_reader import FileReader
from mason.pipeline.reading.tasks.readers import read_batches, read_records
from mason.pipeline.reading.tasks.task import KERNEL
from mason.pipeline.work.tasks import TaskRunner

SHORT, LONG = 0.02, 0.15
DAWDLES = 3
"""A step that comes often, such as the fsync of every file, waits only the first times."""

STEPS = ("mkdir", "rename", "link", "unlink", "fsync")


@dataclass
class Phases:
    """Tells the phases and the steps in them."""

    file: Path
    phase: str = ""
    seen: Counter[str] = field(default_factory=Counter)

    def enter(self, phase: str) -> None:
        self.phase = phase
        self.step("begin")

    def step(self, name: str) -> None:
        with open(self.file, "a", encoding="utf-8") as stream:
            stream.write(f"{self.phase} {name}\n")
        self.dawdle(name)

    def dawdle(self, name: str, seconds: float = SHORT) -> None:
        self.seen[f"{self.phase} {name}"] += 1
        if self.seen[f"{self.phase} {name}"] <= 2 * DAWDLES:
            time.sleep(random.uniform(0, seconds))

    def within(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function as a step of the tasks or the commit: told before, with a wait on either side."""

        def stepping(*arguments: Any, **options: Any) -> Any:
            if self.phase not in ("tasks", "commit"):
                return function(*arguments, **options)
            self.step(name)
            result = function(*arguments, **options)
            self.dawdle(name)
            return result

        return stepping

    def entering(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def entered(*arguments: Any, **options: Any) -> Any:
            self.enter(phase)
            result = function(*arguments, **options)
            self.step("end")
            return result

        return entered


@dataclass(frozen=True)
class ToldRunner:
    """Runs tasks on another runner, slowly, and tells when they are begun."""

    runner: TaskRunner
    phases: Phases
    hold: Path | None

    def run(self, kernel_name: str, tasks: Sequence[bytes]) -> Iterator[Any]:
        self.phases.step("run")
        while self.hold and self.hold.exists():
            time.sleep(0.01)
        yield from self.runner.run("mason_in_phases:merge_slowly" if kernel_name == KERNEL else kernel_name, tasks)


def merge_slowly(task: bytes) -> bytes:
    """The kernel of the merge, with time between its batches. Spark's workers import it by its name."""
    for name, slow in {"read_records": slow_records, "read_batches": slow_batches}.items():
        assert hasattr(task_files, name), f"tasks do not call {name} any more, and would not be slow"
        setattr(task_files, name, slow)
    return kernel.merge_task(task)


def slow_batches(*arguments: Any) -> Iterator[Any]:
    return slowly(read_batches(*arguments))


def slow_records(*arguments: Any) -> Iterator[Any]:
    return slowly(read_records(*arguments))


def slowly(batches: Iterator[Any]) -> Iterator[Any]:
    time.sleep(random.uniform(0, LONG))
    for batch in batches:
        yield batch
        time.sleep(random.uniform(0, LONG))


def tell_phases(phases: Phases, hold: Path | None) -> None:
    """Have everything that a merge does told, in the order in which it is done."""
    merge_work.plan_merge = phases.entering("plan", merge_work.plan_merge)  # type: ignore[attr-defined]
    read = FileReader.read_opened

    def read_slowly(self: FileReader, *arguments: Any) -> Any:
        phases.step("read")
        return read(self, *arguments)

    FileReader.read_opened = read_slowly  # type: ignore[method-assign, assignment]
    plan.TASK_FILES = 2  # several tasks, though the files are small
    run = merge_run.run_merge

    def run_told(merge_plan: Any, runner: TaskRunner, *arguments: Any, **options: Any) -> Any:
        return run(merge_plan, ToldRunner(runner, phases, hold), *arguments, **options)

    merge_work.run_merge = phases.entering("tasks", run_told)  # type: ignore[attr-defined]
    publish = table_folder.TableFolder.publish
    table_folder.TableFolder.publish = phases.entering("commit", publish)  # type: ignore[method-assign]
    for name in STEPS:
        setattr(os, name, phases.within(name, getattr(os, name)))
    Path.write_text = phases.within("write", Path.write_text)  # type: ignore[method-assign]
    exchange = phases.within("exchange", table_folder.exchange_folders)  # type: ignore[attr-defined]
    table_folder.exchange_folders = exchange  # type: ignore[attr-defined]


def break_commit() -> None:
    """Empty the table and fill it again, piece by piece, as one must not."""

    def piece_by_piece(one: Path, other: Path) -> None:
        for each in list(other.iterdir()):
            shutil.rmtree(each) if each.is_dir() else each.unlink()
            time.sleep(SHORT)
        for each in list(one.iterdir()):
            each.rename(other / each.name)
            time.sleep(SHORT)
        one.rmdir()

    table_folder.exchange_folders = piece_by_piece  # type: ignore[attr-defined]
    complete = lambda self, pending: self._room.settle(pending)  # noqa: E731 (of a former version nothing is left)
    table_folder.TableFolder._complete = complete  # type: ignore[method-assign]


if __name__ == "__main__":
    if "PHASES_BROKEN" in os.environ:
        break_commit()
    held = os.environ.get("PHASES_HOLD")
    tell_phases(Phases(Path(os.environ["PHASES"])), Path(held) if held else None)
    sys.argv[0] = "mason"
    main()
