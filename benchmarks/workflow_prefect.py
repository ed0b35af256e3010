"""A chain of tasks in Prefect, as a user would write it: one flow, whose runs its own server records."""

from __future__ import annotations

import sys
import time

import prefect

from benchmarks.child import answer


@prefect.task
def step(before: int) -> int:
    return before + 1


@prefect.flow
def chain(steps: int) -> int:
    done = 0
    for _ in range(steps):
        done = step(done)
    return done


def main(*_: str) -> None:
    """Run a chain of as many steps as each line of stdin says."""

    def work(word: str) -> object:
        if word == "version":
            return prefect.__version__
        began = time.perf_counter()
        assert chain(int(word)) == int(word)
        return time.perf_counter() - began

    answer(work)


if __name__ == "__main__":
    main(*sys.argv[1:])
