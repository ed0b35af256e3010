"""Runs SQL over tables on a Spark session, classic or Connect: each table is a view of its own files, and no others."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from mason.clients.spark.own_code import explain_own_error, is_connect, own_frame
from mason.clients.spark.settings import SESSION_GUARDS
from mason.clients.spark.worker import RESULT_SCHEMA
from mason.errors import MasonError
from mason.pipeline.reading.tasks.sinks import SinkPlace, open_sink
from mason.pipeline.sql.query import (
    FILE_COLUMN,
    ROW_COLUMN,
    BadQuery,
    Output,
    Piece,
    SqlQuery,
    SqlTable,
    canonical,
    check_text,
    quote_identifier,
    spark_type_of,
    table_gone,
    time_text,
)
from mason.pipeline.sql.rendering import place_in_text
from mason.pipeline.sql.statement import bad_query, check_names, offset_of
from mason.pipeline.storage.address import java_needs, open_filesystem
from mason.pipeline.types.evidence_json import decode_schema, encode_schema
from mason.pipeline.work.failures import encode_failure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# Of analysis, which counts columns from 0; and of values, which counts them from 1.
_PLACES = (re.compile(r"line (\d+) pos (\d+)"), re.compile(r"\(line (\d+), position (\d+)\)"))
_NAME_COLUMN = "_mason_name"


def query_frame(spark: SparkSession, query: SqlQuery) -> DataFrame:
    """Return the rows of a query, not yet asked for."""
    _set_all(spark, {**SESSION_GUARDS, "spark.sql.session.timeZone": "UTC"})
    frames = {table.name: _table_frame(spark, table) for table in query.tables}
    if query.code:
        return own_frame(spark, query.code, frames, query.parameters)
    frame = _over_connect(spark, query, frames) if is_connect(spark) else _with_views(spark, query, frames)
    check_names(query.names or frame.columns)
    return frame if query.names is None else frame.toDF(*query.names)


def forget_tables(spark: SparkSession, query: SqlQuery) -> None:
    """Leave nothing in the session for the command that has it next."""
    for table in query.tables:
        spark.sql(f"DROP VIEW IF EXISTS {quote_identifier(table.name)}")


def _with_views(spark: SparkSession, query: SqlQuery, frames: Mapping[str, DataFrame]) -> DataFrame:
    for name, frame in frames.items():
        frame.createOrReplaceTempView(quote_identifier(name))
    from pyspark.sql import functions

    parameters = {name: _literal(value, functions) for name, value in query.parameters.items()}
    text = query.rendered or query.statement
    return spark.sql(text, args=parameters) if parameters else spark.sql(text)


def _over_connect(spark: SparkSession, query: SqlQuery, frames: Mapping[str, DataFrame]) -> DataFrame:
    """The query and its tables as one plan, which saves a round trip for each. The server makes views of them itself.

    `sql` of pyspark does the same for tables that stand in braces in the text; then errors would point elsewhere.
    """
    from pyspark.sql.connect import functions
    from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
    from pyspark.sql.connect.plan import SQL, SubqueryAlias

    tables = [SubqueryAlias(cast(Any, frame)._plan, quote_identifier(name)) for name, frame in frames.items()]
    parameters = {name: _literal(value, functions) for name, value in query.parameters.items()}
    return cast(
        "DataFrame", ConnectFrame(SQL(query.rendered or query.statement, [], parameters, tables), cast(Any, spark))
    )


def _literal(value: Any, functions: Any) -> Any:
    """The value of a parameter. Days and moments are said in text: pyspark would see them from its machine's zone."""
    if isinstance(value, dt.date):
        return functions.expr(f"{spark_type_of(value)}'{time_text(value)}'")
    return functions.lit(value)


def _set_all(spark: SparkSession, settings: Mapping[str, str]) -> None:
    """Settings of the session that whoever had it before may have changed; over Connect they take one round trip."""
    if is_connect(spark):
        from mason.clients.spark.quiet import keep_quiet

        keep_quiet()
        cast(Any, spark.conf)._set_all(dict(settings), silent=False)
        return
    for name, value in settings.items():
        spark.conf.set(name, value)


