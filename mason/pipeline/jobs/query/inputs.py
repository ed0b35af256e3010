"""The tables of a query. One that Mason made is read as it is; other files are brought into that form first."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.merge.plan import plan_table
from mason.pipeline.jobs.merge.run import run_merge
from mason.pipeline.reading.scan import Scan, plan_scan
from mason.pipeline.sql.engine_types import sql_schema
from mason.pipeline.sql.query import SqlTable
from mason.pipeline.storage.scratch import scratch_folder
from mason.pipeline.types.evidence_json import encode_schema
from mason.pipeline.work.base import Progress
from mason.pipeline.work.tasks import TaskRunner
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
        document: dict[str, Any] = {
            "Name": self.name,
            "Path": str(self.scan.location),
            "Files": len(self.scan.plan.files),
            "Bytes": self.scan.input_bytes,
            "Columns": list(self.columns),
        }
        if self.scan.rows is not None:
            document["Rows"] = self.scan.rows
        return document


@dataclass(frozen=True)
class ReadyTable:
    """A table of Mason's, and what bringing files into that form left out."""

    name: str
    scan: Scan
    left_out: int = 0

    @property
    def rows(self) -> int:
        return self.scan.rows or 0

    @property
    def warnings(self) -> Sequence[str]:
        if not self.left_out:
            return []
        records = counted(self.left_out, "record")
        return [f"{self.name}: {records} could not be read and were left out; a merge of the files keeps them."]

    def sql_table(self, *, positions: bool = False) -> SqlTable:
        """Return the table as an engine that knows SQL reads it."""
        commit = self.scan.commit
        assert commit is not None
        place = self.scan.location
        files = [each.place_in(place.path) for each in commit.files]
        keys, stored = list(commit.partition_keys), self.scan.schema
        schema = sql_schema(stored)
        converted = [each.name for each in schema if each.type != stored.field(each.name).type]
        return SqlTable(
            name=self.name,
            path=place.path,
            storage=place.storage,
            files=files,
            schema=encode_schema(schema),
            partition_keys=keys,
            positions=positions,
            converted=converted,
        )


def prepare_table(
    table: TableInput,
    runner: TaskRunner,
    job_id: str,
    progress: Progress,
    stack: ExitStack,
    near: Location | None = None,
) -> ReadyTable:
    """Return the table as it is; files that are none are merged into one that lasts as long as the stack.

    That one is in the storage of `near`, which can be written to; where there is none, beside the files.

    Raises:
        TooManyBadRecords, RowsLost, UnreadableFile: as a merge of them would.
    """
    if table.is_ready:
        return ReadyTable(table.name, table.scan)
    made = stack.enter_context(scratch_folder(near or table.scan.location)).child("table")
    done = run_merge(plan_table(table.scan.plan, made), runner, job_id, progress)
    return ReadyTable(table.name, plan_scan(made), done.quarantined)
