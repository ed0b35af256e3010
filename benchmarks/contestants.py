"""Those that merge the same files: DuckDB, and Mason on a warm Spark in a process that is running."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.measure import Contestant, seconds
from mason.clients.response import Response
from mason.clients.spark.execution import SparkExecutionClient
from mason.clients.spark.runners import SparkRunner
from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import LOCAL, Location
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.work.tasks import TaskEvent, TaskRunner

WARM = {"runner": {"type": "local", "warm": "always"}}


def duckdb_copy(source: str, target: Path) -> Contestant:
    """DuckDB as a user would write it. `source` is a table function such as `read_csv('in/*.csv')`."""

    def copy() -> None:
        with duckdb.connect() as db:
            db.execute(f"COPY (FROM {source}) TO '{target}/all.parquet' (FORMAT parquet, COMPRESSION snappy)")

    return Contestant("DuckDB COPY", seconds(copy), lambda: make_empty(target))


def duckdb_tuned(source: str, target: Path) -> Contestant:
    """DuckDB at its fastest: the order of the rows is given up, and each thread writes a file of its own."""

    def copy() -> None:
        with duckdb.connect() as db:
            db.execute("SET preserve_insertion_order = false")
            db.execute(
                f"COPY (FROM {source}) TO '{target}' "
                "(FORMAT parquet, COMPRESSION snappy, PER_THREAD_OUTPUT true, OVERWRITE_OR_IGNORE true)"
            )

    return Contestant("DuckDB COPY, tuned (unordered, a file per thread)", seconds(copy), lambda: make_empty(target))


class Mason:
    """Runs whole merges on one warm session, and notes how long their parts took."""

    def __init__(self, inputs: Path | str, output: Path | str, storage: str = LOCAL) -> None:
        self.job = MergeJob(Location(str(inputs), storage), Location(str(output), storage))
        self.client = TimedClient(WARM)
        self._plans: list[float] = []
        self._wholes: list[float] = []

    def contestant(self) -> Contestant:
        return Contestant("Mason", seconds(self.merge), lambda: remove(Path(self.job.output.path)))

    def merge(self) -> None:
        """Merge, with all that belongs to it: sniffing, checks, counting, quarantine, commit and record."""
        began = time.perf_counter()
        plan, response = self.client.plan_job(self.job.to_job(), response=Response())
        self._plans.append(time.perf_counter() - began)
        self.client.run_job(plan, response=response)
        self._wholes.append(time.perf_counter() - began)
        self.check_spark()

    def check_spark(self) -> None:
        """Make sure that it was the warm server: where there is none the runner does without it."""
        where = self.client.plain_runner.describe()
        if "process" not in where or "in this process" in where:
            raise RuntimeError(f"Not a warm server, but {where}.")

    def parts(self) -> str:
        """Return where the time of the quickest merge went."""
        quickest = min(range(len(self._wholes)), key=lambda number: self._wholes[number])
        plan, tasks, whole = self._plans[quickest], self.client.tasks[quickest], self._wholes[quickest]
        return (
            f"Mason's quickest run: {plan:.2f} s for the plan, {tasks:.2f} s for the tasks, "
            f"{whole - plan - tasks:.2f} s for the rest (sums, commit, record)."
        )

    def close(self) -> None:
        self.client.plain_runner.close()


class MasonJob:
    """Runs one job again and again on a warm session."""

    def __init__(self, job: Job) -> None:
        self.client = TimedClient(WARM)
        self._job = job
        self.details: Mapping[str, Any] = {}

    def contestant(self, before: Callable[[], None] = lambda: None) -> Contestant:
        return Contestant("Mason", seconds(self.run), before)

    def run(self) -> None:
        """Run the job, with all that belongs to it: the plan, the checks, the commit and the record."""
        plan, response = self.client.plan_job(self._job, response=Response())
        record, _ = self.client.run_job(plan, response=response)
        self.details = record.details

    def close(self) -> None:
        self.client.plain_runner.close()


class TimedClient(SparkExecutionClient):
    """Spark as always, with the time that the tasks of each job took."""

    def __init__(self, configuration: dict[str, dict[str, str]]) -> None:
        super().__init__(configuration)
        self.tasks: list[float] = []

    def runner(self, storages: Sequence[str]) -> TaskRunner:
        return TimedRunner(super().runner(storages), self.tasks)

    @property
    def plain_runner(self) -> SparkRunner:
        if not self._runners:  # no job has been there yet
            super().runner([])
        (runner,) = self._runners.values()
        return runner


class TimedRunner:
    """Runs tasks on another runner and notes how long it took."""

    def __init__(self, runner: TaskRunner, times: list[float]) -> None:
        self._runner, self._times = runner, times

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        began = time.perf_counter()
        yield from self._runner.run(kernel, tasks)
        self._times.append(time.perf_counter() - began)

    def query(self, content: bytes) -> Iterator[TaskEvent]:
        return self._runner.query(content)


def make_empty(folder: Path) -> None:
    remove(folder)
    folder.mkdir()


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
