"""What the sums, the commit and the record add to the plan and the tasks of a merge.

.venv/bin/python -m benchmarks.overhead [--scale 0.01]
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.contestants import Mason, make_empty
from benchmarks.jobs import CSV
from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.profiling import profile_kernel
from benchmarks.script import Script, script
from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.reading.tasks.task import KERNEL, tasks_of
from mason.pipeline.work.tasks import running as running_tasks
from mason.pipeline.work.tasks import without_beats

AT_MOST = 1.05


def main() -> None:
    with script(__doc__, rounds=7) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Write the files and measure."""
    inputs, bare = running.folder / "in", running.folder / "bare"
    CSV.write(inputs, running.bytes(CSV.size))
    mason = Mason(inputs, running.folder / "mason")

    def plan_and_tasks() -> None:
        plan = plan_merge(mason.job)
        tasks = [task.to_bytes() for task in tasks_of(plan, Location(str(bare)), "bare")]
        with running_tasks(mason.client.plain_runner, KERNEL, tasks) as events:
            for _ in without_beats(events):
                pass

    rival = Contestant("plan and tasks alone", seconds(plan_and_tasks), lambda: make_empty(bare))
    alone, ours = interleaved([rival, mason.contestant()], running.rounds)
    mason.close()
    comparison = Comparison("merge", ours, alone, limit=AT_MOST)
    result = Result("overhead", CSV.describe(inputs), [comparison], notes=[mason.parts()])
    if running.wants_profile(result):
        return replace(result, profile=profile_kernel(mason.job, running.folder / "profile"))
    return result


if __name__ == "__main__":
    main()
