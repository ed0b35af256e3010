"""How a plan's tasks get done: the pipeline says what, an engine says where.

A task is bytes (a plan's own JSON), a kernel is a function named by its module, and its result is bytes again. So the
same task runs in this process, on a warm Spark, or on a cluster, and nothing but this passes between them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

Kernel = Callable[[bytes], bytes]


class TaskRunner(Protocol):
    """Runs the tasks of a job; each at least once, as engines do, since they retry."""

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
        """Run the kernel on every task and yield the number of each task with its result, as they are done.

        Every task yields once. A kernel that raises fails the job: the error is raised here.
        """


def kernel_named(name: str) -> Kernel:
    """Return the function that a name such as `mason.pipeline.merge.kernel:merge_task` stands for."""
    module, _, function = name.partition(":")
    kernel: Kernel = getattr(importlib.import_module(module), function)
    return kernel
