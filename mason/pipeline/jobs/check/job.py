"""What a check of a table is asked to do, and what it found: counts, and the rows that fail as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.check.checks import Check
from mason.pipeline.jobs.check.sink import schema_of_failing_rows
from mason.pipeline.jobs.check.verdicts import CheckResult, Totals
from mason.pipeline.jobs.summary.value_text import render_value
from mason.pipeline.jobs.table_output import StagedTable
from mason.pipeline.reading.scan import ScanResult
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.work.base import Outcome
from mason.pipeline.work.request import INPUT, JobRequest, output_named
from mason.pipeline.work.row_sums import RowSums
from mason.util.text_table import clip_text
from mason.util.words import counted

SAMPLES = 5


@dataclass(frozen=True, kw_only=True)
class CheckJob(JobRequest):
    """Hold a table, or the files at a path, against checks."""

    type = "check"
    path: Annotated[Location, INPUT]
    checks: Sequence[Check]
    references: Annotated[Mapping[str, Location], INPUT] = field(default_factory=dict)
    """The tables that foreign keys refer to, by what the checks call them."""
    failures: Annotated[Location | None, output_named("path")] = None
    """The folder that becomes a table of the rows that fail, if there is to be one."""
    samples: int = SAMPLES
    """How many rows are shown that fail a check."""
    as_of: str = ""
    """The moment that ages are counted from; empty for now."""
    foreign: str = Foreign.REFUSE


_LONGEST_VALUE = 24


@dataclass(frozen=True, kw_only=True)
class CheckOutcome(Outcome):
    """Every check with its verdict. A row that fails several checks is one row that fails."""

    plan: Mapping[str, Any]
    verdicts: Sequence[CheckResult]
    rows_in: int
    quarantined: int
    totals: Totals
    failures: str
    commit: CommitRecord | None

    @property
    def summary(self) -> str:
        counts = Counter(each.status for each in self.verdicts)
        amounts = ", ".join(
            f"{counts[status]:,} {status}" for status in ("passed", "warned", "failed") if counts[status]
        )
        said = f"{counted(len(self.verdicts), 'check')} of {counted(self.totals.rows, 'row')}: {amounts}."
        return f"{said} {counted(self.totals.failed, 'row')} saved: {self.failures}" if self.commit else said

    @property
    def warnings(self) -> Iterable[str]:
        if self.quarantined:
            yield f"{counted(self.quarantined, 'record')} could not be read and were not checked; a merge keeps them."
        yield from (each.message for each in self.verdicts if each.status == "warned")

    @property
    def errors(self) -> Sequence[str]:
        """What makes the job fail although it did all its work."""
        return [each.message for each in self.verdicts if each.status == "failed"]

    @property
    def preview(self) -> Mapping[str, Any]:
        """Some rows that fail, which are shown and not kept."""
        return {"Checks": [_with_samples(each) for each in self.verdicts]}

    def to_dict(self) -> dict[str, Any]:
        document = {
            **self.plan,
            "RowsIn": self.rows_in,
            "RowsPassed": self.totals.rows - self.totals.failed,
            "RowsFailed": self.totals.failed,
            "RowsQuarantined": self.quarantined,
            "Checks": [each.to_dict() for each in self.verdicts],
        }
        return {**document, "Commit": self.commit.id} if self.commit else document

    def picture(self, width: int) -> list[str]:
        """Return a line for each check, and some of the rows below those that do not hold."""
        lines = []
        for each in self.verdicts:
            rest = "" if each.holds else f"  {each.message.removeprefix(each.check.name).lstrip(': ')}"
            lines.append(clip_text(f"{_MARKS[each.status]} {each.check.name}{rest}", width))
            lines += [clip_text(f"    {_row(sample)}", width) for sample in each.samples]
        return lines


_MARKS = {"passed": "✓", "warned": "!", "failed": "✗"}


def _with_samples(verdict: CheckResult) -> dict[str, Any]:
    document = verdict.to_dict()
    return {**document, "Samples": list(verdict.samples)} if verdict.samples else document


def _row(sample: Mapping[str, Any]) -> str:
    cells = ("null" if value is None else render_value(value, _LONGEST_VALUE) for value in sample.values())
    return ", ".join(f"{name} {value}" for name, value in zip(sample, cells, strict=True))


def commit_failures(staged: StagedTable, job: CheckJob, done: ScanResult, failed: int) -> CommitRecord:
    """Make the rows that were found to fail a table.

    Raises:
        RowsLost: there are not as many rows in the files as were found to fail.
        Conflict: another job committed to the table meanwhile.
    """
    files = staged.take(done.files)
    staged.take_quarantine(done.scan.plan, [])  # none of it: records that are no rows are for a merge to keep
    sums = RowSums(failed, sum(each.rows for each in files), came="rows fail")
    details = {"checks": [each.name for each in job.checks], "input": str(job.path)}
    return staged.commit(files, sums, schema_of_failing_rows(done.scan.schema), details=details)
