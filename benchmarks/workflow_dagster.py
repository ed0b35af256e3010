"""A chain of ops in Dagster, executed in this process; what records its runs is on disk, or in memory."""

from __future__ import annotations

import sys
import time

import dagster

from benchmarks.child import answer

# Dagster walks along a chain by recursion, from wherever its set of steps begins: from the far end a thousand deep.
sys.setrecursionlimit(20_000)


@dagster.op
def step(before: int) -> int:
    return before + 1


@dagster.op
def start() -> int:
    return 1


def chain(steps: int) -> dagster.JobDefinition:
    """Return a job of so many steps, each of which takes what the one before it gave."""

    @dagster.job
    def job() -> None:
        done = start()
        for number in range(1, steps):
            done = step.alias(f"s{number}")(done)

    return job


def main(home: str, where: str) -> None:
    """Run a chain of as many steps as each line of stdin says; defining it is not measured."""
    kind = dagster.DagsterInstance
    instance = kind.ephemeral() if where == "in memory" else kind.local_temp(home)
    jobs: dict[int, dagster.JobDefinition] = {}

    def work(word: str) -> object:
        if word == "version":
            return dagster.__version__
        job = jobs.setdefault(int(word), chain(int(word)))
        began = time.perf_counter()
        assert job.execute_in_process(instance=instance).success
        return time.perf_counter() - began

    answer(work)


if __name__ == "__main__":
    main(*sys.argv[1:])
