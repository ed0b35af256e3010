"""The rows that fail, as a table: each with the names of the checks that it fails, committed as every table is."""

from __future__ import annotations

from dataclasses import dataclass

from mason.pipeline.check.job import CheckJob
from mason.pipeline.check.sink import saved_schema
from mason.pipeline.evidence_json import encode_schema
from mason.pipeline.merge.outcome import RowsLost
from mason.pipeline.merge.staging import committed_file, quarantine_files, remove_strangers
from mason.pipeline.scan import ScanResult
from mason.pipeline.storage_address import open_filesystem
from mason.pipeline.table_commit import CommitRecord, TableStore, open_table


@dataclass(frozen=True)
class Failures:
    """The table that the rows go to, and its newest commit before the job began."""

    job: CheckJob
    table: TableStore
    before: CommitRecord | None

    @classmethod
    def of(cls, job: CheckJob) -> Failures:
        table = open_table(job.storage, job.failures, job.foreign)
        return cls(job, table, table.current())

    def publish(self, staging: str, job_id: str, done: ScanResult, failed: int) -> CommitRecord:
        """Make what was staged the table.

        Raises:
            RowsLost: there are not as many rows in the files as were found to fail.
            Conflict: another job committed to the table meanwhile.
        """
        filesystem = open_filesystem(self.job.storage)
        files = [committed_file(filesystem, staging, path) for path in done.files]
        remove_strangers(filesystem, staging, files)
        quarantine_files(filesystem, staging, [])  # records that are no rows are for a merge to keep
        rows = sum(each.rows for each in files)
        if rows != failed:
            raise RowsLost(f"{failed:,} rows fail, and {rows:,} of them were written to {self.job.failures}.")
        schema = encode_schema(saved_schema(done.scan.schema))
        details = {"checks": [each.name for each in self.job.checks], "input": self.job.path}
        record = CommitRecord(job_id, 0, None, job_id, files, rows, 0, schema, details=details)
        return self.table.publish(staging, record, expected=self.before)
