"""A table as a test wants it written: given rows, what is in the files, and what does a reader find?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.format.job import FormatJob, FormatOptions
from mason.pipeline.jobs.format.outcome import FormatResult
from mason.pipeline.jobs.format.plan import FormatPlan, plan_format
from mason.pipeline.jobs.format.run import run_format
from mason.pipeline.reading.scan import plan_scan, run_scan
from mason.pipeline.reading.tasks.sinks import Sink, SinkPlace, SinkSpec
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.work.tasks import TaskRunner

_COLLECTED: list[pa.RecordBatch] = []


class CollectSink:
    """Keeps the rows in memory; for tasks in this process."""

    files: tuple[str, ...] = ()

    def write(self, rows: pa.RecordBatch) -> None:
        _COLLECTED.append(rows)

    def result(self) -> Mapping[str, Any]:
        return {}

    def __enter__(self) -> CollectSink:
        return self

    def __exit__(self, *raised: object) -> None:
        pass


def collect_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> Sink:
    return CollectSink()


def read_table(path: Path) -> pa.Table:
    """Return what Mason's own reader finds at a path."""
    _COLLECTED.clear()
    spec = SinkSpec("tests.format.conftest:collect_sink")
    done = run_scan(plan_scan(Location(str(path))), spec, InProcessRunner(), "read", lambda *_: None)
    return pa.Table.from_batches(_COLLECTED, done.scan.schema)


@dataclass
class Format:
    """A table in `in`, written to `out`."""

    root: Path
    runner: TaskRunner = field(default_factory=InProcessRunner)
    jobs: Iterator[int] = field(default_factory=lambda: iter(range(10_000)))

    @property
    def output(self) -> Path:
        return self.root / "out"

    def given(self, table: pa.Table | Mapping[str, Any] | str, name: str = "in/given.parquet") -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(table, str):
            file.write_text(table)
        else:
            pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), file)
        return file

    def plan(self, format_: str, source: str = "in", output: str = "out", **options: Any) -> FormatPlan:
        read, written = Location(str(self.root / source)), Location(str(self.root / output))
        return plan_format(FormatJob(read, written, FormatOptions(format=format_, **options)))

    def run(self, format_: str, source: str = "in", output: str = "out", **options: Any) -> FormatResult:
        return self.run_plan(self.plan(format_, source, output, **options))

    def run_plan(self, plan: FormatPlan) -> FormatResult:
        return run_format(plan, self.runner, f"job{next(self.jobs)}", lambda *_: None)

    def commit(self, output: str = "out") -> CommitRecord | None:
        return TableFolder(str(self.root / output)).current()

    def files(self, output: str = "out") -> list[Path]:
        commit = self.commit(output)
        assert commit is not None
        return [self.root / output / each.path for each in commit.files]

    def text(self) -> str:
        (file,) = self.files()
        return file.read_bytes().decode()

    def rows(self, output: str = "out") -> list[dict[str, Any]]:
        return list(read_table(self.root / output).to_pylist())


@pytest.fixture
def format_(tmp_path: Path) -> Format:
    return Format(tmp_path)
