"""`table query` as a job: what it is asked, what it would read, and what it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location, TableRef
from mason.errors import BadPath, InvalidParameters
from mason.pipeline.jobs.query.inputs import ReadyTable, TableInput, prepare_table
from mason.pipeline.jobs.table_output import StagedTable, TableOutput
from mason.pipeline.reading.preview import Preview
from mason.pipeline.reading.scan import Scan, plan_scan
from mason.pipeline.reading.tasks.sinks import table_spec
from mason.pipeline.sql.engine_types import sql_schema
from mason.pipeline.sql.query import Output, SqlQuery, fetch_rows, write_rows
from mason.pipeline.sql.rendering import render_for_spark
from mason.pipeline.sql.statement import Statement, check_columns, parse_statement
from mason.pipeline.sql.value_sizes import check_value_sizes
from mason.pipeline.sql.view_names import with_view_names
from mason.pipeline.storage.scratch import scratch_folder
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.types.evidence_json import decode_schema
from mason.pipeline.types.python_values import python_rows
from mason.pipeline.work.base import Outcome, Progress, Work
from mason.pipeline.work.memory_limits import memory_limits
from mason.pipeline.work.output_place import check_output, is_same_place
from mason.pipeline.work.record_parts import describe_columns, describe_files
from mason.pipeline.work.request import INPUT, JobRequest, output_named
from mason.pipeline.work.row_sums import RowSums
from mason.pipeline.work.tasks import TaskRunner
from mason.util.words import counted


@dataclass(frozen=True, kw_only=True)
class QueryJob(JobRequest):
    """Ask a statement of the tables of a database."""

    type = "query"
    statement: str
    database: str
    tables: Annotated[Mapping[str, TableRef], INPUT]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = 1000
    """How many rows are shown at most; None gives all of them to the process that runs the job, and shows none."""
    output: Annotated[Location | None, output_named("path")] = None
    format: str = "parquet"
    foreign: str = Foreign.REFUSE

    @property
    def places(self) -> Mapping[str, Location]:
        """Where the tables lie whose files are read."""
        return {name: table.location for name, table in self.tables.items() if table.location}

    @property
    def identifiers(self) -> Mapping[str, str]:
        """The tables, such as `shop.orders`, by the names that an engine has for them."""
        return {name: table.identifier for name, table in self.tables.items()}


@dataclass(frozen=True, kw_only=True)
class QueryWork(Work):
    """A query that is understood, with its tables at hand."""

    job: QueryJob
    statement: Statement
    tables: Sequence[TableInput]
    text: str
    """The caller's text, with the name of the database blanked out."""
    rendered: str
    """What Spark is given for it."""
    most_bytes: int | None = None
    """How many bytes the rows may have that are shown."""

    @classmethod
    def plan(cls, job: Job) -> QueryWork:
        """Understand a query.

        Raises:
            BadPath: a table lies inside the output, or the other way round.
            BadQuery: it is no query, names what is not there, or makes a value that is too large.
            InvalidParameters: parameters are missing, or there are some that it does not have.
        """
        query = QueryJob.of(job)
        statement = parse_statement(query.statement)
        check_value_sizes(statement, memory_limits().result_bytes, query.parameters)
        check_parameters(statement, query.parameters)
        if query.output:
            check_output(list(query.places.values()), query.output, query.foreign)
            _check_format(query.format)
        scans = {name: plan_scan(place) for name, place in query.places.items()}
        text = with_view_names(statement, query.database, query.identifiers)
        named = replace(statement, tree=parse_statement(text).tree)
        columns = check_columns(named, {name: scan.schema for name, scan in scans.items()})
        inputs = [TableInput(name, scan, columns[name]) for name, scan in scans.items()]
        work = cls(
            job=query,
            statement=statement,
            tables=inputs,
            text=text,
            rendered=render_for_spark(text),
            most_bytes=memory_limits().result_bytes,
        )
        if work.rewritten and query.format != "parquet":
            raise BadPath(f"{query.output} is read by the query: it can be written anew in Parquet only.")
        return work

    @property
    def rewritten(self) -> Scan | None:
        """What is read of the output, where that is a table whose rows are asked for."""
        output = self.job.output
        scans = [each.scan for each in self.tables]
        return next((each for each in scans if output and is_same_place(each.location, output)), None)

    def check_here(self) -> None:
        """Check that this process gives the answer that Spark would give.

        Raises:
            BadQuery: it cannot promise that; the message says of which part, and where it stands.
        """
        from mason.pipeline.sql.local.translation import translate_statement  # of no use to those who ask Spark

        schemas = {each.name: sql_schema(each.scan.schema) for each in self.tables}
        translate_statement(self.text, self.job.parameters, schemas)

    @property
    def amounts(self) -> Sequence[str]:
        files = sum(len(each.scan.plan.files) for each in self.tables)
        return [counted(len(self.tables), "table"), counted(files, "file"), f"{sum(self.task_bytes):,} bytes"]

    @property
    def warnings(self) -> Iterable[str]:
        return [f"{each.name}: {warning}" for each in self.tables for warning in each.scan.warnings]

    @property
    def task_bytes(self) -> Sequence[int]:
        return [each.scan.input_bytes for each in self.tables]

    def to_dict(self) -> dict[str, Any]:
        rows = [each.scan.rows for each in self.tables]
        document: dict[str, Any] = {
            "Tables": [each.to_dict() for each in self.tables],
            "FilesRead": sum(len(each.scan.plan.files) for each in self.tables),
            "BytesRead": sum(self.task_bytes),
        }
        if None not in rows:
            document["RowsRead"] = sum(each for each in rows if each is not None)
        if not self.job.output:
            return {**document, "Limit": self.job.limit} if self.job.limit is not None else document
        return {**document, "Output": str(self.job.output), "Format": self.job.format}

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> QueryResult:
        """Ask the engine, and commit the rows if they are to be kept.

        Raises:
            BadQuery: the engine cannot make sense of it.
            TableChanged: a table was replaced meanwhile.
        """
        with ExitStack() as stack:
            ready = [prepare_table(each, runner, job_id, progress, stack, self.job.output) for each in self.tables]
            query = SqlQuery(
                statement=self.text,
                tables=[each.sql_table() for each in ready],
                parameters=self.job.parameters,
                names=self.statement.names,
                rendered=self.rendered,
            )
            if self.job.output:
                return self._write_rows(query, self.job.output, ready, runner, job_id, progress)
            if self.job.limit is None:
                return QueryResult(work=self, read=ready, rows=fetch_rows(runner, query))
            limited = replace(query, limit=self.job.limit + 1, most_bytes=self.most_bytes)
            rows = fetch_rows(runner, limited)
            return QueryResult(
                work=self, read=ready, rows=rows.slice(0, self.job.limit), has_more=rows.num_rows > self.job.limit
            )

    def _write_rows(
        self,
        query: SqlQuery,
        output: Location,
        ready: Sequence[ReadyTable],
        runner: TaskRunner,
        job_id: str,
        progress: Progress,
    ) -> QueryResult:
        """Write the rows, by way of a table of their own where they are to be in another format."""
        details = {"query": self.job.statement}
        if self.job.format == "parquet":
            commit = write_table(
                query, output, runner, job_id, details, rewritten=self.rewritten, foreign=self.job.foreign
            )
            return QueryResult(work=self, read=ready, commit=commit)
        from mason.pipeline.jobs.format.job import FormatJob, FormatOptions  # loaded by those who need it: it is much
        from mason.pipeline.jobs.format.plan import plan_format
        from mason.pipeline.jobs.format.run import run_format

        with scratch_folder(output) as scratch:
            table = scratch.child("table")
            write_table(query, table, runner, job_id, details)
            plan = plan_format(FormatJob(table, output, FormatOptions(format=self.job.format), self.job.foreign))
            done = run_format(plan, runner, job_id, progress)
        return QueryResult(work=self, read=ready, commit=done.commit, changes=tuple(done.warnings))


