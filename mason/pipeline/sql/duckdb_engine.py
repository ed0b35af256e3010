"""Queries in this process, by DuckDB: for small data and for tests, with the answers that Spark would give."""

from __future__ import annotations

import queue
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from mason.errors import ClientFailed
from mason.pipeline.evidence_json import decode_schema
from mason.pipeline.sinks import SinkPlace, open_sink
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
    encode_rows,
    table_gone,
)
from mason.pipeline.sql.statement import as_select, check_names, statements_in
from mason.pipeline.storage_address import open_filesystem
from mason.pipeline.tasks import BEAT_SECONDS, TaskEvent

BATCH = 122_880


def run_query(content: bytes) -> Iterator[TaskEvent]:
    """Run a query in a thread, and yield beats until its result is there; closing the iterator interrupts it."""
    connection = duckdb.connect(config={"allow_community_extensions": False, "autoinstall_known_extensions": False})
    outcomes: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            outcomes.put(_result(connection, SqlQuery.of(content)))
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
                raise _explained(outcome) from outcome
            yield 0, outcome
            return
    finally:
        while thread.is_alive():
            connection.interrupt()
            thread.join(0.1)
        connection.close()


def _result(connection: duckdb.DuckDBPyConnection, query: SqlQuery) -> bytes:
    with at_hand(query.tables, query.storage) as tables:
        return _result_here(connection, replace(query, tables=tables))


def _result_here(connection: duckdb.DuckDBPyConnection, query: SqlQuery) -> bytes:
    create_views(connection, query)
    _close_off(connection, query)
    relation = _named(connection.sql(to_duckdb(query)), query.names)
    if query.output is None:
        limited = relation if query.limit is None else relation.limit(query.limit)
        return encode_rows(_plain(limited, limited.to_arrow_table()))
    return _write(query, query.output, relation).to_bytes()


@contextmanager
def ctrl_c_kept() -> Iterator[None]:
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


def to_duckdb(query: SqlQuery) -> str:
    """Return a statement of Spark SQL in the words of DuckDB, with its parameters in place as values."""
    # Spark 4 raises where Spark 3 gave null, as Databricks does: with its words nothing is softened on the way.
    (given,) = statements_in(query.statement, "databricks")
    tree = as_select(given)
    for open_one in list(tree.find_all(exp.Placeholder)):
        open_one.replace(exp.convert(query.parameters[open_one.name]))
    for division in list(tree.find_all(exp.Div)):
        division.set("expression", _not_zero(division.expression))
    _keep_decimals(tree, {table.name: decode_schema(table.schema) for table in query.tables})
    return str(tree.sql(dialect="duckdb", identify=True))


def _not_zero(divisor: Any) -> Any:
    """Return a divisor that is an error where it is zero, as in Spark; DuckDB's division of doubles gives infinity."""
    if isinstance(divisor, exp.Literal) and divisor.name.strip("0.") != "":
        return divisor
    return exp.paren(
        exp.case()
        .when(exp.paren(divisor.copy()).eq(0), exp.func("error", exp.Literal.string("Division by zero.")))
        .else_(divisor)
    )


def _keep_decimals(tree: Any, schemas: Mapping[str, pa.Schema]) -> None:
    """Give sums and means of decimals the types that they have in Spark; DuckDB's mean would be a double."""
    columns: dict[str, object] = {
        table: {each.name: duckdb_type(each.type) for each in schema} for table, schema in schemas.items()
    }
    try:
        typed = annotate_types(qualify(tree.copy(), schema=columns, validate_qualify_columns=False), schema=columns)
    except SqlglotError:
        return  # what cannot be typed here keeps the types of DuckDB
    pairs = zip(list(tree.find_all(exp.Sum, exp.Avg)), list(typed.find_all(exp.Sum, exp.Avg)), strict=False)
    for call, known in list(pairs):
        kind = known.this.type
        if kind is not None and kind.is_type(exp.DataType.Type.DECIMAL) and len(kind.expressions) == 2:
            digits, scale = (int(each.name) for each in kind.expressions)
            more, finer = (10, 0) if isinstance(call, exp.Sum) else (4, 4)
            wanted = f"DECIMAL({min(digits + more, 38)}, {min(scale + finer, 38)})"
            whole = whole_call(call)
            whole.replace(exp.cast(whole.copy(), wanted))


