"""Checking a table as a job of an engine: the rows that fail by their keys first, then one pass over the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location
from mason.errors import BadPath
from mason.pipeline.jobs.check.checks import BY_KEYS
from mason.pipeline.jobs.check.fitting import check_fit
from mason.pipeline.jobs.check.job import CheckJob, CheckOutcome, commit_failures
from mason.pipeline.jobs.check.keys import find_failing_keys
from mason.pipeline.jobs.check.sink import FAILED_CHECKS, SINK
from mason.pipeline.jobs.check.verdicts import Totals, verdicts
from mason.pipeline.jobs.dedupe.find import TABLE, Found
from mason.pipeline.jobs.query.inputs import ReadyTable, TableInput, prepare_table
from mason.pipeline.jobs.table_output import TableOutput
from mason.pipeline.reading.request import refuse_own_names
from mason.pipeline.reading.scan import Scan, ScanResult, ScanWork, plan_scan, run_scan
from mason.pipeline.reading.tasks.sinks import SinkSpec
from mason.pipeline.sql.query import PLACES
from mason.pipeline.storage.scratch import scratch_folder
from mason.pipeline.work.base import Progress
from mason.pipeline.work.output_place import check_output, overlap
from mason.pipeline.work.record_parts import where_given
from mason.pipeline.work.row_sums import RowsLost
from mason.pipeline.work.tasks import TaskRunner
from mason.util.words import counted


@dataclass(frozen=True)
class CheckWork(ScanWork):
    """A check of a table that is planned."""

    job: CheckJob
    scan: Scan
    references: Mapping[str, Scan]
    as_of: datetime

    @classmethod
    def plan(cls, job: Job) -> CheckWork:
        """Look at the table, and at those that its keys refer to.

        Raises:
            InvalidParameters: a check cannot be asked of it.
            OwnName: a column is called as one that finds rows by their keys.
            BadPath: the rows that fail would have to be written where they are read.
        """
        asked = CheckJob.of(job)
        if asked.failures:
            for place in (asked.path, *asked.references.values()):
                _check_apart(place, asked.failures)
            check_output([], asked.failures, asked.foreign)
        scan = plan_scan(asked.path)
        references = {name: plan_scan(place) for name, place in asked.references.items()}
        check_askable(asked, scan, references)
        return cls(asked, replace(scan, columns=_columns(asked, scan.schema)), references, _moment(asked.as_of))

    @property
    def amounts(self) -> Sequence[str]:
        checks, tasks = counted(len(self.job.checks), "check"), counted(len(self.task_bytes), "task")
        return [checks, f"{self.scan.input_bytes:,} bytes", tasks]

    @property
    def warnings(self) -> Iterable[str]:
        yield from super().warnings
        for each in self.references.values():
            yield from each.warnings

    def to_dict(self) -> dict[str, Any]:
        asked = {"Checks": [each.to_dict() for each in self.job.checks]}
        given = where_given({"References": list(self.references), "Failures": str(self.job.failures or "")})
        return {**self.scan.to_dict(), **asked, **given}

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> CheckOutcome:
        """Ask all checks.

        Raises:
            RowsLost: not every row was asked, or a row that fails is not where it was found.
            InvalidParameters: a value beyond the sample made a column another that a check cannot be asked of.
            Conflict: another job committed to the table of failures meanwhile.
        """
        job = self.job
        failures = TableOutput.of(job.failures, job.foreign) if job.failures else None
        with ExitStack() as stack:
            table, found = self._find_keys(runner, job_id, progress, stack)
            staged = stack.enter_context(failures.stage(job_id)) if failures else None
            scan = replace(table.scan, columns=self.scan.columns) if table else self.scan
            staging = staged.location if staged else None
            done = run_scan(scan, self._sink(table, found), runner, job_id, progress, staging)
            check_fit(job.checks, done.scan.plan.schema, self._schemas)
            totals = Totals.of(done.payloads, len(job.checks))
            _check_sums(done, totals, found)
            commit = commit_failures(staged, job, done, totals.failed) if staged else None
        left_out = table.left_out if table else 0
        results = verdicts(job.checks, totals, self.as_of, job.samples)
        return CheckOutcome(
            plan=self.to_dict(),
            verdicts=results,
            rows_in=done.rows_in + left_out,
            quarantined=done.quarantined + left_out,
            totals=totals,
            failures=str(job.failures or ""),
            commit=commit,
        )

    def _find_keys(
        self, runner: TaskRunner, job_id: str, progress: Progress, stack: ExitStack
    ) -> tuple[ReadyTable | None, Mapping[int, Found]]:
        """Find the rows that fail by their keys. They are found by their places, which only a table's files have."""
        by_keys = {number: each for number, each in enumerate(self.job.checks) if each.kind in BY_KEYS}
        if not by_keys:
            return None, {}
        whole = TableInput(TABLE, replace(self.scan, columns=()))
        table = prepare_table(whole, runner, job_id, progress, stack, self.job.failures)
        others = {
            path: prepare_table(
                TableInput(path, scan), runner, f"{job_id}r{number}", progress, stack, self.job.failures
            )
            for number, (path, scan) in enumerate(self.references.items())
        }
        found = {}
        for number, check in by_keys.items():
            scratch = stack.enter_context(scratch_folder(self.job.failures or self.job.path))
            found[number] = find_failing_keys(check, table, others, runner, job_id, scratch)
        return table, found

    def _sink(self, table: ReadyTable | None, found: Mapping[int, Found]) -> SinkSpec:
        places = {str(number): each.places(table) for number, each in found.items()} if table else {}
        options = {
            "checks": [asdict(each) for each in self.job.checks],
            "places": places,
            "storage": (self.job.failures or self.job.path).storage,
            "saves": bool(self.job.failures),
            "samples": self.job.samples,
        }
        return SinkSpec(SINK, options)

    @property
    def _schemas(self) -> Mapping[str, pa.Schema]:
        return {path: each.schema for path, each in self.references.items()}


