"""Runs the tasks of a job on the Spark of this process, as an RDD: SQL would have to be loaded and compiled first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pyspark.serializers import NoOpSerializer

from mason.clients.spark.job import JobTags, Outcome, SparkJob, all_once, job_events
from mason.clients.spark.results import JobProgress
from mason.clients.spark.worker import read_outcome, run_rows
from mason.pipeline.work.tasks import TaskEvent

if TYPE_CHECKING:
    from pyspark import SparkContext


def run_tasks(context: SparkContext, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
    """Yield the number and the result of every task, and beats; closing the iterator ends the Spark job."""
    progress = JobProgress(context)

    def work(tag: str) -> Iterator[Outcome]:
        progress.follow(tag)
        numbered = context.parallelize(list(enumerate(tasks)), len(tasks))
        outcomes = numbered.mapPartitions(partial(run_rows, kernel))
        # Plain bytes instead of pickles: nothing that a worker sends is unpickled here.
        outcomes._jrdd_deserializer = NoOpSerializer()
        for content in outcomes.collect():
            yield read_outcome(content)

    tags = JobTags(context.addJobTag, context.cancelJobsWithTag)
    yield from all_once(job_events(SparkJob(tags, work, progress)), len(tasks))
