"""Summarizing as a job of an engine: scan, merge what the tasks found out, say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mason.engines.execution.models.job import Job
from mason.errors import Unprocessable
from mason.pipeline.jobs.summary.job import SummaryJob
from mason.pipeline.jobs.summary.leaves import Leaf, leaves_of
from mason.pipeline.jobs.summary.output import check_place, commit_summary
from mason.pipeline.jobs.summary.page import page
from mason.pipeline.jobs.summary.picture import picture
from mason.pipeline.jobs.summary.sink import SINK
from mason.pipeline.jobs.summary.sketches.columns import ColumnSketch, ListSketch, column_sketch, column_sketch_of
from mason.pipeline.jobs.summary.sketches.sketch import Sizes
from mason.pipeline.jobs.summary.summaries import ColumnSummary, summarize
from mason.pipeline.jobs.table_output import TableOutput
from mason.pipeline.reading.scan import Scan, ScanResult, ScanWork, plan_scan, run_scan
from mason.pipeline.reading.tasks.sinks import SinkSpec
from mason.pipeline.storage.side_files import check_side_file, write_side_file
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.work.base import Outcome, Progress
from mason.pipeline.work.record_parts import describe_columns, where_given
from mason.pipeline.work.row_sums import RowsLost
from mason.pipeline.work.tasks import TaskRunner
from mason.util.json_text import json_value
from mason.util.words import counted


class NoSuchFolder(Unprocessable):
    """Raised when the folder for the page of a summary does not exist. 422 · exit 1"""


@dataclass(frozen=True, kw_only=True)
class Summary(Outcome):
    """What a table holds, column by column."""

    job: SummaryJob
    rows_in: int
    rows: int
    quarantined: int
    columns: Sequence[ColumnSummary]
    commit: CommitRecord | None = None

    @property
    def summary(self) -> str:
        said = f"{counted(len(self.columns), 'column')} of {counted(self.rows, 'row')} summarized."
        written = [str(place) for place in (self.job.output, self.job.html) if place]
        return f"{said} Written: {', '.join(written)}" if written else said

    @property
    def warnings(self) -> Iterable[str]:
        if self.quarantined:
            yield f"{counted(self.quarantined, 'record')} did not fit: left out of every figure."

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "Path": str(self.job.path),
            "RowsIn": self.rows_in,
            "Rows": self.rows,
            "RowsQuarantined": self.quarantined,
        }
        if self.commit:
            document |= {"Output": str(self.job.output), "Commit": self.commit.id}
        return {
            **document,
            **where_given({"Html": str(self.job.html or "")}),
            "Columns": json_value([each.to_dict() for each in self.columns]),
        }

    def picture(self, width: int) -> list[str]:
        """Return a few lines for every column."""
        return picture(self.columns, self.rows, width)


@dataclass(frozen=True)
class SummaryWork(ScanWork):
    """A summary that is planned."""

    job: SummaryJob
    scan: Scan

    @classmethod
    def plan(cls, job: Job) -> SummaryWork:
        asked = SummaryJob.of(job)
        if asked.output:
            check_place(asked.path, asked.output, asked.foreign)
        if asked.html:
            folder = Path(asked.html.path).parent
            if not folder.is_dir():
                raise NoSuchFolder(f"There is no folder {folder} for the page.", hint="Make it first.")
            check_side_file(asked.html.path, overwrite=asked.overwrite)
        return cls(asked, plan_scan(asked.path, asked.columns))

    @property
    def amounts(self) -> Sequence[str]:
        columns, tasks = counted(len(self._leaves), "column"), counted(len(self.task_bytes), "task")
        return [columns, f"{self.scan.input_bytes:,} bytes", tasks]

    def to_dict(self) -> dict[str, Any]:
        sizes = self._sizes
        return {
            **self.scan.to_dict(),
            "Columns": describe_columns(self._leaves),
            "ExactUpTo": None if sizes.exact else sizes.values,
            **where_given({"Output": str(self.job.output or ""), "Html": str(self.job.html or "")}),
        }

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> Summary:
        """Summarize.

        Raises:
            RowsLost: a column does not have a value or a null for every row that was read.
            Conflict: another job committed to the output meanwhile.
            AlreadyExists: somebody else made the page meanwhile.
        """
        job = self.job
        output = TableOutput.of(job.output, job.foreign) if job.output else None
        sizes = self._sizes
        done = run_scan(self.scan, SinkSpec(SINK, asdict(sizes)), runner, job_id, progress)
        columns = _summaries(done, sizes, self.job.histogram)
        commit = commit_summary(output, job_id, columns) if output else None
        summary = Summary(
            job=self.job,
            rows_in=done.rows_in,
            rows=done.rows,
            quarantined=done.quarantined,
            columns=columns,
            commit=commit,
        )
        if self.job.html:
            content = page(str(self.job.path), summary.rows, columns).encode("utf-8", "replace")
            write_side_file(self.job.html.path, content, overwrite=self.job.overwrite)
        return summary

    @property
    def _leaves(self) -> list[Leaf]:
        return leaves_of(self.scan.schema)

    @property
    def _sizes(self) -> Sizes:
        return Sizes.of(len(self._leaves), exact=self.job.exact)


def _summaries(done: ScanResult, sizes: Sizes, bins: int) -> list[ColumnSummary]:
    leaves = leaves_of(done.scan.schema)
    sketches = _merge_sketches(leaves, sizes, done.payloads)
    _check_rows(leaves, sketches, done)
    return [summarize(leaf, sketch, bins) for leaf, sketch in zip(leaves, sketches, strict=True)]


def _merge_sketches(leaves: Sequence[Leaf], sizes: Sizes, payloads: Sequence[Mapping[str, Any]]) -> list[ColumnSketch]:
    merged = [column_sketch(leaf.type, sizes) for leaf in leaves]
    for payload in payloads:
        for leaf, sketch, column in zip(leaves, merged, payload["columns"], strict=True):
            sketch.merge(column_sketch_of(leaf.type, sizes, column))
    return merged


def _check_rows(leaves: Sequence[Leaf], sketches: Sequence[ColumnSketch], done: ScanResult) -> None:
    """Every column has a value or a null for every row, and what lies within a list for every element."""
    expected = {("", ""): done.rows}
    for leaf, sketch in zip(leaves, sketches, strict=True):
        rows = expected[leaf.within and leaf.column, leaf.within]
        if sketch.rows != rows:
            raise RowsLost(f'Of "{leaf.name}" there are {rows:,}, but {sketch.rows:,} were summarized.')
        if isinstance(sketch, ListSketch):
            expected[leaf.column, leaf.name] = sketch.moments.total or 0
