"""How the results of a Spark job come back, and how one learns what is done before they do.

Each is made for one job. `fetch` is called in the thread that runs it, `done` by who waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, cast

from mason.pipeline.sql.query import collect_rows
from mason.pipeline.work.tasks import BEAT_SECONDS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession


class Results(Protocol):
    """The results of one job."""

    def fetch(self, frame: DataFrame, tag: str, tasks: int) -> Iterable[Any]:
        """Run the job and give its rows."""

    def fetch_rows(self, frame: DataFrame, tag: str, most_bytes: int | None) -> pa.Table:
        """Run the job and give its rows as they are.

        Raises:
            ResultTooLarge: they have more bytes than that.
        """

    def count_done(self) -> int | None:
        """Return how many tasks are done as far as Spark tells; nothing where it does not."""


class Streamed:
    """Results over Connect, as the server sends them.

    That is in the order of the tasks: a slow first one holds back all others. The server's messages about its progress
    come in between.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._thread = 0
        self._done: int | None = None

    def fetch(self, frame: DataFrame, tag: str, tasks: int) -> Iterable[Any]:
        with self._noting(tasks > 1):  # a single task has no progress, and the setting takes a moment
            yield from frame.toLocalIterator()

    def fetch_rows(self, frame: DataFrame, tag: str, most_bytes: int | None) -> pa.Table:
        with self._noting(often=False):
            return frame.toArrow() if most_bytes is None else self._collect_batches(frame, most_bytes)

    def _collect_batches(self, frame: DataFrame, most_bytes: int) -> pa.Table:
        """The rows as `toArrow` gives them, looked at batch by batch as they come."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        schema = to_arrow_schema(frame.schema, error_on_duplicated_field_names_in_struct=True)
        client, plan = cast(Any, self._spark).client, cast(Any, frame)._plan
        coming = client.to_table_as_iterator(plan.to_proto(client), plan.observations)
        tables = (each.cast(schema) for each in coming if isinstance(each, pa.Table))
        return collect_rows(tables, schema, most_bytes)

    @contextmanager
    def _noting(self, often: bool) -> Iterator[None]:
        self._thread = threading.get_ident()
        if often:
            with suppress(Exception):  # a server that does not allow it tells every two seconds
                self._spark.conf.set("spark.connect.progress.reportInterval", f"{BEAT_SECONDS * 1000:.0f}ms")
        self._spark.registerProgressHandler(self._note)
        try:
            yield
        finally:
            self._spark.removeProgressHandler(self._note)

    def count_done(self) -> int | None:
        return self._done

    def _note(self, stages: Iterable[Any] | None, **_: object) -> None:
        # A handler hears of every job of its session; those of other jobs are called in other threads.
        if threading.get_ident() == self._thread:
            self._done = sum(stage.num_completed_tasks for stage in stages or ())


class Collected:
    """Results of a classic session, all at once: its `toLocalIterator` would run one task after the other."""

    def __init__(self, spark: SparkSession) -> None:
        self._progress = JobProgress(spark.sparkContext)

    def fetch(self, frame: DataFrame, tag: str, tasks: int) -> Iterable[Any]:
        self._progress.follow(tag)
        return frame.collect()

    def fetch_rows(self, frame: DataFrame, tag: str, most_bytes: int | None) -> pa.Table:
        self._progress.follow(tag)
        rows = frame.toArrow()  # all at once: what a driver collects is bounded by its own memory
        return collect_rows([rows], rows.schema, most_bytes)

    def count_done(self) -> int | None:
        return self._progress.count_done()


class JobProgress:
    """How many tasks of a job are done, as the Spark of this process counts them."""

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self._group = ""

    def follow(self, group: str) -> None:
        """Count the tasks of what this thread runs from now on."""
        self._context.setJobGroup(group, "mason")
        self._group = group

    def count_done(self) -> int | None:
        with suppress(Exception):  # of a Spark that is gone the job's own thread tells
            tracker = self._context.statusTracker()
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self._group)]
            stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
            return sum(stage.numCompletedTasks for stage in stages if stage)
        return None
