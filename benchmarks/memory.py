"""The memory of a worker when a file is ten times larger, for each format.

.venv/bin/python -m benchmarks.memory [--scale 0.01]
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import data
from benchmarks.contestants import make_empty, remove
from benchmarks.measure import Comparison, Contestant, Result, interleaved
from benchmarks.script import PROJECT, Script, script
from mason.clients.spark.exchange import write_items
from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.reading.tasks.task import tasks_of

SIZE = 1e8
TIMES = 10
AT_MOST = 1.5
MOST_SECONDS = 1800
FORMATS: dict[str, Callable[[Path, int], None]] = {
    "csv": data.write_csv_file,
    "jsonl": data.write_json_file,
    "parquet": data.write_parquet_file,
}


def main() -> None:
    with script(__doc__, rounds=3) as running:
        comparisons = [measure(running, name) for name in FORMATS]
        small, large = running.bytes(SIZE) / 1e6, running.bytes(SIZE * TIMES) / 1e6
        told = f"One file of {large:,.0f} MB beside one of {small:,.0f} MB"
        running.save(Result("memory", told, comparisons))


def measure(running: Script, name: str) -> Comparison:
    """Write two files of a format and measure the worker of each."""
    small = _contestant(running, name, running.bytes(SIZE))
    large = _contestant(running, name, running.bytes(SIZE * TIMES))
    less, more = interleaved([small, large], running.rounds, warm_ups=0)
    remove(running.folder / name)
    return Comparison(f"peak for {name}", more, less, "MB", limit=AT_MOST)


def _contestant(running: Script, name: str, size: int) -> Contestant:
    folder = running.folder / name / str(size)
    FORMATS[name](folder / "in" / f"all.{name}", size)
    staging = folder / "staging"
    plan = plan_merge(MergeJob(Location(str(folder / "in")), Location(str(folder / "out"))))
    with open(folder / "tasks", "wb") as stream:
        write_items(
            stream, ((task.number, task.to_bytes()) for task in tasks_of(plan, Location(str(staging)), "bench"))
        )

    def peak() -> float:
        command = [sys.executable, "-m", "benchmarks.kernel_worker", str(folder / "tasks")]
        told = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True, timeout=MOST_SECONDS)
        return float(told.stdout) / 1e6

    return Contestant(f"{size / 1e6:,.0f} MB", peak, lambda: make_empty(staging))


if __name__ == "__main__":
    main()
