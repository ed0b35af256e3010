"""The tables of a query. One that Mason made is read as it is; other files are brought into that form first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from mason.pipeline.evidence_json import encode_schema
from mason.pipeline.scan import Scan, ScanResult, run_scan
from mason.pipeline.sinks import table_spec
from mason.pipeline.sql.query import SqlTable
from mason.pipeline.tasks import TaskRunner
from mason.pipeline.work import Progress
from mason.util.words import counted


@dataclass(frozen=True)
class TableInput:
    """A table by the name that a query has for it."""

    name: str
    scan: Scan
    columns: Sequence[str] = ()
    """The columns that are read."""

    @property
    def schema(self) -> pa.Schema:
        return self.scan.schema

    @property
    def is_ready(self) -> bool:
        """Whether its files can be read as they are."""
        return self.scan.commit is not None and self.scan.plan.is_parquet

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "Name": self.name,
            "Path": self.scan.path,
            "Files": len(self.scan.plan.files),
            "Bytes": self.scan.input_bytes,
            "Columns": list(self.columns),
        }
        if self.scan.rows is not None:
            told["Rows"] = self.scan.rows
        return told


@dataclass(frozen=True)
class ReadyTable:
    """A table whose files an engine can read, and what reading it into that form left out."""

    table: SqlTable
    rows: int
    left_out: int = 0

    @property
    def warnings(self) -> Sequence[str]:
        if not self.left_out:
            return []
        records = counted(self.left_out, "record")
        return [f"{self.table.name}: {records} could not be read and were left out; a merge of the files keeps them."]


def made_ready(
    table: TableInput, runner: TaskRunner, job_id: str, progress: Progress, scratch: str, *, positions: bool = False
) -> ReadyTable:
    """Return the table as an engine reads it; files of other forms are written to the scratch folder."""
    if not table.is_ready:
        done = run_scan(table.scan, table_spec(), runner, job_id, progress, scratch)
        return ReadyTable(_written(table.name, done, scratch, positions), done.rows, done.quarantined)
    commit = table.scan.commit
    assert commit is not None
    path = table.scan.path
    files = [f"{path}/{each.path}" for each in commit.files]
    ready = SqlTable(table.name, path, files, encode_schema(table.schema), list(commit.partition_keys), positions)
    return ReadyTable(ready, commit.rows)


def _written(name: str, done: ScanResult, scratch: str, positions: bool) -> SqlTable:
    files = [f"{scratch}/{file}" for file in done.files]
    return SqlTable(name, scratch, files, encode_schema(done.scan.schema), (), positions)


def rows_read(tables: Mapping[str, ReadyTable]) -> int:
    """Return how many rows the tables of a query have together."""
    return sum(each.rows for each in tables.values())
