"""ministack, with an engine for its Athena that takes Athena's SQL and answers as Athena's documentation says.

Run by the Python of its own environment. ministack itself hands a statement to DuckDB as it is, reads folders rather
than partitions, tells no digits of decimals and no zones, lists the oldest query first, starts one again that was asked
for with the same token, and goes on with one that was stopped. So the statement is translated from Athena's dialect
here, the tables are views of what Glue and S3 have, and the answers are Athena's. Its own part are S3, Glue, work
groups, and CREATE and DROP TABLE.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from ministack.app import main
from ministack.core.responses import error_response_json, json_response
from ministack.services import athena, glue, s3
from sqlglot import exp

_UNLOAD = re.compile(r"UNLOAD \((?P<query>.*)\) TO '(?P<place>s3://.*)' WITH \((?P<options>.*)\)", re.DOTALL)
_TYPES = {
    "FLOAT": "float",
    "BLOB": "varbinary",
    "HUGEINT": "bigint",
    "TIMESTAMP WITH TIME ZONE": "timestamp with time zone",
}
_NESTED = {"[]": "array", "MAP": "map", "STRUCT": "row"}
_PAGE = 1000

_running: dict[str, duckdb.DuckDBPyConnection] = {}
_started: dict[str | None, tuple[str, Mapping[str, Any]]] = {}
"""What was asked with which token, and what it became."""


async def execute(query_id: str, query: str, database: str, ddl: Any, catalog: str = "") -> None:
    """Run a query; in place of ministack's own."""
    execution = athena._executions[query_id]
    status, began = execution["Status"], time.time()
    status["State"] = "RUNNING"
    connection = _running[query_id] = duckdb.connect()
    try:
        with tempfile.TemporaryDirectory() as folder:
            work = _Query(query if ddl is None else "SELECT 1", database, Path(folder))
            answer = await asyncio.to_thread(work.run, connection)
            if ddl is not None:
                athena._run_ddl(ddl, database)
            if status["State"] == "RUNNING":
                work.keep()
                execution["_answer"] = answer
                execution["Statistics"]["DataScannedInBytes"] = work.scanned
                status["State"] = "SUCCEEDED"
    except Exception as error:  # noqa: BLE001 (whatever it is, the query failed with it)
        if status["State"] == "RUNNING":
            status.update(State="FAILED", StateChangeReason=str(error)[:2000])
            status["AthenaError"] = {
                "ErrorCategory": 2,
                "ErrorType": 1000,
                "Retryable": False,
                "ErrorMessage": str(error),
            }
    finally:
        del _running[query_id]
        status["CompletionDateTime"] = time.time()
        execution["Statistics"]["EngineExecutionTimeInMillis"] = int(1000 * (time.time() - began))


def start_query_execution(data: Mapping[str, Any]) -> Any:
    """Start a query, once for each token."""
    token = data.get("ClientRequestToken")
    query_id, asked = _started.get(token, ("", data))
    if asked != data:
        return error_response_json("InvalidRequestException", "Idempotent parameters do not match", 400)
    if query_id:
        return json_response({"QueryExecutionId": query_id})
    answer = _own_start(data)
    _started[token] = json.loads(answer[2]).get("QueryExecutionId", ""), data
    return answer


def get_query_results(data: Mapping[str, Any]) -> Any:
    """Answer with a page of rows; the names stand before the first."""
    execution = athena._executions.get(data.get("QueryExecutionId"))
    if not execution or execution["Status"]["State"] != "SUCCEEDED":
        return error_response_json("InvalidRequestException", "Query has not yet finished or did not succeed.", 400)
    columns, rows = execution["_answer"]
    lines = [[each["Name"] for each in columns], *rows]
    start, size = int(data.get("NextToken") or 0), min(int(data.get("MaxResults") or _PAGE), _PAGE)
    shown = [{"Data": [{} if cell is None else {"VarCharValue": cell} for cell in row]} for row in lines[start:][:size]]
    token = {"NextToken": str(start + size)} if start + size < len(lines) else {}
    return json_response({"ResultSet": {"Rows": shown, "ResultSetMetadata": {"ColumnInfo": columns}}, **token})


