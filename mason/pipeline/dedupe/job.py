"""`table dedupe` as a job: what it is asked, what it would do, and what it did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mason.engines.execution.models.job import Job
from mason.errors import BadPath, Unprocessable
from mason.pipeline.columns import chosen_columns, refuse_own_names
from mason.pipeline.dedupe.find import Found, Wanted, find_rows
from mason.pipeline.dedupe.order import TABLE, order_columns, removed_rows
from mason.pipeline.dedupe.sink import NAME
from mason.pipeline.evidence_json import encode_schema
from mason.pipeline.foreign_files import Foreign
from mason.pipeline.merge.carried import carried_sources, carry_quarantine
from mason.pipeline.merge.compact import united
from mason.pipeline.merge.outcome import RowsLost
from mason.pipeline.merge.staging import committed_file, remove_strangers
from mason.pipeline.output_place import check_output, is_same_place, overlap
from mason.pipeline.row_shares import row_shares
from mason.pipeline.scan import Scan, ScanResult, plan_scan, run_scan
from mason.pipeline.scratch import scratch_folder
from mason.pipeline.sinks import SinkSpec
from mason.pipeline.sql.inputs import ReadyTable, TableInput, made_ready
from mason.pipeline.sql.query import PLACES
from mason.pipeline.storage_address import open_filesystem
from mason.pipeline.table_commit import CommitRecord, CommittedFile, open_table
from mason.pipeline.tasks import TaskRunner
from mason.pipeline.work import Progress
from mason.util.words import counted


class NotComparable(Unprocessable):
    """422 · exit 1"""


@dataclass(frozen=True)
class DedupeOptions:
    """Which rows say the same, and which of them is kept; without keys whole rows are compared."""

    keys: Sequence[str] = ()
    order_by: Sequence[str] = ()
    keep: str = "first"


@dataclass(frozen=True)
class DedupeJob:
    """Remove rows that say the same from a table, or write what is left to another."""

    path: str
    output: str
    removed: str = ""
    """Where the rows that go are written, if anywhere."""
    storage: str = "file:///"
    options: DedupeOptions = field(default_factory=DedupeOptions)
    foreign: str = Foreign.REFUSE

    @property
    def is_in_place(self) -> bool:
        """Whether the output is the table itself."""
        return is_same_place(self.path, self.output)

    def to_job(self) -> Job:
        """Return the job as an engine takes it."""
        inputs = {"path": self.path, "storage": self.storage}
        options = {**asdict(self.options), "foreign": str(self.foreign)}
        return Job("dedupe", inputs, {"path": self.output, "removed": self.removed}, options)

    @classmethod
    def of(cls, job: Job) -> DedupeJob:
        """Return the dedupe that a job describes."""
        outputs = (job.outputs["path"], job.outputs["removed"])
        options = dict(job.options)
        foreign = options.pop("foreign", Foreign.REFUSE)
        return cls(job.inputs["path"], *outputs, job.inputs["storage"], DedupeOptions(**options), foreign)


@dataclass(frozen=True)
class DedupeWork:
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
        scan = plan_scan(dedupe.storage, dedupe.path)
        if scan.commit is None and dedupe.is_in_place:
            raise BadPath(f"{dedupe.path} is no table of Mason's, so it stays as it is.", hint="Give an output_path.")
        refuse_own_names(scan.schema, PLACES)
        options = dedupe.options
        order = order_columns(options.order_by, scan.schema)
        keys = chosen_columns(scan.schema, options.keys).names
        _check_comparable(scan, [*keys, *(each.name for each in order)])
        needed = list(dict.fromkeys([*keys, *(each.name for each in order)]))
        return cls(dedupe, scan, Wanted(removed_rows(keys, order, keep_last=options.keep == "last"), keys, needed))

    @property
    def summary(self) -> str:
        files = counted(len(self.scan.plan.files), "file")
        return f"Planned {files}, {self.scan.input_bytes:,} bytes."

    @property
    def warnings(self) -> Iterable[str]:
        return self.scan.warnings

    @property
    def task_bytes(self) -> Sequence[int]:
        return self.scan.task_bytes

    def to_dict(self) -> dict[str, Any]:
        options = self.job.options
        told = {
            **self.scan.to_dict(),
            "Output": self.job.output,
            "Keys": list(self.wanted.keys),
            "OrderBy": list(options.order_by),
            "Keep": options.keep,
        }
        return {**told, "Removed": self.job.removed} if self.job.removed else told

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> DedupeResult:
        """Find the rows that go, then write those that stay.

        Raises:
            RowsLost: rows in are not rows out and removed ones.
            Conflict: another job committed to an output meanwhile.
        """
        storage = self.job.storage
        table = open_table(storage, self.job.output, self.job.foreign)
        expected = self.scan.commit if self.job.is_in_place else table.current()
        with ExitStack() as stack:
            ready = made_ready(TableInput(TABLE, self.scan), runner, job_id, progress, stack)
            scratch = stack.enter_context(scratch_folder(storage, self.job.output))
            going = find_rows(runner, ready, self.wanted, job_id, scratch)
            staging = stack.enter_context(table.stage(job_id))
            removed = (
                stack.enter_context(open_table(storage, self.job.removed).stage(job_id)) if self.job.removed else ""
            )
            sink = _sink(ready, going, removed, self._partition_keys(ready))
            done = run_scan(ready.scan, sink, runner, job_id, progress, staging)
            files = self._written(runner, staging, job_id, done, sink.partition_keys)
            _check_sums(done, sum(each.rows for each in files), going.rows)
            if removed:
                self._publish_removed(removed, job_id, done)
            record = self._record(job_id, files, done, sink.partition_keys)
            if self.job.is_in_place:
                carry_quarantine(open_filesystem(storage), self.job.path, staging)
                record = replace(record, details={**record.details, "sources": carried_sources(table)})
            commit = table.publish(staging, record, expected=expected)
            return DedupeResult(self, ready, commit, done.rows_in, going.rows)

    def _partition_keys(self, ready: ReadyTable) -> Sequence[str]:
        """A table that is written anew keeps its folders."""
        return ready.scan.commit.partition_keys if ready.scan.commit else ()

    def _written(
        self, runner: TaskRunner, staging: str, job_id: str, done: ScanResult, keys: Sequence[str]
    ) -> Sequence[CommittedFile]:
        filesystem = open_filesystem(self.job.storage)
        files = [committed_file(filesystem, staging, path) for path in done.files]
        remove_strangers(filesystem, staging, files)
        return united(runner, self.job.storage, staging, job_id, files) if keys else files

    def _publish_removed(self, staging: str, job_id: str, done: ScanResult) -> None:
        filesystem = open_filesystem(self.job.storage)
        table = open_table(self.job.storage, self.job.removed, self.job.foreign)
        paths = [path for each in done.payloads for path in each["removed_files"]]
        files = [committed_file(filesystem, staging, path) for path in paths]
        remove_strangers(filesystem, staging, files)
        rows = sum(each.rows for each in files)
        if rows != _removed(done):
            raise RowsLost(f"{_removed(done):,} rows were removed, and {rows:,} of them written to {self.job.removed}.")
        table.publish(staging, self._record(job_id, files, done, ()), expected=table.current())

    def _record(
        self, job_id: str, files: Sequence[CommittedFile], done: ScanResult, keys: Sequence[str]
    ) -> CommitRecord:
        schema = encode_schema(done.scan.schema)
        details = {"dedupe": asdict(self.job.options), "input": self.job.path}
        rows = sum(each.rows for each in files)
        return CommitRecord(job_id, 0, None, job_id, files, rows, 0, schema, partition_keys=list(keys), details=details)


@dataclass(frozen=True)
class DedupeResult:
    """What a dedupe did."""

    work: DedupeWork
    read: ReadyTable
    commit: CommitRecord
    rows_in: int
    removed: int

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
            "RowsIn": self.rows_in,
            "RowsOut": self.commit.rows,
            "RowsRemoved": self.removed,
            "Commit": self.commit.id,
            "Files": [each.path for each in self.commit.files],
            "Bytes": sum(each.bytes for each in self.commit.files),
        }

    def picture(self, width: int) -> list[str]:
        """Return how many rows stayed, and how many went."""
        return row_shares({"kept": self.commit.rows, "removed": self.removed}, width)


def _check_places(dedupe: DedupeJob) -> None:
    """See that no table lies inside another one; the output may be the table itself."""
    check_output(dedupe.storage, [dedupe.path], dedupe.output, dedupe.foreign)
    for table in (dedupe.path, dedupe.output) if dedupe.removed else ():
        if overlap(table, dedupe.removed):
            raise BadPath(f"The removed rows cannot go to {dedupe.removed}: {table} and they must be apart.")
    if dedupe.removed:
        check_output(dedupe.storage, [], dedupe.removed, dedupe.foreign)


def _sink(ready: ReadyTable, going: Found, removed: str, keys: Sequence[str]) -> SinkSpec:
    options = {"places": going.places(ready), "removed": removed, "partition_keys": list(keys)}
    return SinkSpec(NAME, options, keys)


def _removed(done: ScanResult) -> int:
    return sum(each["removed"] for each in done.payloads)


def _check_sums(done: ScanResult, written: int, going: int) -> None:
    if _removed(done) != going or done.rows_in != written + going:
        raise RowsLost(
            f"{done.rows_in:,} rows were read, {going:,} were to be removed and {_removed(done):,} were, "
            f"and {written:,} were written.",
            hint="Nothing was committed. This is a defect of Mason: please report it.",
        )


def _check_comparable(scan: Scan, columns: Sequence[str]) -> None:
    schema = scan.schema
    for name in columns:
        if "map<" in str(schema.field(name).type):
            raise NotComparable(f'Column "{name}" holds maps, and maps cannot be compared.', hint="Give other keys.")