def columns_of(frame: DataFrame) -> pa.Schema:
    """Return the columns of a frame, as Mason's tables have them: it is analysed, and nothing is read."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return canonical(to_arrow_schema(frame.schema))


def write_frame(frame: DataFrame, output: Output) -> DataFrame:
    """Return the pieces of a result, each written by the task that has its rows."""
    spark = frame.sparkSession
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 100_000)
    names = frame.columns
    # Spark looks the columns up by their names once more, and trips over dots and backticks in them.
    plain = frame.toDF(*[f"c{number}" for number in range(len(names))])
    return plain.mapInArrow(partial(_write_rows, output, names), RESULT_SCHEMA)


def _table_frame(spark: SparkSession, table: SqlTable) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import LongType, StructField, StructType

    schema = from_arrow_schema(decode_schema(table.schema), prefer_timestamp_ntz=True)
    if not table.files:
        places = [StructField(name, LongType()) for name in (FILE_COLUMN, ROW_COLUMN)] if table.positions else []
        return spark.createDataFrame([], StructType([*schema.fields, *places]))
    frames = [_files_frame(spark, table.storage, schema, root, files) for root, files in _by_root(table).items()]
    frame = reduce(lambda one, other: one.unionAll(other), frames)
    whole = _with_positions(spark, frame, table) if table.positions else frame
    return _in_order(whole, schema.names, table) if table.partition_keys else whole


def _in_order(frame: DataFrame, names: Sequence[str], table: SqlTable) -> DataFrame:
    """The columns as the table has them: Spark puts those of folders last."""
    places = (FILE_COLUMN, ROW_COLUMN) if table.positions else ()
    return frame.selectExpr(*map(quote_identifier, (*names, *places)))


def _files_frame(spark: SparkSession, storage: str, schema: StructType, root: str, files: Sequence[str]) -> DataFrame:
    base = java_needs(storage).root
    reader = spark.read.schema(schema).option("basePath", f"{base}{root}")
    return reader.parquet(*[f"{base}{_as_pattern(file)}" for file in files])


def _as_pattern(file: str) -> str:
    """The path as the pattern that only it fits: a name may hold brackets and stars, and Spark looks for patterns.

    The option `__globPaths__` would keep it from that, but a server of Connect loses the option: it lowers its name.
    """
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", file)


def _by_root(table: SqlTable) -> Mapping[str, Sequence[str]]:
    """The files by the folder that the folders of partitions are in: on an object store each commit has its own."""
    roots: dict[str, list[str]] = {}
    for file in table.files:
        root = file.rsplit("/", len(table.partition_keys) + 1)[0] if table.partition_keys else table.path
        roots.setdefault(root, []).append(file)
    return roots


def _with_positions(spark: SparkSession, frame: DataFrame, table: SqlTable) -> DataFrame:
    # Expressions as text: the functions of pyspark are others for a classic session than for Connect.
    row = f"_metadata.row_index as {ROW_COLUMN}"
    if len(table.files) == 1:
        return frame.selectExpr("*", f"cast(0 as bigint) as {FILE_COLUMN}", row)
    names = [file.rpartition("/")[2] for file in table.files]
    numbers = spark.createDataFrame(pa.table({_NAME_COLUMN: names, FILE_COLUMN: range(len(names))}))
    placed = frame.selectExpr("*", f"_metadata.file_name as {_NAME_COLUMN}", row)
    return placed.join(numbers.hint("broadcast"), _NAME_COLUMN).drop(_NAME_COLUMN)


def _write_rows(output: Output, names: Sequence[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Write the rows of one partition; what Spark calls through `mapInArrow`."""
    number = _partition()
    try:
        failed, payload = False, _write(output, number, _rename_columns(batches, names)).to_bytes()
    except MasonError as error:
        failed, payload = True, encode_failure(error)
    yield pa.record_batch(
        [pa.array([number], pa.int64()), pa.array([failed]), pa.array([payload], pa.binary())],
        names=["number", "failed", "payload"],
    )


def _write(output: Output, number: int, batches: Iterator[pa.RecordBatch]) -> Piece:
    first = next(batches, None)
    if first is None:
        return Piece(0, [])
    filesystem = open_filesystem(output.staging.storage)
    schema = canonical(first.schema)
    place = SinkPlace(filesystem, output.staging.path, f"part-{output.commit}-{number:05}-{uuid.uuid4().hex[:8]}")
    rows = 0
    with open_sink(output.sink.name, place, schema, output.sink.options) as sink:
        for batch in _chain(first, batches):
            check_text(batch)
            sink.write(batch if batch.schema.equals(schema) else batch.cast(schema))
            rows += batch.num_rows
    return Piece(rows, list(sink.files), sink.result(), encode_schema(schema))


def _rename_columns(batches: Iterator[pa.RecordBatch], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    return (batch.rename_columns(names) for batch in batches)


def _chain(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context else 0


def explain_query_error(error: Exception, query: SqlQuery) -> Exception | None:
    """Return what an error of Spark's says of the query, if it does."""
    from pyspark.errors import AnalysisException, ParseException

    text = str(error)
    if query.code and (own := explain_own_error(error, query.code)):
        return own
    if "FILE_NOT_EXIST" in text or "FileNotFoundException" in text or "PATH_NOT_FOUND" in text:
        return table_gone()
    if "null type field" in text:  # what Arrow says of array() and map()
        hint = "Give it one, as in cast(array() as array<string>)."
        return BadQuery("A list or a map in which nothing can be has no type.", hint=hint)
    if "StackOverflowError" in text:
        said = "A pattern, or another part of the query, goes too deep for Spark, as a group such as (a|b)* does."
        return BadQuery(said, hint="Write it without a group that repeats, as in [ab]*.")
    if not isinstance(error, AnalysisException | ParseException) and not _is_of_the_query(error):
        return None
    message = _first_sentence(text)
    for first, pattern in enumerate(_PLACES):
        if found := pattern.search(text):
            return bad_query(query.statement, _start(query, int(found[1]), int(found[2]) + 1 - first), message)
    return BadQuery(f"The query failed: {message}")


def _start(query: SqlQuery, line: int, column: int) -> int:
    """Where in the caller's text that stands of which Spark tells a line and a column."""
    if not query.rendered:
        return offset_of(query.statement, line, column)
    return place_in_text(query.statement, query.rendered, offset_of(query.rendered, line, column))


def _is_of_the_query(error: Exception) -> bool:
    """Whether values were the trouble, such as a division by zero, and not Spark."""
    condition = getattr(error, "getCondition", lambda: None)()
    return bool(condition) and not str(condition).startswith(("INTERNAL", "FAILED_", "_LEGACY"))


def _first_sentence(text: str) -> str:
    first = text.strip().split("\n\n")[0].splitlines()
    sentence = " ".join(line.strip() for line in first if not line.startswith(("==", "at "))).split(" SQLSTATE:")[0]
    return re.sub(r"^\[[A-Z_.0-9]+\] ", "", sentence.split("; line ")[0]).strip(" ;")
