"""Runs the tasks of a job on a Spark session, classic or Connect, and brings the results back one by one."""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from mason.clients.spark.failures import plain_reason, without_stack
from mason.clients.spark.own_code import observe_rows
from mason.clients.spark.results import Results
from mason.clients.spark.worker import RESULT_SCHEMA, run_batches
from mason.errors import ClientFailed
from mason.pipeline.sql.query import OBSERVED, SqlQuery, canonical, check_text, encode_rows
from mason.pipeline.work.failures import decode_failure
from mason.pipeline.work.tasks import BEAT_SECONDS, TaskEvent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_logger = logging.getLogger("mason")

_SECONDS_TO_INTERRUPT = 30.0
_SECONDS_BETWEEN_INTERRUPTS = 0.5
_SECONDS_TO_SAY_GOODBYE = 0.2
_LONGEST_MESSAGE = 2000
_SOME_TASKS = 2  # how many Spark makes of a query is its own affair

Outcome = tuple[int, bool, bytes]
"""The number of a task, whether it failed, and its result or its error."""


def run_job(
    spark: SparkSession, kernel: str, tasks: Sequence[bytes], kind: Callable[[SparkSession], Results]
) -> Iterator[TaskEvent]:
    """Yield the number and the result of every task, and beats; closing the iterator interrupts the Spark job."""
    results = kind(spark)

    def work(tag: str) -> Iterator[Outcome]:
        frame = _one_partition_each(spark, tasks)
        done = frame.mapInArrow(partial(run_batches, kernel), RESULT_SCHEMA)
        for row in results.fetch(done, tag, len(tasks)):
            yield row[0], row[1], bytes(row[2])

    yield from all_once(job_events(SparkJob(JobTags(spark.addTag, spark.interruptTag), work, results)), len(tasks))


def run_query(
    spark: SparkSession, content: bytes, kind: Callable[[SparkSession], Results], tag: str = ""
) -> Iterator[TaskEvent]:
    """Yield the result of a query, or the pieces of it that were written, and beats, as `run_job` does."""
    from mason.clients.spark import queries

    query = SqlQuery.of(content)
    results = kind(spark)

    def work(tag: str) -> Iterator[Outcome]:
        try:
            frame = queries.query_frame(spark, query)
            if query.analyses:
                yield 0, False, encode_rows(queries.columns_of(frame).empty_table())
                return
            if query.output is None:
                limited = frame if query.limit is None else frame.limit(query.limit)
                rows = results.fetch_rows(limited, tag, query.most_bytes)
                check_text(rows)
                yield 0, False, encode_rows(rows.cast(canonical(rows.schema)))
                return
            observed, rows_made = observe_rows(frame) if query.observes else (frame, lambda: None)
            for row in results.fetch(queries.write_frame(observed, query.output), tag, _SOME_TASKS):
                yield row[0], row[1], bytes(row[2])
            if query.observes:
                yield OBSERVED, False, json.dumps(rows_made()).encode()
        except Exception as error:
            explained = queries.explain_query_error(error, query)
            if explained is None:
                raise
            raise explained from error
        finally:
            queries.forget_tables(spark, query)

    yield from job_events(SparkJob(JobTags(spark.addTag, spark.interruptTag), work, results, tag))


def job_events(job: SparkJob) -> Iterator[TaskEvent]:
    """Start a job and yield its results and beats; it has ended when the iterator is closed."""
    job.start()
    try:
        yield from job.events()
    finally:
        job.stop()


def all_once(events: Iterator[TaskEvent], tasks: int) -> Iterator[TaskEvent]:
    """Yield the result of each task once, whatever Spark retries, and end with the last of them."""
    missing = set(range(tasks))
    for event in events:
        if not isinstance(event, tuple):
            yield event
        elif event[0] in missing:
            missing.discard(event[0])
            yield event
        if not missing:
            return
    raise ClientFailed(f"Spark ended the job without a result for {len(missing)} of its tasks.")


@dataclass(frozen=True)
class JobTags:
    """How a Spark, whichever it is, names what a thread runs, and how it ends what has a name."""

    add: Callable[[str], object]
    interrupt: Callable[[str], object]


class Progress(Protocol):
    """What is known of a job while it runs."""

    def count_done(self) -> int | None:
        """Return how many of its tasks are done; nothing where that is not known."""


class SparkJob:
    """One Spark job in a thread of its own, so that neither a slow caller nor ctrl-C holds up the connection."""

    def __init__(
        self, tags: JobTags, work: Callable[[str], Iterator[Outcome]], progress: Progress, tag: str = ""
    ) -> None:
        self._tags, self._work, self._progress = tags, work, progress
        self._tag = tag or f"mason-{uuid.uuid4()}"
        self._outcomes: queue.SimpleQueue[Outcome | Exception | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=self._tag, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def events(self) -> Iterator[TaskEvent]:
        while True:
            try:
                outcome = self._outcomes.get(timeout=BEAT_SECONDS)
            except queue.Empty:
                yield self._progress.count_done()
                continue
            if outcome is None:
                return
            if isinstance(outcome, Exception):
                raise _explain_error(outcome) from outcome
            number, failed, payload = outcome
            if failed:
                raise decode_failure(payload)
            yield number, payload

    def stop(self) -> None:
        """End the job. Spark is told more than once: what has not reached it yet, it cannot interrupt."""
        # After the last row Spark still says goodbye: that is quicker than interrupting it.
        self._thread.join(_SECONDS_TO_SAY_GOODBYE)
        deadline = time.monotonic() + _SECONDS_TO_INTERRUPT
        while self._thread.is_alive() and time.monotonic() < deadline:
            self._tags.interrupt(self._tag)
            self._thread.join(_SECONDS_BETWEEN_INTERRUPTS)
        if self._thread.is_alive():
            _logger.warning("Spark still works on the job, %d s after it was asked to stop.", _SECONDS_TO_INTERRUPT)

    def _run(self) -> None:
        try:
            self._tags.add(self._tag)
            for outcome in self._work(self._tag):
                self._outcomes.put(outcome)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is raised in the caller's thread)
            self._outcomes.put(error)
        else:
            self._outcomes.put(None)


def _one_partition_each(spark: SparkSession, tasks: Sequence[bytes]) -> DataFrame:
    # The tasks are rows, not literals of an expression: each Spark task then carries its own bytes and no other's.
    # Both settings are needed for exactly one row to a partition, the second for a classic session.
    spark.conf.set("spark.sql.leafNodeDefaultParallelism", len(tasks))
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1)
    numbers = pa.array(range(len(tasks)), pa.int64())
    return spark.createDataFrame(pa.table({"number": numbers, "task": pa.array(tasks, pa.binary())}))


def _explain_error(error: Exception) -> Exception:
    from pyspark.errors import PySparkException

    if isinstance(error, PySparkException):
        return ClientFailed(f"Spark failed: {_essence(error)}")
    if type(error).__module__.split(".")[0] in ("grpc", "py4j"):
        return ClientFailed(f"The connection to Spark failed: {_essence(error)}")
    return error


def _essence(error: Exception) -> str:
    text = "\n".join(without_stack(plain_reason(str(error)))[:20])
    return text[:_LONGEST_MESSAGE] or type(error).__name__
