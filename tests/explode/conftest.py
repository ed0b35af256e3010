"""An explode as a test wants it: given records, which tables come out?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.jobs.explode.outcome import ExplodeResult
from mason.pipeline.jobs.explode.plan import ExplodePlan, plan_explode
from mason.pipeline.jobs.explode.run import run_explode
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.types.evidence_json import decode_schema
from mason.pipeline.work.tasks import TaskRunner

Rows = list[dict[str, Any]]


@dataclass
class Explode:
    """Files in `orders`, taken apart into `out`."""

    root: Path
    runner: TaskRunner = field(default_factory=InProcessRunner)
    jobs: Iterator[int] = field(default_factory=lambda: iter(range(1000)))

    @property
    def output(self) -> Path:
        return self.root / "out"

    def given(self, content: Sequence[Mapping[str, Any]] | str | pa.Table, name: str = "a.jsonl") -> Path:
        file = self.root / "orders" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, pa.Table):
            pq.write_table(content, file)
        elif isinstance(content, str):
            file.write_text(content, encoding="utf-8")
        else:
            file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content), encoding="utf-8")
        return file

    def plan(self, **options: Any) -> ExplodePlan:
        return plan_explode(
            ExplodeJob(
                path=Location(str(self.root / "orders")), name="orders", output=Location(str(self.output)), **options
            )
        )

    def run(self, **options: Any) -> ExplodeResult:
        return self.run_plan(self.plan(**options))

    def run_plan(self, plan: ExplodePlan) -> ExplodeResult:
        return run_explode(plan, self.runner, f"job{next(self.jobs)}", lambda done, tasks, records: None)

    def tables(self, **options: Any) -> dict[str, Rows]:
        """Run and return all tables, each as its own commit has it."""
        result = self.run(**options)
        return {each.flat.name: self.table(each.flat.folder).to_pylist() for each in result.tables}

    def table(self, folder: str) -> pa.Table:
        return read_table(self.output / folder)


def read_table(place: Path) -> pa.Table:
    """Return a table as its newest commit has it."""
    commit = TableFolder(str(place)).current()
    assert commit is not None, f"{place} is not a table"
    schema = decode_schema(commit.schema)
    tables = [pq.ParquetFile(place / each.path).read() for each in commit.files]
    assert all(each.schema.equals(schema) for each in tables)
    assert sorted(each.path for each in commit.files) == sorted(file.name for file in place.glob("part-*"))
    return pa.concat_tables(tables) if tables else schema.empty_table()


@pytest.fixture
def explode(tmp_path: Path) -> Explode:
    return Explode(tmp_path)
