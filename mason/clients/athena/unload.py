"""Keeps the rows of a query as a table: Athena writes the files, and Mason commits them."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.clients.athena.queries import Execution, Queries
from mason.clients.athena.query_work import AthenaWork
from mason.clients.athena.results import to_table
from mason.clients.response import Response
from mason.engines.storage.models.location import Location
from mason.pipeline.driving.handover import JOB, earlier_notes, hand_over_once
from mason.pipeline.jobs.table_output import StagedTable, TableOutput
from mason.pipeline.sql.query import canonical
from mason.pipeline.storage.address import open_objects
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.tables.objects import TableObjects
from mason.pipeline.work.row_sums import RowSums
from mason.util.words import counted


def unload(work: AthenaWork, queries: Queries, response: Response) -> tuple[Execution, CommitRecord]:
    """Make the rows of a query the next version of the table at its output.

    Athena writes into a folder that nobody reads; what is in it when the query has succeeded is committed as a whole.

    Raises:
        BadQuery, ClientFailed, JobCancelled: the query did not succeed; nothing of it is kept.
        Conflict: another job committed to the table meanwhile, or data files of others lie where it is.
    """
    output = work.job.output
    assert output is not None  # who unloads has somewhere to write
    table = TableObjects(open_objects(output.storage), output.path, Foreign(work.job.foreign))
    notes = earlier_notes(JOB)
    if not notes:
        current, commit = table.current(), uuid4().hex[:16]
        notes = {"Commit": commit, "Expected": current.id if current else ""}
        with table.stage(commit) as staging:
            return _unload(work, queries, response, table, output.beside(staging), notes)
    done = _find(table, notes["Commit"])
    if done:  # only the record of it could not be written any more
        return queries.wait(done.details["athena"]), done
    with table.stage_again(notes["Commit"]) as staging:
        return _unload(work, queries, response, table, output.beside(staging), notes)


def _unload(
    work: AthenaWork,
    queries: Queries,
    response: Response,
    table: TableObjects,
    staging: Location,
    notes: Mapping[str, str],
) -> tuple[Execution, CommitRecord]:
    job, commit = work.job, notes["Commit"]
    statement = work.question.unload(f"{staging}/").text
    query_id = hand_over_once(JOB, lambda token: queries.start(statement, job.database, token), notes)
    response.add_info(f"Athena runs the job {query_id}.")
    execution = queries.wait(query_id)
    expected = _find(table, notes["Expected"])
    staged = StagedTable(TableOutput(job.output or staging, table, expected), commit, staging.path)
    paths = _files(staged.filesystem, staging.path)
    files = staged.take(paths)
    schema = _schema(staged.filesystem, staging.path, paths) if paths else _schema_of_nothing(work, queries)
    rows = sum(each.rows for each in files)
    sums = RowSums(rows, rows)  # Athena does not say how many it has written: the footers are all there is
    done = staged.commit(files, sums, schema, details={"query": job.statement, "athena": query_id})
    response.add_info(f"{counted(done.rows, 'row')}: {job.output}")
    return execution, done


def _find(table: TableObjects, commit: str) -> CommitRecord | None:
    """The commit of that id, if the table has it."""
    return next((each for each in table.history() if each.id == commit), None) if commit else None


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
