"""Keeps the rows of a query as a table: Athena writes the files, and Mason commits them."""

from __future__ import annotations

from uuid import uuid4

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.clients.athena.queries import Execution, Queries
from mason.clients.athena.query_work import AthenaWork
from mason.clients.athena.results import to_table
from mason.clients.response import Response
from mason.pipeline.evidence_json import encode_schema
from mason.pipeline.merge.staging import committed_file
from mason.pipeline.sql.query import canonical
from mason.pipeline.storage_address import open_filesystem
from mason.pipeline.table_commit import CommitRecord, open_table
from mason.util.words import counted


def unload(work: AthenaWork, queries: Queries, response: Response) -> tuple[Execution, CommitRecord]:
    """Make the rows of a query the next version of the table at its output.

    Athena writes into a folder that nobody reads; what is in it when the query has succeeded is committed as a whole.

    Raises:
        BadQuery, ClientFailed, JobCancelled: the query did not succeed; nothing of it is kept.
        Conflict: another job committed to the table meanwhile.
    """
    job = work.job
    filesystem = open_filesystem(job.storage)
    table = open_table(job.storage, job.output)
    expected = table.current()
    commit = uuid4().hex[:16]
    with table.stage(commit) as staging:
        query_id = queries.start(work.question.unload(f"s3://{staging}/").text, job.database)
        response.add_info(f"Athena runs the job {query_id}.")
        execution = queries.wait(query_id)
        paths = _files(filesystem, staging)
        files = [committed_file(filesystem, staging, path) for path in paths]
        schema = _schema(filesystem, staging, paths) if paths else _schema_of_nothing(work, queries)
        rows = sum(each.rows for each in files)
        details = {"query": job.statement, "athena": query_id}
        record = CommitRecord(commit, 0, None, commit, files, rows, 0, encode_schema(schema), details=details)
        done = table.publish(staging, record, expected=expected)
    response.add_info(f"{counted(done.rows, 'row')}: {job.output}")
    return execution, done


def _files(filesystem: pafs.FileSystem, folder: str) -> list[str]:
    everything = pafs.FileSelector(folder, allow_not_found=True, recursive=True)
    found = [each.path for each in filesystem.get_file_info(everything) if each.is_file]
    return sorted(path.removeprefix(f"{folder}/") for path in found)


def _schema(filesystem: pafs.FileSystem, staging: str, paths: list[str]) -> pa.Schema:
    return canonical(pq.read_schema(f"{staging}/{paths[0]}", filesystem=filesystem).remove_metadata())


def _schema_of_nothing(work: AthenaWork, queries: Queries) -> pa.Schema:
    """What the columns of no rows are: Athena writes no file for them, but says so of an answer without rows."""
    asked = work.question.rows(0)
    query_id = queries.start(asked.text, work.job.database)
    queries.wait(query_id)
    columns, _ = queries.rows(query_id, 0)
    return to_table(columns, [], asked.names, asked.types, asked.in_spark).schema
