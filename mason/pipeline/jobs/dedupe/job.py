"""`table dedupe` as a job: what it is asked, what it would do, and what it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location
from mason.errors import BadPath, Unprocessable
from mason.pipeline.jobs.dedupe.find import TABLE, Found, Wanted, find_rows, order_columns, query_of_removed_rows
from mason.pipeline.jobs.dedupe.sink import NAME
from mason.pipeline.jobs.query.inputs import ReadyTable, TableInput, prepare_table
from mason.pipeline.jobs.table_output import StagedTable, TableOutput
from mason.pipeline.reading.request import choose_columns, refuse_own_names
from mason.pipeline.reading.scan import Scan, ScanResult, ScanWork, plan_scan, run_scan
from mason.pipeline.reading.tasks.sinks import SinkSpec
from mason.pipeline.sql.query import PLACES
from mason.pipeline.storage.scratch import scratch_folder
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.work.base import Outcome, Progress
from mason.pipeline.work.output_place import check_output, is_same_place, overlap
from mason.pipeline.work.record_parts import Column, describe_files, row_shares, where_given
from mason.pipeline.work.request import INPUT, OPTIONS, OUTPUT, JobRequest, output_named
from mason.pipeline.work.row_sums import LeftOut, RowSums, rows_lost
from mason.pipeline.work.tasks import TaskRunner
from mason.util.words import counted


class NotComparable(Unprocessable):
    """Raised when rows are to be compared by a column whose values cannot be. 422 · exit 1"""


@dataclass(frozen=True)
class DedupeOptions:
    """Which rows say the same, and which of them is kept; without keys whole rows are compared."""

    keys: Sequence[str] = ()
    order_by: Sequence[str] = ()
    keep: str = "first"


@dataclass(frozen=True, kw_only=True)
class DedupeJob(JobRequest):
    """Remove rows that say the same from a table, or write what is left to another."""

    type = "dedupe"
    path: Annotated[Location, INPUT]
    output: Annotated[Location, output_named("path")]
    removed: Annotated[Location | None, OUTPUT] = None
    """Where the rows that go are written, if anywhere."""
    options: Annotated[DedupeOptions, OPTIONS] = field(default_factory=DedupeOptions)
    foreign: str = Foreign.REFUSE

    @property
    def is_in_place(self) -> bool:
        """Whether the output is the table itself."""
        return is_same_place(self.path, self.output)


@dataclass(frozen=True)
class DedupeWork(ScanWork):
    """A dedupe that is planned."""

    job: DedupeJob
    scan: Scan
    wanted: Wanted

    @classmethod
    def plan(cls, job: Job) -> DedupeWork:
        """Look at the table.

        Raises:
            NoSuchColumn: a key, or a column to order by, is not there.
            NotComparable: a column cannot be compared.
            OwnName: a column is called as one that finds the rows.
            BadPath: the rows would have to be written where they are read, or where other ones are written.
        """
        dedupe = DedupeJob.of(job)
        _check_places(dedupe)
        scan = plan_scan(dedupe.path)
        if scan.commit is None and dedupe.is_in_place:
            raise BadPath(
                f"{dedupe.path} is not a table of Mason's, so it stays as it is.", hint="Give an output_path."
            )
        refuse_own_names(scan.schema, PLACES)
        options = dedupe.options
        order = order_columns(options.order_by, scan.schema)
        keys = choose_columns(scan.schema, options.keys).names
        _check_comparable(scan, [*keys, *(each.name for each in order)])
        needed = list(dict.fromkeys([*keys, *(each.name for each in order)]))
        return cls(
            dedupe, scan, Wanted(query_of_removed_rows(keys, order, keep_last=options.keep == "last"), keys, needed)
        )

    @property
    def amounts(self) -> Sequence[str]:
        return [counted(len(self.scan.plan.files), "file"), f"{self.scan.input_bytes:,} bytes"]

    @property
    def output_columns(self) -> Sequence[Column]:
        return list(self.scan.schema)

    def to_dict(self) -> dict[str, Any]:
        options = self.job.options
        return {
            **self.scan.to_dict(),
            "Output": str(self.job.output),
            "Keys": list(self.wanted.keys),
            "OrderBy": list(options.order_by),
            "Keep": options.keep,
            **where_given({"Removed": str(self.job.removed or "")}),
        }

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> DedupeResult:
        """Find the rows that go, then write those that stay.

        Raises:
            RowsLost: rows in are not rows out and removed ones.
            Conflict: another job committed to an output meanwhile.
        """
        job = self.job
        output = TableOutput.of(job.output, job.foreign, [self.scan])
        removed = TableOutput.of(job.removed, job.foreign) if job.removed else None
        with ExitStack() as stack:
            ready = prepare_table(TableInput(TABLE, self.scan), runner, job_id, progress, stack, near=job.output)
            scratch = stack.enter_context(scratch_folder(job.output))
            going = find_rows(runner, ready, self.wanted, job_id, scratch)
            staged = stack.enter_context(output.stage(job_id))
            aside = stack.enter_context(removed.stage(job_id)) if removed else None
            # A table that is written anew keeps its folders.
            keys = ready.scan.commit.partition_keys if ready.scan.commit else ()
            sink = _sink(ready, going, aside.location if aside else None, keys)
            done = run_scan(ready.scan, sink, runner, job_id, progress, staged.location)
            pieces = staged.take(done.files)
            files = staged.unite(runner, pieces) if keys else pieces
            sums = _check_sums(done, sum(each.rows for each in files), going.rows)
            details = {"dedupe": asdict(job.options), "input": str(job.path)}
            if aside:
                _commit_removed(aside, done, details)
            commit = staged.commit(files, sums, done.scan.schema, partition_keys=keys, details=details)
            return DedupeResult(self, ready, commit, sums)


@dataclass(frozen=True)
class DedupeResult(Outcome):
    """What a dedupe did."""

    work: DedupeWork
    read: ReadyTable
    commit: CommitRecord
    sums: RowSums

    @property
    def rows_in(self) -> int:
        return self.sums.rows_in

    @property
    def removed(self) -> int:
        return self.rows_in - self.commit.rows

    @property
    def summary(self) -> str:
        rows, left = counted(self.rows_in, "row"), counted(self.commit.rows, "row")
        return f"{rows} in, {left} out, {self.removed:,} removed: {self.work.job.output}"

    @property
    def warnings(self) -> Iterable[str]:
        return self.read.warnings

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.work.to_dict(),
            **self.sums.to_dict(),
            "Commit": self.commit.id,
            **describe_files(self.commit),
        }

    def picture(self, width: int) -> list[str]:
        """Return how many rows stayed, and how many went."""
        return row_shares({"kept": self.commit.rows, "removed": self.removed}, width)


def _check_places(dedupe: DedupeJob) -> None:
    """See that no table lies inside another one; the output may be the table itself."""
    check_output([dedupe.path], dedupe.output, dedupe.foreign)
    if not dedupe.removed:
        return
    for table in (dedupe.path, dedupe.output):
        if overlap(table, dedupe.removed):
            raise BadPath(f"The removed rows cannot go to {dedupe.removed}: {table} and they must be apart.")
    check_output([], dedupe.removed, dedupe.foreign)


def _sink(ready: ReadyTable, going: Found, removed: Location | None, keys: Sequence[str]) -> SinkSpec:
    aside = vars(removed) if removed else None
    options = {"places": going.places(ready), "storage": going.storage, "removed": aside, "partition_keys": list(keys)}
    return SinkSpec(NAME, options, keys)


def _count_removed(done: ScanResult) -> int:
    return sum(each["removed"] for each in done.payloads)


def _check_sums(done: ScanResult, written: int, going: int) -> RowSums:
    if _count_removed(done) != going:
        raise rows_lost(f"{going:,} rows were to be removed, and {_count_removed(done):,} were.")
    sums = RowSums(done.rows_in, written, [LeftOut("Removed", going)], "rows were read")
    sums.check()
    return sums


def _commit_removed(aside: StagedTable, done: ScanResult, details: Mapping[str, Any]) -> None:
    files = aside.take(path for each in done.payloads for path in each["removed_files"])
    sums = RowSums(_count_removed(done), sum(each.rows for each in files), came="rows were removed")
    aside.commit(files, sums, done.scan.schema, details=details)


def _check_comparable(scan: Scan, columns: Sequence[str]) -> None:
    schema = scan.schema
    for name in columns:
        if "map<" in str(schema.field(name).type):
            raise NotComparable(f'Column "{name}" holds maps, and maps cannot be compared.', hint="Give other keys.")