def _columns(job: CheckJob, schema: pa.Schema) -> tuple[str, ...]:
    """The columns that are read: those that checks look at; all, if rows are saved; one, if rows are only counted."""
    if job.failures:
        return ()
    looked_at = {name for check in job.checks for name in check.columns}
    return tuple(name for name in schema.names if name in looked_at) or tuple(schema.names[:1])


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text) if text else datetime.now(UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def check_askable(asked: CheckJob, scan: Scan, references: Mapping[str, Scan]) -> None:
    """See that checks can be asked of a table, and the rows that fail be saved.

    Raises:
        InvalidParameters: a check cannot be asked of it.
        OwnName: a column is called as one that finds rows by their keys.
        BadPath: a column is called as the one that tells why a row fails.
    """
    check_fit(asked.checks, scan.schema, {path: each.schema for path, each in references.items()})
    if any(each.kind in BY_KEYS for each in asked.checks):
        refuse_own_names(scan.schema, PLACES)
    if asked.failures and FAILED_CHECKS in scan.schema.names:
        raise BadPath(f'The table has a column "{FAILED_CHECKS}" already, so its rows cannot be saved with another.')


def _check_apart(path: Location, failures: Location) -> None:
    if overlap(path, failures):
        raise BadPath(f"The rows that fail cannot go to {failures}: {path} is read, and both must be apart.")


def _check_sums(done: ScanResult, totals: Totals, found: Mapping[int, Found]) -> None:
    hint = "This is a defect of Mason: please report it."
    if totals.rows != done.rows:
        raise RowsLost(f"{done.rows:,} rows were read, and {totals.rows:,} were checked.", hint=hint)
    for number, each in found.items():
        if totals.counts[number] != each.rows:
            message = f"{each.rows:,} rows fail by their keys, and {totals.counts[number]:,} were met."
            raise RowsLost(message, hint=hint)
