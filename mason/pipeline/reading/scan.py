"""Reads every record of a table, or of the files at a path, fitted to one schema, and hands the rows to sinks.

The tasks run in rounds until every value fits. What becomes
of the rows is the affair of the sink, which a job names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from mason.engines.storage.models.location import Location
from mason.pipeline.reading.plan.read_plan import ReadPlan
from mason.pipeline.reading.request import ReadOptions, choose_columns
from mason.pipeline.reading.tasks.rounds import Rounds
from mason.pipeline.reading.tasks.sinks import SinkSpec
from mason.pipeline.reading.tasks.task import TaskResult
from mason.pipeline.reading.view import view_table
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.work.base import Progress, Work
from mason.pipeline.work.record_parts import describe_columns
from mason.pipeline.work.row_sums import RowsLost
from mason.pipeline.work.tasks import TaskRunner


@dataclass(frozen=True)
class Scan:
    """What is read, and by which schema."""

    plan: ReadPlan
    columns: Sequence[str] = ()
    """The columns that were asked for, in this order; none stands for all."""
    commit: CommitRecord | None = None
    """The version of the table that is read; none for files that are no table of Mason's."""

    @property
    def location(self) -> Location:
        return self.plan.request.location

    @property
    def schema(self) -> pa.Schema:
        return choose_columns(self.plan.schema, self.columns)

    @property
    def rows(self) -> int | None:
        """How many rows there are, where that is known before they are read."""
        return self.commit.rows if self.commit else self.plan.known_rows

    @property
    def input_bytes(self) -> int:
        return self.plan.input_bytes

    @property
    def warnings(self) -> Iterable[str]:
        return [*map(str, self.plan.conflicts), *self.plan.warnings]

    @property
    def task_bytes(self) -> Sequence[int]:
        return self.plan.task_bytes

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "Inputs": [each.file.path for each in self.plan.files],
            "InputBytes": self.input_bytes,
            "Columns": describe_columns(self.schema),
            "Tasks": len(self.task_bytes),
        }
        if self.rows is not None:
            document["RowsIn"] = self.rows
        if self.commit:
            document["InputCommit"] = self.commit.id
        return document


class ScanWork(Work):
    """A job that reads the rows of one table, or of the files at a path, in one pass."""

    scan: Scan

    @property
    def warnings(self) -> Iterable[str]:
        return self.scan.warnings

    @property
    def task_bytes(self) -> Sequence[int]:
        return self.scan.task_bytes


@dataclass(frozen=True)
class ScanResult:
    """What was read, and what the sinks made of it."""

    scan: Scan
    """Its schema may be wider than planned."""
    results: Sequence[TaskResult]
    """In the order of the rows."""

    @property
    def payloads(self) -> Sequence[Mapping[str, Any]]:
        """What the sinks have to say, in the order of the rows."""
        return [each.payload for each in self.results]

    @property
    def files(self) -> Sequence[str]:
        """The files that count, in the order of the rows."""
        return [path for each in self.results for path in each.files]

    @property
    def rows_in(self) -> int:
        return sum(each.records for each in self.results)

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.results)

    @property
    def quarantined(self) -> int:
        return sum(each.quarantined for each in self.results)


def plan_scan(
    location: Location,
    columns: Sequence[str] = (),
    options: ReadOptions | None = None,
    commit: CommitRecord | None = None,
) -> Scan:
    """Look at a table, through the commit that is given, or its newest, or at the files of a place.

    Raises:
        PathNotFound, NoData, PlanRefused: as a merge of it would.
        NoSuchColumn: a column that was asked for is not there.
    """
    view = view_table(location, options, commit)
    choose_columns(view.schema, columns)
    return Scan(view.plan, tuple(dict.fromkeys(columns)), view.commit)


def run_scan(
    scan: Scan, sink: SinkSpec, runner: TaskRunner, job_id: str, progress: Progress, staging: Location | None = None
) -> ScanResult:
    """Read all that the scan covers.

    Raises:
        RowsLost: the sinks did not get every record that was not set aside.
        UnreadableFile: a file cannot be read, or changed after the plan was made.
    """
    rounds = Rounds(runner=runner, sink=sink, job_id=job_id, progress=progress, staging=staging, columns=scan.columns)
    plan, results, _ = rounds.run(scan.plan)
    done = ScanResult(replace(scan, plan=plan), [results[number] for number in sorted(results)])
    if done.rows_in != done.rows + done.quarantined:
        raise RowsLost(
            f"{done.rows_in:,} records were read, but {done.rows:,} taken and {done.quarantined:,} set aside."
        )
    if scan.commit and done.rows_in != scan.commit.rows:
        raise RowsLost(f"The table has {scan.commit.rows:,} rows, and {done.rows_in:,} were read.")
    return done
