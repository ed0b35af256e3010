"""Finds the rows that go: by tasks that each look at a share of the keys or, where there is more, by a query.

A task reads the narrow columns alone (keys, order, places) and keeps those keys whose hash is its own, so that nothing
is shuffled between tasks. Each of them reads all keys, which pays as long as they are few; beyond that the engine's own
shuffle is the better way. Both give the same rows, for their order is total: by what the user names, nulls last, then
by file, then by row.
"""

from __future__ import annotations

import json
import math
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace

import duckdb
import pyarrow as pa

from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.query.inputs import ReadyTable
from mason.pipeline.reading.request import choose_columns
from mason.pipeline.reading.tasks.sinks import SinkPlace, open_sink, table_spec
from mason.pipeline.sql.duckdb_engine import BATCH, create_views, keep_ctrl_c, to_duckdb
from mason.pipeline.sql.engine_types import quote_name
from mason.pipeline.sql.local_copies import at_hand
from mason.pipeline.sql.query import (
    FILE_COLUMN,
    ROW_COLUMN,
    Output,
    Piece,
    SqlQuery,
    SqlTable,
    quote_identifier,
    write_rows,
)
from mason.pipeline.storage.address import abilities_of, open_filesystem
from mason.pipeline.work.tasks import TaskRunner, running, without_beats

TABLE = "t"


@dataclass(frozen=True)
class OrderColumn:
    """A column to order by."""

    name: str
    descending: bool = False

    @classmethod
    def of(cls, text: str, names: Sequence[str]) -> OrderColumn:
        """Read `updated_at`, `updated_at desc` or `updated_at asc`; a column that is called so is taken by its name."""
        name, _, word = text.rpartition(" ")
        if text not in names and word.casefold() in ("asc", "desc"):
            return cls(name.strip(), word.casefold() == "desc")
        return cls(text)


def order_columns(texts: Sequence[str], schema: pa.Schema) -> list[OrderColumn]:
    """Return the columns to order by.

    Raises:
        NoSuchColumn: one of them is not there.
    """
    columns = [OrderColumn.of(text, schema.names) for text in texts]
    choose_columns(schema, [each.name for each in columns])
    return columns


def query_of_removed_rows(keys: Sequence[str], order: Sequence[OrderColumn], *, keep_last: bool) -> str:
    """Return the query for the rows that go: all but the first of each key, in the order or against it.

    A row without a value to order by never wins over one that has it, whichever end is kept.
    """
    ordered = [(quote_identifier(each.name), each.descending != keep_last) for each in order]
    ordered += [(FILE_COLUMN, keep_last), (ROW_COLUMN, keep_last)]
    by = ", ".join(f"{name} {'DESC' if descending else 'ASC'} NULLS LAST" for name, descending in ordered)
    grouped = ", ".join(quote_identifier(key) for key in keys)
    rank = f"row_number() OVER (PARTITION BY {grouped} ORDER BY {by})"
    ranked = f"SELECT {FILE_COLUMN}, {ROW_COLUMN}, {rank} AS _mason_rank FROM {TABLE}"  # noqa: S608 (names are quoted)
    return f"SELECT {FILE_COLUMN}, {ROW_COLUMN} FROM ({ranked}) WHERE _mason_rank > 1"  # noqa: S608


KERNEL = "mason.pipeline.jobs.dedupe.find:find_task"
MOST_ROWS_BY_TASKS = 50_000_000
MOST_BYTES_READ = 8 * 1024**3
ROWS_OF_TWO_TASKS = 12_000_000
FEW_ROWS = 1_000_000
_MEMORY = "2GB"


@dataclass(frozen=True, kw_only=True)
class FindTask:
    """One share of the keys."""

    number: int
    shares: int
    query: str
    keys: Sequence[str]
    table: SqlTable
    positions: Location
    commit: str

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def of(cls, content: bytes) -> FindTask:
        value = json.loads(content)
        table, positions = SqlTable(**value["table"]), Location(**value["positions"])
        return cls(**{**value, "table": table, "positions": positions})


@dataclass(frozen=True)
class Wanted:
    """What is asked: the query for the rows that go, the keys, and all columns that it needs."""

    query: str
    keys: Sequence[str]
    needed: Sequence[str]