def whole_call(call: Any) -> Any:
    """Return the call of a function with what belongs to it: OVER (…), FILTER (…)."""
    while isinstance(call.parent, exp.Window | exp.Filter) and call.parent.this is call:
        call = call.parent
    return call


def _named(relation: duckdb.DuckDBPyRelation, names: Sequence[str] | None) -> duckdb.DuckDBPyRelation:
    check_names(names or relation.columns)
    if names is None or list(names) == relation.columns:
        return relation
    positions = ", ".join(f"#{number} AS {quoted(name)}" for number, name in enumerate(names, 1))
    return relation.project(positions)


def _view(table: SqlTable) -> str:
    schema = decode_schema(table.schema)
    columns = ", ".join(_column(field, field.name in table.partition_keys) for field in schema)
    if table.positions:
        columns += f", file_index::BIGINT AS {FILE_COLUMN}, file_row_number::BIGINT AS {ROW_COLUMN}"
    if not table.files:
        empty = ", ".join(f"NULL::{duckdb_type(field.type)} AS {quoted(field.name)}" for field in schema)
        positions = f", 0::BIGINT AS {FILE_COLUMN}, 0::BIGINT AS {ROW_COLUMN}" if table.positions else ""
        return f"CREATE TEMP VIEW {quoted(table.name)} AS SELECT {empty}{positions} WHERE false"
    options = "union_by_name = true, hive_partitioning = true, hive_types_autocast = false"
    if not table.partition_keys:
        options = "union_by_name = true, hive_partitioning = false"
    files = f"read_parquet({_list(table.files)}, {options})"
    return f"CREATE TEMP VIEW {quoted(table.name)} AS SELECT {columns} FROM {files}"  # noqa: S608 (all names are quoted)


def _column(field: pa.Field, in_folder: bool) -> str:
    name = quoted(field.name)
    return f"CAST({name} AS {duckdb_type(field.type)}) AS {name}" if in_folder else name


def duckdb_type(kind: pa.DataType) -> str:
    """Return what DuckDB calls a type."""
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if pa.types.is_list(kind):
        return f"{duckdb_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return f"STRUCT({', '.join(f'{quoted(each.name)} {duckdb_type(each.type)}' for each in kind)})"
    if pa.types.is_map(kind):
        return f"MAP({duckdb_type(kind.key_type)}, {duckdb_type(kind.item_type)})"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMPTZ" if kind.tz else "TIMESTAMP"
    return _TYPES.get(str(kind), "VARCHAR")


_TYPES = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "float": "REAL",
    "double": "DOUBLE",
    "date32[day]": "DATE",
    "binary": "BLOB",
}


def quoted(name: str) -> str:
    """Return a name as DuckDB takes any."""
    return '"' + name.replace('"', '""') + '"'


def _list(texts: Any) -> str:
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"


def _plain(relation: duckdb.DuckDBPyRelation, rows: pa.Table) -> pa.Table:
    """Rows in the types of Mason's tables: what DuckDB sums into 128 bits is a bigint in Spark."""
    schema = canonical(rows.schema)
    for number, kind in enumerate(relation.types):
        if str(kind) in ("HUGEINT", "UBIGINT", "UHUGEINT"):
            schema = schema.set(number, pa.field(schema.names[number], pa.int64()))
    return rows.cast(schema)


def _write(query: SqlQuery, output: Output, relation: duckdb.DuckDBPyRelation) -> Piece:
    filesystem = open_filesystem(query.storage)
    schema = _plain(relation, relation.limit(0).to_arrow_table()).schema
    place = SinkPlace(filesystem, output.staging, f"part-{output.commit}-00000-{uuid.uuid4().hex[:8]}")
    count = 0
    with open_sink(output.sink.name, place, schema, output.sink.options) as sink:
        for batch in relation.to_arrow_reader(BATCH):
            rows = pa.Table.from_batches([batch]).cast(schema).combine_chunks()
            for each in rows.to_batches():
                sink.write(each)
            count += batch.num_rows
    return Piece(count, list(sink.files), sink.result())


def _explained(error: Exception) -> Exception:
    if isinstance(error, duckdb.IOException) and "No files found" in str(error):
        return table_gone()
    if isinstance(error, duckdb.InterruptException):
        return ClientFailed("The query was interrupted.")
    if isinstance(error, duckdb.Error):
        first = str(error).strip().splitlines()[0]
        return BadQuery(f"The query failed: {first}")
    return error