@dataclass(frozen=True, kw_only=True)
class QueryResult(Outcome):
    """What a query gave: some rows, or a table."""

    work: QueryWork
    read: Sequence[ReadyTable]
    rows: pa.Table | None = None
    commit: CommitRecord | None = None
    has_more: bool = False
    changes: Sequence[str] = ()
    """What became of values that the format cannot hold as they are."""

    @property
    def summary(self) -> str:
        if self.commit:
            return f"{counted(self.commit.rows, 'row')}: {self.work.job.output}"
        assert self.rows is not None
        return f"{counted(self.rows.num_rows, 'row')}{' of more' if self.has_more else ''}."

    @property
    def warnings(self) -> Iterable[str]:
        yield from (warning for each in self.read for warning in each.warnings)
        yield from self.changes
        if self.has_more and self.work.job.limit is not None:
            yield only_the_first(self.work.job.limit)

    @property
    def preview(self) -> Mapping[str, Any]:
        """The rows, which are shown and not kept."""
        return {"Rows": python_rows(self.rows)} if self.rows is not None and self.work.job.limit is not None else {}

    @property
    def frame(self) -> pa.Table | None:
        return self.rows

    def picture(self, width: int) -> list[str]:
        """Return the rows as a table."""
        rows = self.rows
        return Preview(rows.schema, python_rows(rows)).picture(width) if rows is not None else []

    def to_dict(self) -> dict[str, Any]:
        rows = sum(each.rows for each in self.read)
        # RowsIn is what every job's record has: of a table that is read as it is, no task of Mason's counts rows.
        document = {**self.work.to_dict(), "RowsRead": rows, "RowsIn": rows}
        if self.commit:
            written = {"Columns": describe_columns(decode_schema(self.commit.schema)), **describe_files(self.commit)}
            return {**document, "Commit": self.commit.id, "RowsOut": self.commit.rows, **written}
        assert self.rows is not None
        columns = describe_columns(self.rows.schema)
        return {**document, "Columns": columns, "RowsOut": self.rows.num_rows, "HasMore": self.has_more}


