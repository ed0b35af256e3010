"""Runs tasks in this process, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mason.pipeline.work.tasks import TaskEvent, kernel_named


class InProcessRunner:
    """For small data and for tests: the same plans and kernels, without an engine.

    There are no beats but the results: a job is cancelled between two tasks, each of which takes some seconds at most.
    """

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        function = kernel_named(kernel)
        for number, task in enumerate(tasks):
            yield number, function(task)

    def query(self, content: bytes) -> Iterator[TaskEvent]:
        from mason.pipeline.sql.duckdb_engine import run_query

        yield from run_query(content)