def stop_query_execution(data: Mapping[str, Any]) -> Any:
    """Stop a query that runs, the engine's work on it too."""
    query_id = data.get("QueryExecutionId")
    execution = athena._executions.get(query_id)
    if not execution:
        return error_response_json("InvalidRequestException", f"QueryExecution {query_id} was not found", 400)
    if execution["Status"]["State"] in ("QUEUED", "RUNNING"):
        execution["Status"].update(State="CANCELLED", StateChangeReason="Query cancelled by user")
        if query_id in _running:
            _running[query_id].interrupt()
    return json_response({})


def list_query_executions(data: Mapping[str, Any]) -> Any:
    """List the queries of a work group, the newest first, fifty at a time."""
    group = data.get("WorkGroup", "primary")
    ids = [query_id for query_id, each in athena._executions.items() if each.get("WorkGroup") == group][::-1]
    start = int(data.get("NextToken") or 0)
    token = {"NextToken": str(start + 50)} if start + 50 < len(ids) else {}
    return json_response({"QueryExecutionIds": ids[start : start + 50], **token})


def get_tables(data: Mapping[str, Any]) -> Any:
    """List the tables of a database; ministack's own has none for a database that is not there."""
    if data.get("DatabaseName") not in glue._databases:
        return error_response_json("EntityNotFoundException", f"Database {data.get('DatabaseName')} not found.", 400)
    return _own_get_tables(data)


class _Query:
    """A query with copies of the files that it reads, which are looked up while the caller's account is known."""

    def __init__(self, text: str, database: str, folder: Path) -> None:
        self.scanned = 0
        self._folder = folder
        self._numbers = itertools.count()
        unload = _UNLOAD.fullmatch(text)
        self._place = unload["place"] if unload else ""
        tree = sqlglot.parse_one(unload["query"] if unload else text, dialect="athena")
        self._views = [self._view(database, name) for name in sorted(_tables(tree))]
        self._sql = tree.sql(dialect="duckdb")

    def run(self, connection: duckdb.DuckDBPyConnection) -> tuple[Sequence[Mapping[str, Any]], Sequence[Sequence[Any]]]:
        connection.execute("SET TimeZone = 'UTC'")
        for view in self._views:
            connection.execute(view)
        if self._place:
            target = self._folder / "unloaded"
            connection.execute(f"COPY ({self._sql}) TO '{target}' (FORMAT parquet)")
            return [], []
        answer = connection.execute(self._sql)
        columns = [_column(name, str(kind)) for name, kind, *_ in answer.description]
        return columns, [[_text(cell) for cell in row] for row in answer.fetchall()]

    def keep(self) -> None:
        """Put what was unloaded into S3; no rows make no file."""
        target = self._folder / "unloaded"
        if target.exists() and duckdb.sql(f"SELECT count(*) FROM read_parquet('{target}')").fetchall() != [(0,)]:
            bucket, _, key = self._place.removeprefix("s3://").partition("/")
            name = f"{key}{int(time.time())}_00000_{target.stat().st_ino}"
            s3._put_object(bucket, name, target.read_bytes(), {"content-type": "application/octet-stream"})

    def _view(self, database: str, name: str) -> str:
        table = glue._tables.get(f"{database}/{name}")
        if not table:
            raise ValueError(f"TABLE_NOT_FOUND: line 1:15: Table 'awsdatacatalog.{database}.{name}' does not exist")
        keys = table.get("PartitionKeys", [])
        if not keys:
            return f'CREATE VIEW "{name}" AS {self._scan(table, table["StorageDescriptor"], "")}'
        scans = [
            self._scan(table, each["StorageDescriptor"], _constants(keys, each["Values"]))
            for each in glue._partitions.get(f"{database}/{name}", [])
        ]
        return f'CREATE VIEW "{name}" AS {" UNION ALL ".join(scans)}'

    def _scan(self, table: Mapping[str, Any], place: Mapping[str, Any], constants: str) -> str:
        columns = {each["Name"]: _duckdb_type(each["Type"]) for each in place["Columns"]}
        shown = ", ".join(f'CAST("{name}" AS {kind}) AS "{name}"' for name, kind in columns.items())
        files = list(self._copies(place["Location"]))
        if not files:
            empty = ", ".join(f'CAST(NULL AS {kind}) AS "{name}"' for name, kind in columns.items())
            return f"SELECT {empty}{constants} WHERE false"
        return f"SELECT {shown}{constants} FROM {_reader(table, place, columns, files)}"

    def _copies(self, location: str) -> Iterator[str]:
        bucket, _, prefix = location.removeprefix("s3://").partition("/")
        objects = s3._buckets[bucket]["objects"] if bucket in s3._buckets else {}
        for key in sorted(each for each in objects if each.startswith(prefix)):
            if any(part[:1] in ("_", ".") for part in key[len(prefix) :].split("/")) or key.endswith("/"):
                continue
            content = s3._get_object_data(bucket, key)
            self.scanned += len(content)
            copy = self._folder / str(next(self._numbers))
            copy.write_bytes(content)
            yield str(copy)


