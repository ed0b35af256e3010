"""Runs tasks in this process, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mason.pipeline.tasks import kernel_named


class InProcessRunner:
    """For small data and for tests: the same plans and kernels, without an engine."""

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
        function = kernel_named(kernel)
        for number, task in enumerate(tasks):
            yield number, function(task)
