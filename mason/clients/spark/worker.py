"""What runs inside a Spark task: one kernel call per row, whose outcome is a row again."""

from __future__ import annotations

import struct
import sys
import zipimport
from collections.abc import Iterator

import pyarrow as pa

from mason.errors import MasonError
from mason.pipeline.work.failures import encode_failure
from mason.pipeline.work.tasks import Kernel, kernel_named

_HEAD = struct.Struct("<q?")
RESULT_SCHEMA = "number long, failed boolean, payload binary"


def run_batches(kernel: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Run the kernel on every task of a partition; the function that Spark calls through `mapInArrow`."""
    function = kernel_named(kernel)
    for batch in batches:
        for number, task in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            failed, payload = _outcome(function, task)
            yield pa.record_batch(
                [pa.array([number], pa.int64()), pa.array([failed]), pa.array([payload], pa.binary())],
                names=["number", "failed", "payload"],
            )
    _forget_archives()


def run_rows(kernel: str, rows: Iterator[tuple[int, bytes]]) -> Iterator[bytes]:
    """Run the kernel on every task of a partition of an RDD, and yield the outcome of each as bytes."""
    function = kernel_named(kernel)
    for number, task in rows:
        failed, payload = _outcome(function, task)
        yield _HEAD.pack(number, failed) + payload
    _forget_archives()


def read_outcome(content: bytes) -> tuple[int, bool, bytes]:
    """Return what `run_rows` wrote: the number of a task, whether it failed, and its result or its error."""
    number, failed = _HEAD.unpack_from(content)
    return number, failed, content[_HEAD.size :]


def _outcome(function: Kernel, task: bytes) -> tuple[bool, bytes]:
    try:
        return False, function(task)
    except MasonError as error:
        return True, encode_failure(error)
    except Exception as error:
        # Mason's own errors say that the data are wrong: another attempt would find the same. Anything else (a full
        # disk, a lost connection) may go better elsewhere, so Spark gets one chance to try again.
        if _attempt() == 0:
            raise
        return True, encode_failure(error)


def _attempt() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.attemptNumber() if context else 0


def _forget_archives() -> None:
    # Before each task Spark's worker lets every importer read its archive anew, and Spark puts one of its large jars on
    # the path of Python: 0.1 s, most of what an empty task costs. What is not listed here is not read anew, and is
    # found again when something is imported from it.
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimport.zipimporter):
            del sys.path_importer_cache[path]