@dataclass(frozen=True)
class Found:
    """The rows that go: how many, and the files that say where they stand, by the number of the table's file."""

    rows: int
    files: Mapping[str, Sequence[str]]
    storage: str

    @classmethod
    def of(cls, folder: Location, pieces: Sequence[Piece]) -> Found:
        """Only the files that tasks named count: one that was tried again has left others."""
        files: dict[str, list[str]] = {}
        for path in (path for piece in pieces for path in piece.files):
            number = path.partition("/")[0].removeprefix(f"{FILE_COLUMN}=")
            files.setdefault(number, []).append(f"{folder.path}/{path}")
        return cls(sum(piece.rows for piece in pieces), files, folder.storage)

    def places(self, table: ReadyTable) -> dict[str, Sequence[str]]:
        """Return, for each file of the table, the files that say which of its rows were found."""
        return {path: self.files.get(str(number), []) for number, path in enumerate(table.sql_table().files)}


def find_rows(runner: TaskRunner, ready: ReadyTable, wanted: Wanted, job_id: str, folder: Location) -> Found:
    """Write the places of the rows that go into a folder."""
    table = ready.sql_table(positions=True)
    shares = _shares(ready, wanted)
    if shares is None:
        asked = SqlQuery(
            statement=wanted.query, tables=[table], output=Output(table_spec([FILE_COLUMN]), folder, job_id)
        )
        return Found.of(folder, write_rows(runner, asked))
    share = FindTask(
        number=0,
        shares=shares,
        query=wanted.query,
        keys=list(wanted.keys),
        table=table,
        positions=folder,
        commit=job_id,
    )
    tasks = [replace(share, number=number).to_bytes() for number in range(shares)]
    with running(runner, KERNEL, tasks) as events:
        return Found.of(folder, [Piece.of(content) for _, content in without_beats(events)])


def _shares(ready: ReadyTable, wanted: Wanted) -> int | None:
    """How many tasks find the rows; None if they would read too much."""
    if ready.rows > MOST_ROWS_BY_TASKS:
        return None
    shares = 1 if ready.rows <= FEW_ROWS else 2 * math.ceil(ready.rows / ROWS_OF_TWO_TASKS)
    if shares > 1 and not abilities_of(ready.scan.location.storage).is_near:
        return None  # each of them would have to fetch all files
    read = ready.scan.input_bytes * len(wanted.needed) / max(len(ready.scan.schema), 1)
    return shares if shares * read <= MOST_BYTES_READ else None


def find_task(content: bytes) -> bytes:
    """Find the rows of one share."""
    with keep_ctrl_c():
        return _find(FindTask.of(content)).to_bytes()


def _find(task: FindTask) -> Piece:
    filesystem = open_filesystem(task.positions.storage)
    name = f"part-{task.commit}-{task.number:05}-{uuid.uuid4().hex[:8]}"
    spec = table_spec([FILE_COLUMN])
    with ExitStack() as stack:
        spilled = stack.enter_context(tempfile.TemporaryDirectory(prefix="mason-"))
        (task,) = [replace(task, table=table) for table in stack.enter_context(at_hand([task.table]))]
        connection = stack.enter_context(duckdb.connect())
        connection.execute(f"SET memory_limit = '{_MEMORY}'")
        connection.execute(f"SET temp_directory = '{spilled}'")
        relation = connection.sql(_statement(connection, task))
        schema = relation.limit(0).to_arrow_table().schema
        rows = 0
        with open_sink(spec.name, SinkPlace(filesystem, task.positions.path, name), schema, spec.options) as sink:
            for batch in relation.to_arrow_reader(BATCH):
                sink.write(batch)
                rows += batch.num_rows
    return Piece(rows, list(sink.files))


def _statement(connection: duckdb.DuckDBPyConnection, task: FindTask) -> str:
    """The query over the keys of this share alone."""
    query = SqlQuery(statement=task.query, tables=[task.table])
    create_views(connection, query)
    statement = to_duckdb(query).text  # which calls no macro
    if task.shares == 1:
        return statement
    keys = ", ".join(map(quote_name, task.keys))
    share = f"CREATE TEMP VIEW mason_share AS FROM {TABLE} WHERE hash({keys}) % {task.shares} = {task.number}"
    connection.execute(share)
    return statement.replace(f'FROM "{TABLE}"', "FROM mason_share")
