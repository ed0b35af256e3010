"""Runs a job's tasks on the cluster that spark-submit has chosen: TASKS RESULTS KERNEL PID STARTED.

The last two say which process waits for the results: when that is gone, so is the need for them.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from mason.clients.spark.exchange import FAILED, read_items, write_items
from mason.clients.spark.failures import encode_failure
from mason.clients.spark.job import collect, run_job
from mason.clients.spark.server.processes import ProcessId


def main(tasks_file: Path, results_file: Path, kernel: str, caller: ProcessId) -> None:
    """Run the tasks and write their results."""
    threading.Thread(target=_end_with, args=[caller], daemon=True).start()
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    tasks = [task for _, task in read_items(tasks_file)]
    with open(results_file, "ab") as results:
        try:
            write_items(results, run_job(spark, kernel, tasks, collect))
        except Exception as error:  # noqa: BLE001 (whatever it is, it is raised where the results are awaited)
            write_items(results, [(FAILED, encode_failure(error))])
    spark.stop()


def _end_with(caller: ProcessId) -> None:
    while caller.alive:
        time.sleep(2)
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], ProcessId(int(sys.argv[4]), sys.argv[5]))
