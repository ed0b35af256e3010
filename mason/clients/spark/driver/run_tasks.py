"""Runs a job's tasks on the cluster that spark-submit has chosen: TASKS RESULTS KERNEL PID STARTED.

The last two say which process waits for the results: when that is gone, so is the need for them.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from mason.clients.spark.exchange import ENDED, FAILED, QUERY, read_items, write_items
from mason.clients.spark.job import run_job, run_query
from mason.clients.spark.results import Collected
from mason.pipeline.work.failures import encode_failure
from mason.pipeline.work.tasks import TaskEvent
from mason.util.processes import ProcessId


def main(tasks_file: Path, results_file: Path, kernel: str, caller: ProcessId) -> None:
    """Run the tasks and write their results."""
    threading.Thread(target=_end_with, args=[caller], daemon=True).start()
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    tasks = [task for _, task in read_items(tasks_file)]
    with open(results_file, "ab") as results:
        try:
            is_query = kernel == QUERY
            events = run_query(spark, tasks[0], Collected) if is_query else run_job(spark, kernel, tasks, Collected)
            write_items(results, _results(events, results_file.with_name("done")))
            write_items(results, [(ENDED, b"")] if is_query else [])
        except Exception as error:  # noqa: BLE001 (whatever it is, it is raised where the results are awaited)
            write_items(results, [(FAILED, encode_failure(error))])
    spark.stop()


def _results(events: Iterator[TaskEvent], done: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the results; how many tasks are done goes to a file of its own, for who waits."""
    for event in events:
        if isinstance(event, tuple):
            yield event
        elif event is not None:
            new = done.with_suffix(".new")
            new.write_text(str(event), encoding="ascii")
            new.replace(done)


def _end_with(caller: ProcessId) -> None:
    while caller.alive:
        time.sleep(2)
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], ProcessId(int(sys.argv[4]), sys.argv[5]))
