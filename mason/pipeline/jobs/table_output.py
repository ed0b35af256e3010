"""The table that a job writes: staged, held against the sums, and committed in one step, whatever the job is.

Beside the rows go the changes of columns that a plan announces, and what a table written anew from its own rows takes
along: its quarantine, and where its rows came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.engines.execution.models.job import JobPlan
from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.merge.compact import unite_pieces
from mason.pipeline.jobs.merge.sources_merged import Sources
from mason.pipeline.reading.plan.read_plan import ReadPlan
from mason.pipeline.reading.scan import Scan
from mason.pipeline.reading.tasks.numbering import number_records
from mason.pipeline.reading.tasks.staging import describe_staged_files, quarantine_files, remove_strangers
from mason.pipeline.reading.tasks.task import TaskResult
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.blocks import read_bytes, write_bytes
from mason.pipeline.storage.files import make_folder
from mason.pipeline.tables.commit import CommitRecord, CommittedFile, TableStore, open_table
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.tables.room import QUARANTINE
from mason.pipeline.tables.versions import column_changes, column_types
from mason.pipeline.types.evidence_json import encode_schema
from mason.pipeline.work.base import Work
from mason.pipeline.work.output_place import is_same_place
from mason.pipeline.work.row_sums import RowSums, rows_lost
from mason.pipeline.work.tasks import TaskRunner


def list_schema_changes(plan: JobPlan) -> list[str]:
    """Return how columns would change: none do where no table is there, or nobody knows before the job has run."""
    planned = plan.payload.output_columns if isinstance(plan.payload, Work) else ()
    output = plan.job.output
    if not planned or not output:
        return []
    commit = open_table(output).current()
    types = {each.name: str(each.type) for each in planned}
    return column_changes(column_types(commit), types) if commit else []


SOURCES = "sources"
"""The detail of a commit that names the files that its rows were merged from."""


@dataclass(frozen=True)
class TableOutput:
    """A table that a job will write the next version of."""

    location: Location
    store: TableStore
    expected: CommitRecord | None
    """The version that it must still have when the next one is committed."""
    is_rewritten: bool = False
    """Whether the rows come from this very table: what was set aside of it then goes along."""

    @classmethod
    def of(cls, location: Location, foreign: str = Foreign.REFUSE, read: Iterable[Scan] = ()) -> TableOutput:
        """Return the table at a place, which nobody else may change from now on.

        Where it is among what the job reads, nobody may have changed it since it was looked at.
        """
        store = open_table(location, foreign)
        rewritten = next((scan for scan in read if is_same_place(scan.location, location)), None)
        expected = rewritten.commit if rewritten else store.current()
        return cls(location, store, expected, is_rewritten=rewritten is not None)

    @contextmanager
    def stage(self, job_id: str) -> Iterator[StagedTable]:
        """Give a folder to write the next version into; what is not committed when it is left is removed."""
        with self.store.stage(job_id) as folder:
            yield StagedTable(self, job_id, folder)


@dataclass(frozen=True)
class Quarantine:
    """The records that tasks have set aside: the files that hold them, and how many there are."""

    files: Sequence[str]
    records: int


@dataclass(frozen=True)
class StagedTable:
    """The next version of a table while it is written."""

    output: TableOutput
    job_id: str
    folder: str
    filesystem: pafs.FileSystem = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "filesystem", open_filesystem(self.output.location.storage))

    @property
    def location(self) -> Location:
        """The folder that tasks write to."""
        return self.output.location.beside(self.folder)

    def take(self, paths: Iterable[str]) -> list[CommittedFile]:
        """Return Parquet files that count, with the rows that their footers state; data files of others are removed.

        Others are there where an engine ran a task twice, or gave one up.
        """
        files = describe_staged_files(self.filesystem, self.folder, paths)
        self.keep_only(files)
        return files

    def keep_only(self, files: Sequence[CommittedFile]) -> None:
        """Remove the data files that are not of these."""
        remove_strangers(self.filesystem, self.folder, files)

    def unite(self, runner: TaskRunner, files: Sequence[CommittedFile]) -> Sequence[CommittedFile]:
        """Unite the pieces that tasks wrote of each partition, and return the files that there are then."""
        return unite_pieces(runner, self.location, self.job_id, files)

    def take_quarantine(self, read: ReadPlan, results: Iterable[TaskResult]) -> Quarantine:
        """Return what tasks have set aside; each record gets the number that it has in its own file."""
        files = quarantine_files(self.filesystem, self.folder, results)
        number_records(self.filesystem, read.files, files, read.request.location.storage)
        return Quarantine(files, sum(read_bytes(self.filesystem, path).count(b"\n") for path in files))

    def prepare(
        self,
        files: Sequence[CommittedFile],
        sums: RowSums,
        schema: pa.Schema,
        *,
        partition_keys: Sequence[str] = (),
        adds: bool = False,
        details: Mapping[str, Any] | None = None,
    ) -> CommitRecord:
        """Hold the files against the sums, and return the record of the version.

        Raises:
            RowsLost: a row is missing, or there is one too many.
        """
        written = sum(each.rows for each in files)
        if written != sums.rows_out:
            raise rows_lost(f"The files of {self.output.location} hold {written:,} rows, and not {sums.rows_out:,}.")
        sums.check()
        return CommitRecord(
            id=self.job_id,
            number=0,
            parent=None,
            job=self.job_id,
            files=files,
            rows=sums.rows_out,
            quarantined=sums.quarantined,
            schema=encode_schema(schema),
            partition_keys=list(partition_keys),
            adds=adds,
            details=self._carry(details or {}),
        )

    def commit(
        self,
        files: Sequence[CommittedFile],
        sums: RowSums,
        schema: pa.Schema,
        *,
        partition_keys: Sequence[str] = (),
        details: Mapping[str, Any] | None = None,
    ) -> CommitRecord:
        """Hold the files against the sums, and make them the table.

        Raises:
            RowsLost: a row is missing, or there is one too many; nothing was committed.
            Conflict: another job committed to the table meanwhile, or data files of others lie where it is.
        """
        record = self.prepare(files, sums, schema, partition_keys=partition_keys, details=details)
        return self.output.store.publish(self.folder, record, expected=self.output.expected)

    def _carry(self, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """Stage what a table that is written anew takes along: records set aside, and what it was merged from."""
        if not self.output.is_rewritten:
            return details
        carry_quarantine(self.filesystem, self.output.store, self.folder)
        return {**details, SOURCES: {**sources_to_keep(self.output.store), **details.get(SOURCES, {})}}


def carry_quarantine(filesystem: pafs.FileSystem, table: TableStore, staging: str) -> None:
    """Stage what the table has in quarantine: these records are not among its rows, and would be lost without it."""
    for path in table.quarantine():
        make_folder(filesystem, f"{staging}/{QUARANTINE}")
        name = path.rpartition("/")[2]
        write_bytes(filesystem, f"{staging}/{QUARANTINE}/{name}", read_bytes(filesystem, path))


def sources_to_keep(table: TableStore) -> Mapping[str, Any]:
    """Return the files that the table was merged from, as a commit keeps them: an incremental merge asks for them."""
    return {path: list(fingerprint) for path, fingerprint in Sources.of(table.lineage()).known.items()}
