"""Runs the tasks of a file in this process, as a worker of Spark does, and prints its peak memory in bytes: TASKS."""

from __future__ import annotations

import sys
from pathlib import Path

from mason.clients.spark.exchange import read_items
from mason.pipeline.reading.tasks.kernel import merge_task


def main(tasks: Path) -> None:
    """Run all tasks, one after the other."""
    for _, task in read_items(tasks):
        merge_task(task)
    print(peak_memory())


def peak_memory() -> int:
    """Return the most memory that this process had; `ru_maxrss` would count that of the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main(Path(sys.argv[1]))
