"""`table query` for Athena: what it is asked, what is known before it runs, and what it answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from mason.clients.athena.translation import Question
from mason.clients.engines.metastore import MetastoreClient
from mason.clients.response import Response
from mason.clients.shared.hive_formats import storage_format
from mason.engines.execution.models.job import Job
from mason.engines.metastore.models.table import Table
from mason.errors import NotFound, Unsupported
from mason.pipeline.driving.handover import JOB, earlier_notes
from mason.pipeline.jobs.query.job import QueryJob, check_parameters, only_the_first
from mason.pipeline.reading.preview import Preview
from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.rendering import render_for_spark
from mason.pipeline.sql.statement import Statement, check_columns, parse_statement
from mason.pipeline.sql.value_sizes import check_value_sizes
from mason.pipeline.sql.view_names import with_view_names
from mason.pipeline.tables.commit import open_table
from mason.pipeline.tables.foreign_files import check_foreign, describe_kept
from mason.pipeline.types.hive_types import arrow_type, hive_type
from mason.pipeline.types.python_values import python_rows
from mason.pipeline.work.base import Outcome
from mason.pipeline.work.memory_limits import memory_limits
from mason.pipeline.work.record_parts import describe_columns
from mason.util.words import counted

_MOST_ROWS = 100_000

FIRST_ROWS = 100
"""How many rows are shown of a query that ran before: who wants all of them asks again."""


@dataclass(frozen=True, kw_only=True)
class AthenaWork:
    """A query that is understood, with what the catalog says of its tables."""

    job: QueryJob
    statement: Statement
    tables: Mapping[str, Table]
    columns: Mapping[str, Sequence[str]]
    most_bytes: int | None = None
    """How many bytes the rows may have that are shown."""

    @classmethod
    def plan(cls, job: Job, catalog: MetastoreClient, response: Response) -> AthenaWork:
        """Understand a query.

        Raises:
            BadQuery: it is no query, or names what is not there.
            InvalidParameters: parameters are missing, or there are some that it does not have.
            Unsupported: its output is of a kind that Athena does not write.
            ForeignFiles, ChangedFiles: its output is a table with data of others, or over which they have written.
        """
        query = QueryJob.of(job)
        statement = parse_statement(query.statement)
        check_value_sizes(statement, memory_limits().result_bytes, query.parameters)
        check_parameters(statement, query.parameters)
        _check_output(query, response)
        _check_one_database(query)
        tables = {name: _table(catalog, query.database, name, str(ref), response) for name, ref in query.tables.items()}
        schemas = {name: athena_schema(table) for name, table in tables.items()}
        return cls(
            job=query,
            statement=statement,
            tables=tables,
            columns=check_columns(statement, schemas),
            most_bytes=memory_limits().result_bytes,
        )

    @property
    def question(self) -> Question:
        """What Athena is asked."""
        schemas = {name: athena_schema(table) for name, table in self.tables.items()}
        # As for Spark: what is translated is read from the text that was checked, and from no other.
        text = render_for_spark(with_view_names(self.statement, self.job.database, self.job.identifiers))
        return Question(text, self.job.parameters, schemas, self.statement.names)

    @property
    def limit(self) -> int:
        """How many rows are asked for: one more than is shown says whether there are more."""
        return self.most_rows + 1

    @property
    def most_rows(self) -> int:
        """How many rows are given at most: Athena hands them over in pages, as JSON."""
        return _MOST_ROWS if self.job.limit is None else self.job.limit

    def to_dict(self) -> dict[str, Any]:
        """Return what is known before Athena is asked; how much it will read only Athena knows, and only then."""
        tables = [
            {"Name": name, "Path": table.path, "Columns": list(self.columns[name])}
            for name, table in self.tables.items()
        ]
        if self.job.output:
            return {"Tables": tables, "Output": str(self.job.output), "Format": self.job.format}
        return {"Tables": tables, "Limit": self.most_rows}


@dataclass(frozen=True)
class FirstRows(Outcome):
    """The first rows of what a query answered."""

    rows: pa.Table
    has_more: bool

    @property
    def summary(self) -> str:
        return f"{counted(self.rows.num_rows, 'row')}{' of more' if self.has_more else ''}."

    def picture(self, width: int) -> list[str]:
        """Return the rows as a table."""
        return Preview(self.rows.schema, python_rows(self.rows)).picture(width)

    def to_dict(self) -> dict[str, Any]:
        columns = describe_columns(self.rows.schema)
        counts = {"RowsOut": self.rows.num_rows, "HasMore": self.has_more}
        return {"Columns": columns, **counts, "Rows": python_rows(self.rows)}


@dataclass(frozen=True)
class AthenaRows(FirstRows):
    """The rows that a query answered."""

    work: AthenaWork

    @property
    def warnings(self) -> Iterable[str]:
        return [only_the_first(self.work.most_rows)] if self.has_more else []

    def to_dict(self) -> dict[str, Any]:
        return {**self.work.to_dict(), **super().to_dict()}


def athena_schema(table: Table) -> pa.Schema:
    """Return the types that the columns of a table have for Athena: those of Hive.

    What is nested, and whether a time is an instant, is known better than Hive can say it.
    """
    text_only = storage_format(table).text_only
    columns = []
    for each in table.schema.columns:
        is_native = pa.types.is_nested(each.type) or pa.types.is_timestamp(each.type)
        kind = each.type if is_native else arrow_type(hive_type(each.type))
        columns.append((each.name, pa.string() if text_only and each.name not in table.partition_keys else kind))
    return pa.schema(columns)


def _check_output(query: QueryJob, response: Response) -> None:
    if query.output and query.output.scheme != "s3":
        raise Unsupported(f"Athena cannot write to {query.output}: it writes to S3 alone.", hint="Give an s3:// path.")
    if query.output and query.format != "parquet":
        raise Unsupported(
            f"Athena does not write tables as {query.format}.",
            hint="Leave format out for Parquet; table format makes other files of that.",
        )
    if query.output and not earlier_notes(JOB):  # a query that Athena has begun is committed, or not, when it is done
        table = open_table(query.output, query.foreign)
        check_foreign(table, str(query.output))
        for warning in describe_kept(table, str(query.output)):
            response.add_warning(warning)


def _check_one_database(query: QueryJob) -> None:
    databases = sorted({each.rpartition(".")[0] for each in query.identifiers.values()})
    if len(databases) > 1:
        raise Unsupported(
            f"A query of Athena is about the tables of one database, and this one names {' and '.join(databases)}.",
            hint="Use execution_engine: spark, or local.",
        )


def _table(catalog: MetastoreClient, database: str, name: str, path: str, response: Response) -> Table:
    """The table as the catalog knows it, which is what Athena reads: it must be the one that the query is about."""
    try:
        found, _ = catalog.get_table(database, name, response=response)
    except NotFound as error:
        raise BadQuery(
            f'Athena reads the tables of the Glue catalog, and there is no "{name}" in its database "{database}".',
            hint="Set metastore_engine to glue or athena, and save the table with table infer.",
        ) from error
    if _plain(found.path) != _plain(path):
        raise BadQuery(f'Athena would read "{name}" at {found.path}, and the metastore has it at {path}.')
    return found


def _plain(path: str) -> str:
    return path.partition("://")[2].strip("/") if "://" in path else path.strip("/")
