"""What stands between rows that were written aside and the next version of the table: counts, checks, the commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from mason.pipeline.formats.writers.table_writer import can_name_folders, write_empty_file
from mason.pipeline.jobs.check.job import CheckJob, CheckOutcome
from mason.pipeline.jobs.check.work import CheckWork, check_askable
from mason.pipeline.jobs.merge.appending import Patience
from mason.pipeline.jobs.merge.job import COMMIT_TIMEOUT, Mode
from mason.pipeline.jobs.query.inputs import ReadyTable
from mason.pipeline.jobs.table_output import StagedTable
from mason.pipeline.jobs.transform.failures import NothingToPublish, OtherColumns
from mason.pipeline.jobs.transform.job import SAMPLES, TransformJob
from mason.pipeline.jobs.transform.outcome import TransformOutcome
from mason.pipeline.reading.scan import plan_scan
from mason.pipeline.sql.query import Written
from mason.pipeline.sql.statement import check_names
from mason.pipeline.tables.commit import CommitRecord, CommittedFile, Overtaken
from mason.pipeline.tables.versions import column_changes, column_types
from mason.pipeline.types.evidence_json import decode_schema
from mason.pipeline.work.base import Progress
from mason.pipeline.work.row_sums import RowSums
from mason.pipeline.work.tasks import TaskRunner


class Made(Protocol):
    """The planned job, as its outcome and its commit tell of it."""

    def to_dict(self) -> dict[str, Any]: ...

    def details(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class NewVersion:
    """The next version of a table, written and not yet published."""

    job: TransformJob
    work: Made
    staged: StagedTable
    written: Written
    schema: str

    def publish(self, ready: Sequence[ReadyTable], runner: TaskRunner, progress: Progress) -> TransformOutcome:
        """Hold the rows against the counts and the checks, and make them the table unless a check blocks that.

        Raises:
            RowsLost: the files do not hold the rows that were handed over.
            NothingToPublish: there are no rows, and the table has some that they would replace.
            Conflict: another job committed to the table meanwhile.
        """
        job, current = self.job, self.staged.output.expected
        schema = decode_schema(self.schema)
        check_columns_of(schema, job, current)
        files = self._files(runner, schema, current)
        sums = RowSums(self.written.rows, sum(each.rows for each in files), came="rows were handed over")
        keys = list(job.partition_by)
        adds = job.mode is not Mode.REPLACE and current is not None
        record = self.staged.prepare(files, sums, schema, partition_keys=keys, adds=adds, details=self.work.details())
        if not record.rows and job.mode is Mode.REPLACE and current and current.rows and not job.allow_empty:
            said = f"{job.name} made no rows, and {job.output} has {current.rows:,}, which would be gone."
            raise NothingToPublish(said, hint="Say allow_empty:true if that is right.")
        checked = self._ask_checks(record, runner, progress) if job.checks else None
        outcome = TransformOutcome(work=self.work, job=job, read=ready, sums=sums, checked=checked)
        if checked and checked.errors:
            return outcome
        committed = self._commit(record, _files_to_keep(job, current, files))
        return replace(outcome, commit=committed)

    def _files(self, runner: TaskRunner, schema: pa.Schema, current: CommitRecord | None) -> Sequence[CommittedFile]:
        pieces = self.staged.take(self.written.files)
        if self.job.partition_by:
            return self.staged.unite(runner, pieces)
        if pieces or (self.job.mode is not Mode.REPLACE and current):
            return pieces
        # Who looks into the folder of a table without rows finds its columns there.
        name = f"part-{self.staged.job_id}-no-rows.parquet"
        write_empty_file(self.staged.filesystem, self.staged.folder, name, schema)
        return self.staged.take([name])

    def _ask_checks(self, record: CommitRecord, runner: TaskRunner, progress: Progress) -> CheckOutcome:
        """Ask all checks of the rows that are staged, in one pass, before anybody else can see them."""
        job, place = self.job, self.staged.location
        asked = CheckJob(
            path=place, checks=job.checks, references=job.references, failures=job.failures, samples=SAMPLES
        )
        scan = plan_scan(place, commit=record)
        references = {name: plan_scan(each) for name, each in job.references.items()}
        check_askable(asked, scan, references)
        work = CheckWork(asked, scan, references, datetime.now(UTC))
        return work.run(runner, self.staged.job_id, progress)

    def _commit(self, record: CommitRecord, kept: Sequence[CommittedFile]) -> CommitRecord:
        output = self.staged.output
        publish = partial(output.store.publish, self.staged.folder, record, expected=output.expected, kept=kept)
        patience = Patience(COMMIT_TIMEOUT)
        while True:
            try:
                return publish(may_follow=partial(_may_follow, record) if self.job.mode is Mode.APPEND else None)
            except Overtaken as error:
                if self.job.mode is not Mode.APPEND:
                    raise
                patience.pause(error)


def check_columns_of(schema: pa.Schema, job: TransformJob, current: CommitRecord | None) -> None:
    """See that rows of these columns can become a part of the table.

    Raises:
        BadQuery: two columns have the same name.
        OtherColumns: they are added to rows with other columns, or cannot be divided as they should.
    """
    check_names(schema.names)
    for name in job.partition_by:
        if name not in schema.names:
            hint = f"Columns: {', '.join(schema.names)}."
            raise OtherColumns(f'partition_by: there is no column "{name}".', hint=hint)
        if not can_name_folders(schema.field(name).type):
            kind = schema.field(name).type
            raise OtherColumns(f'partition_by: "{name}" is of type {kind}, which no folder can name.')
    if set(job.partition_by) >= set(schema.names):
        raise OtherColumns(f"{job.name} makes rows of which nothing would be in the files.")
    if job.mode is Mode.REPLACE or current is None:
        return
    changes = column_changes(column_types(current), {each.name: str(each.type) for each in schema})
    if changes:
        said = f"{job.output} has other columns than the rows that are to be added: {', '.join(changes)}."
        raise OtherColumns(said, hint="Make the same columns, or replace the table.")
    if list(current.partition_keys) != list(job.partition_by):
        said = f"{job.output} is divided by {', '.join(current.partition_keys) or 'no column'}."
        raise OtherColumns(said, hint=f"Say partition_by:{','.join(current.partition_keys)}, or replace the table.")


def _files_to_keep(
    job: TransformJob, current: CommitRecord | None, files: Sequence[CommittedFile]
) -> Sequence[CommittedFile]:
    if current is None or job.mode is Mode.REPLACE:
        return ()
    if job.mode is Mode.APPEND:
        return current.files
    replaced = {each.path.rpartition("/")[0] for each in files}
    return [each for each in current.files if each.path.rpartition("/")[0] not in replaced]


def _may_follow(record: CommitRecord, newest: CommitRecord, since: Iterable[CommitRecord]) -> bool:
    """Say whether staged rows can be added to what the table is by now: it has the same columns and folders."""
    same = column_types(newest) == column_types(record)
    return same and list(newest.partition_keys) == list(record.partition_keys) and newest.format == "parquet"
