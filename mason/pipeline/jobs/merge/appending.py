"""An append that was not the first to commit: what it has written follows the newest version, or is planned again."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from mason.pipeline.jobs.merge.job import Mode
from mason.pipeline.jobs.merge.plan import MergePlan
from mason.pipeline.jobs.merge.sources_merged import Sources
from mason.pipeline.tables.commit import AGAIN, ChangedMeanwhile, CommitRecord
from mason.pipeline.types.evidence_json import decode_schema

P = TypeVar("P")
R = TypeVar("R")

_LOG = logging.getLogger("mason.pipeline")
_SHORTEST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0


class Patience:
    """How long a job that adds to a table goes on after others were faster: so many seconds from the first time on."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end: float | None = None
        self._times = 0

    def pause(self, lost: ChangedMeanwhile) -> None:
        """Wait a little before the next attempt, each time longer, and by chance: those who lost together do not meet.

        Raises:
            ChangedMeanwhile: the time is over.
        """
        now = time.monotonic()
        self._end = self._end or now + self._seconds
        self._times += 1
        if now >= self._end:
            tried = f"Others were faster for {self._seconds:g} seconds (commit_timeout)."
            raise ChangedMeanwhile(lost.path, lost.current, hint=f"{tried} {AGAIN}") from lost
        longest = min(_SHORTEST_PAUSE * 2**self._times, _LONGEST_PAUSE)
        time.sleep(min(random.uniform(0, longest), self._end - now))


def after_others(plan: P, run: Callable[[P], R], plan_again: Callable[[], P], patience: Patience) -> R:
    """Run a plan; where others have changed the table meanwhile it is planned for what is there then, and run again.

    Raises:
        ChangedMeanwhile: others were faster as long as there was patience.
    """
    while True:
        try:
            return run(plan)
        except ChangedMeanwhile as error:
            patience.pause(error)
            _LOG.info("%s was changed by another job meanwhile: it is planned anew.", error.path)
            plan = plan_again()


def may_follow(plan: MergePlan, newest: CommitRecord, since: Iterable[CommitRecord]) -> bool:
    """Say whether what was written for a plan can be added as it is to the newest of the commits that came since.

    It can if a plan for that version would be the same one: the table has the same columns and partitions, and what
    the plan says of files that are in the table already, or not yet, still holds.
    """
    return (
        plan.job.options.mode is Mode.APPEND
        and not plan.rewrites_base
        and not plan.adopted  # another job may have adopted the same files: their rows would be there twice
        and _has_same_shape(plan, newest)
        and _knows_what_is_merged(plan, since)
    )


def _has_same_shape(plan: MergePlan, newest: CommitRecord) -> bool:
    schema = decode_schema(newest.schema)
    same_columns = schema == plan.schema or (plan.base is not None and schema == plan.base.schema)
    return same_columns and list(newest.partition_keys) == list(plan.partition_keys) and newest.format == "parquet"


def _knows_what_is_merged(plan: MergePlan, since: Iterable[CommitRecord]) -> bool:
    if not plan.job.options.incremental and plan.work is None:
        return True  # it adds its files whatever is in the table
    commits = list(since)
    if plan.merged_before and not all(each.adds for each in commits):
        return False  # what was left out for being in the table may not be there any more
    if plan.job.options.incremental:
        return Sources.of(commits).known.keys().isdisjoint(each.file.path for each in plan.files)
    return not any(plan.work and plan.work.was_attempted_by(each) for each in commits)
