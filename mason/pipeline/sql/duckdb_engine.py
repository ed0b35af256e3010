"""Queries in this process, by DuckDB: for small data and for tests, with the answers that Spark would give."""

from __future__ import annotations

import queue
import re
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa

from mason.errors import ClientFailed
from mason.pipeline.reading.tasks.sinks import SinkPlace, open_sink
from mason.pipeline.sql.engine_types import duckdb_type, quote_name
from mason.pipeline.sql.local.refusal import unlike_spark
from mason.pipeline.sql.local.translation import Translation, translate_statement
from mason.pipeline.sql.local_copies import at_hand
from mason.pipeline.sql.query import (
    FILE_COLUMN,
    ROW_COLUMN,
    BadQuery,
    Output,
    Piece,
    SqlQuery,
    SqlTable,
    canonical,
    collect_rows,
    error_of_broken_text,
    table_gone,
)
from mason.pipeline.sql.statement import bad_query, check_names, column_start
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.types.evidence_json import decode_schema, encode_schema
from mason.pipeline.work.tasks import BEAT_SECONDS, QueryEvent

BATCH = 122_880
_FEW_ROWS = 2048  # what DuckDB computes at once: no more is fetched before it is seen how large it is


def run_query(content: bytes) -> Iterator[QueryEvent]:
    """Run a query in a thread, and yield beats until its result is there; closing the iterator interrupts it."""
    connection = duckdb.connect(config={"allow_community_extensions": False, "autoinstall_known_extensions": False})
    outcomes: queue.SimpleQueue[Any] = queue.SimpleQueue()
    query = SqlQuery.of(content)

    def work() -> None:
        try:
            outcomes.put(_result(connection, query))
        except Exception as error:  # noqa: BLE001 (whatever it is, it is raised in the caller's thread)
            outcomes.put(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            try:
                outcome = outcomes.get(timeout=BEAT_SECONDS)
            except queue.Empty:
                yield None
                continue
            if isinstance(outcome, Exception):
                raise _explain_error(outcome, query.statement) from outcome
            yield 0, outcome
            return
    finally:
        while thread.is_alive():
            connection.interrupt()
            thread.join(0.1)
        connection.close()


def _result(connection: duckdb.DuckDBPyConnection, query: SqlQuery) -> Any:
    with at_hand(query.tables) as tables:
        return _result_here(connection, replace(query, tables=tables))


def _result_here(connection: duckdb.DuckDBPyConnection, query: SqlQuery) -> Any:
    """The rows, or, where they are written, the piece that was."""
    create_views(connection, query)
    _close_off(connection, query)
    translation = to_duckdb(query)
    relation = _as_spark(open_relation(connection, translation), translation, query.names)
    if query.analyses:
        columns = relation.limit(0).to_arrow_table()
        return columns.cast(canonical(columns.schema))
    if query.output is None:
        limited = relation if query.limit is None else relation.limit(query.limit)
        rows = _fetch(limited, query.most_bytes)
        return rows.cast(canonical(rows.schema))
    return _write(query, query.output, relation).to_bytes()


def _fetch(relation: duckdb.DuckDBPyRelation, most_bytes: int | None) -> pa.Table:
    if most_bytes is None:
        return relation.to_arrow_table()
    reader = relation.to_arrow_reader(_FEW_ROWS)
    return collect_rows((pa.Table.from_batches([each]) for each in reader), reader.schema, most_bytes)


@contextmanager
def keep_ctrl_c() -> Iterator[None]:
    """Raise ctrl-C as what it is: DuckDB, where it runs in the main thread, makes another error of it."""
    try:
        yield
    except RuntimeError as error:
        if "Query interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from error


def create_views(connection: duckdb.DuckDBPyConnection, query: SqlQuery) -> None:
    """Make the tables of a query known under their names."""
    connection.execute("SET TimeZone = 'UTC'")
    for table in query.tables:
        connection.execute(_view(table))


def _close_off(connection: duckdb.DuckDBPyConnection, query: SqlQuery) -> None:
    """Leave nothing within reach but the files of the tables."""
    files = [file for table in query.tables for file in table.files]
    connection.execute(f"SET allowed_paths = {_list(files)}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def to_duckdb(query: SqlQuery) -> Translation:
    """Return the statement of a query in the words of DuckDB, with the types that its columns have in Spark."""
    schemas = {table.name: _whole_schema(table) for table in query.tables}
    return translate_statement(query.statement, query.parameters, schemas)


def _whole_schema(table: SqlTable) -> pa.Schema:
    schema = decode_schema(table.schema)
    if not table.positions:
        return schema
    return schema.append(pa.field(FILE_COLUMN, pa.int64())).append(pa.field(ROW_COLUMN, pa.int64()))


def open_relation(connection: duckdb.DuckDBPyConnection, translation: Translation) -> duckdb.DuckDBPyRelation:
    """Return the rows of a statement, not yet asked for."""
    for macro in translation.macros:
        connection.execute(macro)
    return connection.sql(translation.text)


def _as_spark(
    relation: duckdb.DuckDBPyRelation, translation: Translation, names: Sequence[str] | None
) -> duckdb.DuckDBPyRelation:
    """The rows with the names and the types that they have in Spark."""
    if names is None and not all(translation.names):
        raise BadQuery("A column has no name.", hint="Give it one with AS.")
    wanted = list(names or translation.names)
    check_names(wanted)
    columns = [
        f"CAST(#{place} AS {duckdb_type(kind)}) AS {quote_name(name)}"
        for place, (name, kind) in enumerate(zip(wanted, translation.kinds, strict=True), 1)
    ]
    return relation.project(", ".join(columns))


def _view(table: SqlTable) -> str:
    schema = decode_schema(table.schema)
    others = {*table.partition_keys, *table.converted}
    columns = ", ".join(_column(field, field.name in others) for field in schema)
    if table.positions:
        columns += f", file_index::BIGINT AS {FILE_COLUMN}, file_row_number::BIGINT AS {ROW_COLUMN}"
    if not table.files:
        empty = ", ".join(f"NULL::{duckdb_type(field.type)} AS {quote_name(field.name)}" for field in schema)
        positions = f", 0::BIGINT AS {FILE_COLUMN}, 0::BIGINT AS {ROW_COLUMN}" if table.positions else ""
        return f"CREATE TEMP VIEW {quote_name(table.name)} AS SELECT {empty}{positions} WHERE false"
    options = "union_by_name = true, hive_partitioning = true, hive_types_autocast = false"
    if not table.partition_keys:
        options = "union_by_name = true, hive_partitioning = false"
    files = f"read_parquet({_list(table.files)}, {options})"
    return f"CREATE TEMP VIEW {quote_name(table.name)} AS SELECT {columns} FROM {files}"  # noqa: S608 (all names are quoted)


def _column(field: pa.Field, is_another: bool) -> str:
    """A column in its type: what the name of a folder says is text, and a file may have another one."""
    name = quote_name(field.name)
    return f"CAST({name} AS {duckdb_type(field.type)}) AS {name}" if is_another else name


def _list(texts: Any) -> str:
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"


def _write(query: SqlQuery, output: Output, relation: duckdb.DuckDBPyRelation) -> Piece:
    filesystem = open_filesystem(output.staging.storage)
    schema = canonical(relation.limit(0).to_arrow_table().schema)
    place = SinkPlace(filesystem, output.staging.path, f"part-{output.commit}-00000-{uuid.uuid4().hex[:8]}")
    count = 0
    with open_sink(output.sink.name, place, schema, output.sink.options) as sink:
        for batch in relation.to_arrow_reader(BATCH):
            rows = pa.Table.from_batches([batch]).cast(schema).combine_chunks()
            for each in rows.to_batches():
                sink.write(each)
            count += batch.num_rows
    return Piece(count, list(sink.files), sink.result(), encode_schema(schema))


def _explain_error(error: Exception, statement: str) -> Exception:
    if isinstance(error, duckdb.IOException) and "No files found" in str(error):
        return table_gone()
    if isinstance(error, duckdb.InterruptException) or str(error).startswith("INTERRUPT Error"):
        return ClientFailed("The query was interrupted.")
    if isinstance(error, duckdb.BinderException) and "volatile" in str(error):
        return unlike_spark("window over a value that may be an error", ": compute it in a subquery first")
    if isinstance(error, duckdb.BinderException) and (found := _NOT_GROUPED.search(str(error))):
        message = f'"{found[1]}" is neither in GROUP BY nor inside of an aggregate such as max.'
        return bad_query(statement, column_start(statement, found[1]), message)
    if isinstance(error, duckdb.ConversionException) and "UTF8" in str(error):
        return error_of_broken_text()
    if isinstance(error, duckdb.Error) or _OF_A_READER.match(str(error)):
        first = str(error).strip().splitlines()[0]
        return BadQuery(f"The query failed: {_KIND.sub('', first)}")
    return error


_NOT_GROUPED = re.compile(r'column "(.+?)" must appear in the GROUP BY')
_OF_A_READER = re.compile(r"(Invalid Input|Conversion|Out of Range|Binder|Constraint|Out of Memory) Error: ")
"""What Arrow's reader raises for DuckDB is an OSError, which has but its words."""

_KIND = re.compile(r"^(Invalid Input|Binder) Error: ")
