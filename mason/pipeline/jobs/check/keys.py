"""Rows that fail a check by keys, found before the pass over the data by the narrow columns alone.

A duplicate is found as dedupe finds one: by tasks that each look at a share of the keys, or by a query where there are
more rows than that pays for. A key that another table does not have is found by a query over both tables. What either
gives are the places of the rows, and the pass over the data meets them there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.check.checks import Check
from mason.pipeline.jobs.dedupe.find import TABLE, Found, Wanted, find_rows
from mason.pipeline.jobs.query.inputs import ReadyTable
from mason.pipeline.reading.tasks.sinks import table_spec
from mason.pipeline.sql.query import FILE_COLUMN, ROW_COLUMN, Output, SqlQuery, quote_identifier, write_rows
from mason.pipeline.work.tasks import TaskRunner

_CHECKED, _REFERENCED = "_mason_checked", "_mason_referenced"
_HERE, _THERE = "_mason_here_", "_mason_there_"


def find_failing_keys(
    check: Check,
    table: ReadyTable,
    references: Mapping[str, ReadyTable],
    runner: TaskRunner,
    job_id: str,
    folder: Location,
) -> Found:
    """Return the rows that fail a check, whose places are written into a folder."""
    if check.kind == "unique":
        wanted = Wanted(_duplicates(check.columns), check.columns, check.columns)
        return find_rows(runner, table, wanted, job_id, folder)
    checked = replace(table.sql_table(positions=True), name=_CHECKED)
    referenced = replace(references[check.references].sql_table(), name=_REFERENCED)
    statement = _orphans(check.columns, check.keys_there)
    output = Output(table_spec([FILE_COLUMN]), folder, job_id)
    query = SqlQuery(statement=statement, tables=[checked, referenced], output=output)
    return Found.of(folder, write_rows(runner, query))


def _duplicates(keys: Sequence[str]) -> str:
    """The query for rows whose key another row has, too. As in SQL, a key with a null in it is like no other."""
    grouped = ", ".join(map(quote_identifier, keys))
    same = f"count(*) OVER (PARTITION BY {grouped})"
    whole = _whole(map(quote_identifier, keys))
    rows = f"SELECT {FILE_COLUMN}, {ROW_COLUMN}, {same} AS _mason_same FROM {TABLE} WHERE {whole}"  # noqa: S608 (names are quoted)
    return f"SELECT {FILE_COLUMN}, {ROW_COLUMN} FROM ({rows}) WHERE _mason_same > 1"  # noqa: S608


def _orphans(keys: Sequence[str], keys_there: Sequence[str]) -> str:
    """The query for rows whose key the other table does not have; one with a null in it refers to nothing.

    Keys get names of their own: a column may be called as anything else here is.
    """
    here = ", ".join(f"{quote_identifier(key)} AS {_HERE}{number}" for number, key in enumerate(keys))
    there = ", ".join(f"{quote_identifier(key)} AS {_THERE}{number}" for number, key in enumerate(keys_there))
    same = " AND ".join(f"{_THERE}{number} = {_HERE}{number}" for number in range(len(keys)))
    rows = f"SELECT {FILE_COLUMN}, {ROW_COLUMN}, {here} FROM {_CHECKED} WHERE {_whole(map(quote_identifier, keys))}"  # noqa: S608
    found = f"EXISTS (SELECT 1 FROM (SELECT {there} FROM {_REFERENCED}) WHERE {same})"  # noqa: S608
    return f"SELECT {FILE_COLUMN}, {ROW_COLUMN} FROM ({rows}) WHERE NOT {found}"  # noqa: S608


def _whole(names: Iterable[str]) -> str:
    return " AND ".join(f"{name} IS NOT NULL" for name in names)