def _check_format(name: str) -> None:
    """See that what writes a format is installed, where that is not Mason itself.

    Raises:
        MissingDependency: it is not.
    """
    if name != "parquet":
        from mason.pipeline.formats.writers.output_format import output_format

        output_format(name).check_package()


def only_the_first(limit: int) -> str:
    """Return what is said of an answer that has more rows than are shown."""
    return f"Only the first {counted(limit, 'row')} are here: raise the limit, or give output_path for a table of all."


def write_table(
    query: SqlQuery,
    output: Location,
    runner: TaskRunner,
    job_id: str,
    details: Mapping[str, Any],
    rewritten: Scan | None = None,
    foreign: str = Foreign.REFUSE,
) -> CommitRecord:
    """Make the rows of a query the next version of a table; `rewritten` is what is read of that table itself.

    Raises:
        RowsLost: the files do not hold the rows that were given to be written.
        Conflict: another job committed to the table meanwhile.
    """
    read = [rewritten] if rewritten else []
    with TableOutput.of(output, foreign, read).stage(job_id) as staged:
        pieces = write_rows(runner, replace(query, output=Output(table_spec(), staged.location, job_id)))
        paths = [path for piece in pieces for path in piece.files]
        files = staged.take(paths)
        given = sum(piece.rows for piece in pieces)
        sums = RowSums(given, sum(each.rows for each in files), came="rows were to be written")
        sums.check()
        schema = _schema(staged, paths) or fetch_rows(runner, replace(query, limit=0)).schema
        return staged.commit(files, sums, schema, details=details)


def _schema(staged: StagedTable, paths: Sequence[str]) -> pa.Schema | None:
    if not paths:
        return None
    return pq.read_schema(f"{staged.folder}/{paths[0]}", filesystem=staged.filesystem).remove_metadata()


def check_parameters(statement: Statement, given: Mapping[str, Any]) -> None:
    """See that exactly the parameters are given that the statement leaves open.

    Raises:
        InvalidParameters: some are missing, or there are others.
    """
    wanted = statement.parameters
    problems = [f'The query leaves ":{name}" open: give it in "parameters".' for name in wanted if name not in given]
    problems += [f'The query has no parameter ":{name}".' for name in given if name not in wanted]
    if problems:
        raise InvalidParameters(problems)
