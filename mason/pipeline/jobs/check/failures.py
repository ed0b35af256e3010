"""The rows that fail, as a table: each with the names of the checks that it fails, committed as every table is."""

from __future__ import annotations

from mason.pipeline.jobs.check.job import CheckJob
from mason.pipeline.jobs.check.sink import schema_of_failing_rows
from mason.pipeline.jobs.table_output import StagedTable
from mason.pipeline.reading.scan import ScanResult
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.work.row_sums import RowSums


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