def _tables(tree: Any) -> set[str]:
    defined = {each.alias for each in tree.find_all(exp.CTE)}
    return {each.name for each in tree.find_all(exp.Table) if each.name and each.name not in defined}


def _reader(
    table: Mapping[str, Any], place: Mapping[str, Any], columns: Mapping[str, str], files: Sequence[str]
) -> str:
    serde, listed = place["SerdeInfo"], repr(list(files))
    name = serde["SerializationLibrary"].rpartition(".")[2]
    if name == "ParquetHiveSerDe":
        return f"read_parquet({listed}, union_by_name = true)"
    if name == "JsonSerDe":
        return f"read_json({listed}, columns = {columns!r}, format = 'newline_delimited')"
    header = table.get("Parameters", {}).get("skip.header.line.count") == "1"
    if name == "LazySimpleSerDe":
        delimiter = serde["Parameters"]["field.delim"]
        options = f"delim = '{delimiter}', header = {header}, quote = '', nullstr = ''"
        return f"read_csv({listed}, columns = {columns!r}, {options})"
    delimiter = serde["Parameters"]["separatorChar"]
    return f"read_csv({listed}, columns = {columns!r}, delim = '{delimiter}', header = {header}, nullstr = '\\N')"


def _constants(keys: Sequence[Mapping[str, str]], values: Sequence[str]) -> str:
    def constant(key: Mapping[str, str], value: str) -> str:
        text = "NULL" if value == "__HIVE_DEFAULT_PARTITION__" else exp.Literal.string(value).sql()
        return f', CAST({text} AS {_duckdb_type(key["Type"])}) AS "{key["Name"]}"'

    return "".join(constant(key, value) for key, value in zip(keys, values, strict=True))


def _duckdb_type(hive: str) -> str:
    return exp.DataType.build(hive, dialect="hive").sql(dialect="duckdb")


def _column(name: str, kind: str) -> dict[str, Any]:
    digits = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", kind)
    nested = next((word for mark, word in _NESTED.items() if kind.endswith(mark) or kind.startswith(f"{mark}(")), "")
    plain = nested or ("decimal" if digits else _TYPES.get(kind, kind.lower()))
    precision, scale = (int(digits[1]), int(digits[2])) if digits else (0, 0)
    return {"Name": name, "Label": name, "Type": plain, "Precision": precision, "Scale": scale, "Nullable": "UNKNOWN"}


def _text(value: Any) -> str | None:
    """A value as Athena writes it."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN" if math.isnan(value) else repr(value))
    if isinstance(value, datetime):
        text = value.replace(tzinfo=None).isoformat(" ", "milliseconds")
        return f"{text} UTC" if value.tzinfo else text
    if isinstance(value, date):
        return value.isoformat()
    return value.hex(" ") if isinstance(value, bytes) else str(value)


_own_get_tables = glue._get_tables
_own_start = athena._start_query_execution
glue._get_tables = get_tables
athena._execute_query = execute
athena._start_query_execution = start_query_execution
athena._get_query_results = get_query_results
athena._stop_query_execution = stop_query_execution
athena._list_query_executions = list_query_executions

if __name__ == "__main__":
    main()
