"""A query as data: what the pipeline asks an engine that knows SQL."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from mason.engines.storage.models.location import Location
from mason.errors import Unprocessable
from mason.pipeline.reading.tasks.sinks import SinkSpec
from mason.pipeline.types.python_values import from_typed, to_typed
from mason.pipeline.work.memory_limits import ResultTooLarge
from mason.pipeline.work.tasks import TaskRunner, until_closed, without_beats

FILE_COLUMN = "_mason_file"
ROW_COLUMN = "_mason_row"
PLACES = (FILE_COLUMN, ROW_COLUMN)
"""The columns that say where a row stands."""


CANNOT_GUARANTEE = "The local engine cannot guarantee Spark's result"
"""How an error begins by which the engine that needs no Spark leaves a statement to Spark."""


class BadQuery(Unprocessable):
    """Raised when a statement cannot be run as it is written. 422 · exit 1"""


class TableChanged(Unprocessable):
    """Raised when a table is replaced or removed while a query reads it. 422 · exit 1"""


def spark_type_of(value: dt.date) -> str:
    """Return the type that a day or a moment of Python has in Spark; one without a zone stays without."""
    if not isinstance(value, dt.datetime):
        return "DATE"
    return "TIMESTAMP" if value.tzinfo else "TIMESTAMP_NTZ"


def time_text(value: dt.date) -> str:
    """Return a day or a moment as SQL writes it."""
    return value.isoformat(" ") if isinstance(value, dt.datetime) else value.isoformat()


def table_gone() -> TableChanged:
    """Return the error for a file that an engine does not find any more."""
    return TableChanged(
        "A file of a table is gone: the table was replaced or removed while the query read it.", hint="Run it again."
    )


def quote_identifier(name: str) -> str:
    """Return a name as Spark SQL takes any."""
    return "`" + name.replace("`", "``") + "`"


@dataclass(frozen=True, kw_only=True)
class SqlTable:
    """A table as a query reads it: these files and no others."""

    name: str
    path: str
    storage: str
    files: Sequence[str]
    schema: str
    """The Arrow schema, encoded; the columns of folders included."""
    partition_keys: Sequence[str] = ()
    positions: bool = False
    """Whether each row says where it stands: the number of its file, and its own in that."""
    converted: Sequence[str] = ()
    """The columns that have another type in the files."""


@dataclass(frozen=True)
class Output:
    """Where the rows of a query go."""

    sink: SinkSpec
    staging: Location
    commit: str


@dataclass(frozen=True, kw_only=True)
class OwnCode:
    """An author's own code that makes the rows out of DataFrames: it goes along, whole, with the query."""

    name: str
    """The operator's name, for messages."""
    class_name: str
    digest: str
    source: str
    """The folder that its author knows."""
    files: Mapping[str, str]
    """The files of the package, in base64, by their paths."""
    packages: Sequence[str] = ()
    declared: Sequence[str] = ()
    """The names of the parameters that its operator.yaml declares."""
    function: str = ""
    """What calls the code, named by its module as a kernel is."""

    @property
    def module(self) -> str:
        """The name of the package in a process: that of another version is another."""
        return f"mason_own_{self.digest[:16]}"


@dataclass(frozen=True, kw_only=True)
class SqlQuery:
    """A statement of Spark SQL over some tables, or an author's code over them, and what becomes of the rows."""

    statement: str
    tables: Sequence[SqlTable]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str] | None = None
    """What the columns of the result are called, where the engine need not decide it."""
    rendered: str = ""
    """The text that Spark is given for a caller's statement; Mason's own statements are given as they are."""
    limit: int | None = None
    output: Output | None = None
    most_bytes: int | None = None
    """How many bytes the rows may have that are fetched; None is not a limit."""
    code: OwnCode | None = None
    """The code that makes the rows, where no statement does."""
    analyses: bool = False
    """Whether only the columns of the result are wanted: nothing is read."""
    observes: bool = False
    """Whether the engine counts the rows that it hands over to be written, where it can."""

    def to_bytes(self) -> bytes:
        return json.dumps({**asdict(self), "parameters": to_typed(self.parameters)}, default=str).encode()

    @classmethod
    def of(cls, content: bytes) -> SqlQuery:
        value = json.loads(content)
        return cls(
            **{
                **value,
                "tables": [SqlTable(**each) for each in value["tables"]],
                "parameters": from_typed(value["parameters"]),
                "output": _output(value["output"]),
                "code": OwnCode(**value["code"]) if value["code"] else None,
            }
        )


