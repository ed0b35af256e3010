"""A merge on a standalone cluster: two executors of one core each beside one, and a control of plain processes.

.venv/bin/python -m benchmarks.executors [--scale 0.01]
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

from benchmarks.contestants import make_empty, remove
from benchmarks.equality import Written, proven_equal
from benchmarks.jobs import CSV
from benchmarks.measure import Comparison, Result, Runs
from benchmarks.profiling import profile_kernel
from benchmarks.script import Script, script
from mason.clients.response import Response
from mason.clients.spark.execution import SparkExecutionClient
from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.reading.tasks.kernel import merge_task
from mason.pipeline.reading.tasks.task import tasks_of
from tests.cluster import Cluster, events_of, standalone_cluster

AT_LEAST = 1.7
SIZE = 2 * CSV.size  # what the start of the executors' Python costs is the less, the more there is to do
COUNTS = (1, 2)
SECONDS_TO_START = 60
LABELS = {1: "one", 2: "two"}


@dataclass
class Figures:
    """What was measured with one executor, or process, and with two."""

    whole: list[float] = field(default_factory=list)
    tasks: list[float] = field(default_factory=list)
    control: list[float] = field(default_factory=list)


def main() -> None:
    with script(__doc__, rounds=5) as running:
        (running.folder / "cluster").mkdir()
        with standalone_cluster(running.folder / "cluster") as cluster:
            running.save(measure(running, cluster))


def measure(running: Script, cluster: Cluster) -> Result:
    """Write the files and measure."""
    inputs = running.folder / "in"
    CSV.write(inputs, running.bytes(SIZE))
    jobs = {count: MergeJob(Location(str(inputs)), Location(str(running.folder / f"out{count}"))) for count in COUNTS}
    plan = plan_merge(jobs[1])
    staging = running.folder / "staging"
    tasks = [task.to_bytes() for task in tasks_of(plan, Location(str(staging)), "control")]
    found = {count: Figures() for count in COUNTS}
    for number in range(running.rounds):
        for count in COUNTS:
            remove(Path(jobs[count].output.path))
            os.sync()
            whole, within = submit(cluster, jobs[count], count)
            make_empty(staging)
            os.sync()
            control = run_plainly(tasks, count)
            print(
                f"round {number + 1}: {count}: {whole:.2f} s, tasks {within:.2f} s, control {control:.2f} s", flush=True
            )
            found[count].whole.append(whole)
            found[count].tasks.append(within)
            found[count].control.append(control)
    sizes = ", ".join(f"{sum(part.length for _, part in parts) / 1e6:.0f}" for parts in plan.tasks())
    result = Result(
        "executors",
        f"{CSV.describe(inputs)}, {len(tasks)} tasks",
        _comparisons(found[1], found[2]),
        proven_equal([Written(LABELS[count], Path(jobs[count].output.path)) for count in COUNTS], CSV.columns),
        [f"The tasks read {sizes} MB."],
    )
    if running.wants_profile(result):
        return replace(result, profile=profile_kernel(jobs[1], running.folder / "profile"))
    return result


def submit(cluster: Cluster, job: MergeJob, executors: int) -> tuple[float, float]:
    """Merge on the cluster; return the seconds of the whole job, and of its tasks alone."""
    before = cluster.applications()
    # Without this the job begins with the first executor, and the second joins it later.
    conf = {**cluster.conf, "spark.scheduler.minRegisteredResourcesRatio": "1.0"}
    runner = {"type": "submit", "master": cluster.master, "conf": conf, "executors": executors}
    client = SparkExecutionClient({"runner": runner})
    began = time.perf_counter()
    plan, response = client.plan_job(job.to_job(), response=Response())
    client.run_job(plan, response=response)
    whole = time.perf_counter() - began
    (application,) = cluster.applications() - before
    ended = [event["Task Info"] for event in events_of(application) if event["Event"] == "SparkListenerTaskEnd"]
    if len({task["Executor ID"] for task in ended}) != executors:
        raise RuntimeError(f"Not {executors} executors did the tasks: {ended}")
    first, last = min(task["Launch Time"] for task in ended), max(task["Finish Time"] for task in ended)
    return whole, (last - first) / 1000


def run_plainly(tasks: Sequence[bytes], processes: int) -> float:
    """Run the same tasks in plain processes, which are started before the clock is."""
    context = multiprocessing.get_context("spawn")
    started = context.Barrier(processes + 1, timeout=SECONDS_TO_START)
    with context.Pool(processes, start, (started,)) as pool:
        started.wait()
        began = time.perf_counter()
        for _ in pool.imap_unordered(merge_task, tasks, chunksize=1):
            pass
        return time.perf_counter() - began


def start(started: Barrier) -> None:
    """Tell that a process is there; what its tasks need was imported with this module."""
    started.wait()


def _comparisons(one: Figures, two: Figures) -> list[Comparison]:
    def compared(job: str, ones: list[float], twos: list[float], limit: float | None = None) -> Comparison:
        return Comparison(job, Runs(LABELS[2], twos), Runs(LABELS[1], ones), limit=limit, ratio_is="speed-up")

    return [
        compared("tasks", one.tasks, two.tasks, AT_LEAST),
        compared("control", one.control, two.control),
        compared("whole job", one.whole, two.whole),
    ]


if __name__ == "__main__":
    main()
