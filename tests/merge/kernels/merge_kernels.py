"""Kernels of a merge that goes wrong, which Spark's workers import by name."""

from __future__ import annotations

from mason.pipeline.merge.kernel import merge_task


def fail_after_writing(task: bytes) -> bytes:
    """Do all the work, and fail the first time: what was written then counts for nothing."""
    from pyspark import TaskContext

    result = merge_task(task)
    context = TaskContext.get()
    if context is not None and context.attemptNumber() == 0:
        raise OSError("the connection was lost when all was done")
    return result