def _output(value: Mapping[str, Any] | None) -> Output | None:
    if value is None:
        return None
    return Output(SinkSpec(**value["sink"]), Location(**value["staging"]), value["commit"])


@dataclass(frozen=True)
class Piece:
    """A part of a result that was written."""

    rows: int
    files: Sequence[str]
    payload: Mapping[str, Any] = field(default_factory=dict)
    schema: str = ""
    """The columns of the rows, encoded; those included that are the names of folders."""

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def of(cls, content: bytes) -> Piece:
        return cls(**json.loads(content))


def fetch_rows(runner: TaskRunner, query: SqlQuery) -> pa.Table:
    """Run a query and return its rows."""
    with until_closed(runner.query(query.to_bytes())) as events:
        (result,) = [content for _, content in without_beats(events)]
    return result if isinstance(result, pa.Table) else decode_rows(result)


OBSERVED = -10
"""The number of what an engine has counted, among the pieces that were written."""


@dataclass(frozen=True)
class Written:
    """The pieces of a result, in order, and how many rows the engine itself has counted, where it does."""

    pieces: Sequence[Piece]
    observed: int | None = None

    @property
    def rows(self) -> int:
        """How many rows were handed over to be written, by who had nothing to do with the files."""
        return sum(each.rows for each in self.pieces) if self.observed is None else self.observed

    @property
    def files(self) -> Sequence[str]:
        return [path for each in self.pieces for path in each.files]


def write_counted(runner: TaskRunner, query: SqlQuery) -> Written:
    """Run a query whose rows go to a sink, and return what was written."""
    with until_closed(runner.query(query.to_bytes())) as events:
        # A task that was retried tells twice: the last one counts, since only its files are known to be complete.
        told = dict(without_beats(events))
    observed = json.loads(told.pop(OBSERVED, b"null"))
    return Written([Piece.of(told[number]) for number in sorted(told)], observed)


def write_rows(runner: TaskRunner, query: SqlQuery) -> Sequence[Piece]:
    """Run a query whose rows go to a sink, and return what was written, in order."""
    return write_counted(runner, query).pieces


def collect_rows(parts: Iterable[pa.Table], schema: pa.Schema, most_bytes: int | None) -> pa.Table:
    """Return the rows that come part by part, as long as they are not too large.

    Raises:
        ResultTooLarge: they are; no further part is asked for.
    """
    gathered, size = [], 0
    for part in parts:
        size += part.nbytes
        if most_bytes is not None and size > most_bytes:
            raise ResultTooLarge(most_bytes)
        gathered.append(part)
    return pa.concat_tables([schema.empty_table(), *gathered])


def error_of_broken_text() -> BadQuery:
    """Return the error for bytes that a query calls text and that are none."""
    return BadQuery(
        "The query makes text of bytes that are not UTF-8.",
        hint="Leave them binary, or write them as text with hex() or base64().",
    )


def check_text(rows: pa.Table | pa.RecordBatch) -> None:
    """See that the text among rows is text: Spark passes on any bytes that were cast to a string.

    Raises:
        BadQuery: it is not UTF-8.
    """
    try:
        rows.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        raise error_of_broken_text() from error


def encode_rows(table: pa.Table) -> bytes:
    """Return rows as bytes."""
    counted = pa.MockOutputStream()  # a buffer that grows is copied time and again
    _write_stream(table, counted)
    whole = pa.allocate_buffer(counted.size())
    _write_stream(table, pa.FixedSizeBufferWriter(whole))
    content: bytes = whole.to_pybytes()
    return content


def _write_stream(table: pa.Table, sink: pa.NativeFile) -> None:
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def decode_rows(content: bytes) -> pa.Table:
    """Return the rows that bytes hold."""
    return pa.ipc.open_stream(content).read_all()


def canonical(schema: pa.Schema) -> pa.Schema:
    """Return a schema with the types that Mason's tables have, whatever an engine calls them."""
    return pa.schema([(each.name, _canonical(each.type)) for each in schema])


def _canonical(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    if pa.types.is_struct(kind):
        return pa.struct([(each.name, _canonical(each.type)) for each in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_list_view(kind):
        return pa.list_(_canonical(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_canonical(kind.key_type), _canonical(kind.item_type))
    return kind
