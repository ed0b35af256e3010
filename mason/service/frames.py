"""Rows for Python: a statement's answer as Arrow, without the detour through JSON, and frames that become tables.

Both are jobs like any other: planned, recorded, cancelled, and committed by a merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job, JobRecord
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import LOCAL, Location
from mason.errors import BadInput, MasonError, TableNotFound, TooLarge
from mason.lineage.surroundings import within_operator
from mason.operators.catalog_entries import Inference, follow_job, infer_and_save, settle_read
from mason.operators.table_parameters import find_tables
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.sql.statement import parse_statement
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.files import make_folder
from mason.pipeline.storage.scratch import scratch_folder
from mason.pipeline.tables.files import newest_commit

if TYPE_CHECKING:
    from mason.engines.metastore.models.database import Database

_BATCH_ROWS = 65_536
_DATA_ENDINGS = (".parquet", ".csv", ".json", ".jsonl", ".avro", ".orc")


@dataclass(frozen=True, kw_only=True)
class Question:
    """A statement, the database of the tables that name none, and the values for what it leaves open."""

    statement: str
    database: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


def read_rows(config: ValidConfig, question: Question, response: Response) -> JobRecord:
    """Run a query and return its record, which has all of its rows.

    Raises:
        BadQuery: the statement cannot be understood, or names what is not there.
        TooLarge: the engine does not give all rows at once.
    """
    record = _run_job(config, _query_job(config, question, response), "table:query", response)
    if record.rows is None and "Rows" not in record.details:
        raise TooLarge("The rows are not in this process.", hint="Give output_path, or use batches().")
    if record.rows is None and record.details.get("HasMore"):
        raise TooLarge(
            f"The engine gives {len(record.details['Rows']):,} rows at once, and there are more.",
            hint="Use batches(), or a LIMIT.",
        )
    return record


@contextmanager
def read_batches(config: ValidConfig, question: Question, response: Response) -> Iterator[pa.RecordBatchReader]:
    """Give the rows of a query as batches, of which a few are in memory at a time: they lie in files meanwhile.

    Raises:
        BadQuery: the statement cannot be understood, or names what is not there.
    """
    job = _query_job(config, question, response)
    near = next(iter(job.places_read), Location("", LOCAL))
    with scratch_folder(near) as scratch:
        output = scratch.child("rows")
        job = Job(job.type, job.inputs, {"path": output}, job.options)
        _run_job(config, job, "table:query", response)
        yield _batches_of(output)


def save_rows(
    config: ValidConfig, rows: pa.RecordBatchReader, table: str, options: MergeOptions, response: Response
) -> JobRecord:
    """Make rows a table, or a part of one, by a merge: counted, and in one commit.

    Args:
        table: `database.table`, or a path or URL.

    Raises:
        BadInput: there are no columns, or one of a type that no table holds.
        DatabaseNotFound: there is no such database.
    """
    _check_columns(rows.schema)
    place = _find_place(config, table, response)
    with scratch_folder(place.location) as scratch:
        given = scratch.child("rows")
        _write_file(rows, given)
        job = MergeJob(given, place.location, options).to_job()
        record = _run_job(config, job, "table:save", response)
    if place.is_new and config.metastore.client.catalog():
        wanted = Inference(place.location, place.database, place.name, InferOptions())
        infer_and_save(config, wanted, response)
    return record


def save_options(mode: str, keys: Iterable[str] = ()) -> MergeOptions:
    """Return how rows become a part of a table.

    Raises:
        BadInput: there is no such mode.
    """
    known = [each.value for each in Mode]
    if mode not in known:
        raise BadInput(f'"{mode}" is not a mode.', hint=f"One of: {', '.join(known)}.")
    if list(keys):
        raise BadInput(f"keys are for the mode upsert, and the mode is {mode}.")
    return MergeOptions(mode=Mode(mode))


def _query_job(config: ValidConfig, question: Question, response: Response) -> Job:
    statement = parse_statement(question.statement)
    database = question.database or statement.database
    client = config.metastore.client
    return QueryJob(
        statement=question.statement,
        database=client.resolve_database(database)[1] if database else "",
        tables=find_tables(config, database, statement, response),
        parameters=question.parameters,
        limit=None,
    ).to_job()


def _run_job(config: ValidConfig, job: Job, name: str, response: Response) -> JobRecord:
    client = config.execution.client
    with within_operator(name, config.id):
        plan, _ = client.plan_job(job, response=settle_read(config, job, response))
        record, _ = client.run_job(plan, response=response)
        follow_job(config, job, response)
    return record


def _batches_of(table: Location) -> pa.RecordBatchReader:
    commit = newest_commit(table)
    assert commit is not None
    filesystem = open_filesystem(table.storage)
    paths = [each.place_in(table.path) for each in commit.files]
    schema = pq.read_schema(paths[0], filesystem=filesystem).remove_metadata()

    def batches() -> Iterator[pa.RecordBatch]:
        for path in paths:  # one is open at a time, however many there are, and none where the rows are given up
            with pq.ParquetFile(path, filesystem=filesystem) as file:
                yield from (each.cast(schema) for each in file.iter_batches(_BATCH_ROWS))

    return pa.RecordBatchReader.from_batches(schema, batches())


def _write_file(rows: pa.RecordBatchReader, folder: Location) -> None:
    filesystem = open_filesystem(folder.storage)
    make_folder(filesystem, folder.path)
    with pq.ParquetWriter(f"{folder.path}/rows.parquet", rows.schema, filesystem=filesystem) as writer:
        for batch in _told_apart(rows):
            writer.write_batch(batch)


def _told_apart(rows: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The batches of a frame, whose own failures are not Mason's."""
    try:
        yield from rows
    except (MasonError, MemoryError, GeneratorExit):
        raise
    except Exception as error:
        said = f"The frame has failed: {type(error).__name__}: {str(error).rstrip('.')}."
        raise BadInput(said, hint="The table is what it was.") from error


def _check_columns(schema: pa.Schema) -> None:
    if not schema.names:
        raise BadInput("The frame has no columns.", hint="Name at least one.")
    for column in schema:
        try:
            pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([column])).close()
        except pa.ArrowException as error:
            raise BadInput(
                f'The column "{column.name}" is of the type {column.type}, which no table holds.',
                hint="Cast it to another, such as a number or text.",
            ) from error


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a table lies, or is to lie."""

    location: Location
    database: str = ""
    name: str = ""
    is_new: bool = False


def _find_place(config: ValidConfig, table: str, response: Response) -> _Place:
    if "/" in table or table.endswith(_DATA_ENDINGS):
        return _Place(location=config.location(table))
    database, _, name = table.rpartition(".")
    if not database or not name:
        raise BadInput(f'"{table}" names no table.', hint='Write it as "database.table", or as a path.')
    client = config.metastore.client
    try:
        found: Table = client.get_table(database, name, response=response)[0]
    except TableNotFound:
        known: Database = client.get_database(database, response=response)[0]
        location = config.location_of_table(f"{known.path.rstrip('/')}/{name}")
        return _Place(location=location, database=database, name=name, is_new=True)
    return _Place(location=config.location_of_table(found.path), database=database, name=name)
