"""A merge as a test wants it: given files, what comes out?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.outcome import MergeResult
from mason.pipeline.jobs.merge.plan import MergePlan, plan_merge
from mason.pipeline.jobs.merge.run import run_merge
from mason.pipeline.reading.request import Names, OnBadRecord, OnConflict
from mason.pipeline.storage.files import partition_of
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.rejects import Reject, read_quarantine
from mason.pipeline.tables.room import room_of
from mason.pipeline.types.evidence_json import decode_schema
from mason.pipeline.work.tasks import TaskRunner

LOCAL = pafs.LocalFileSystem()


@dataclass
class Merge:
    """Files in `in`, merged into `out`."""

    root: Path
    runner: TaskRunner = field(default_factory=InProcessRunner)
    jobs: Iterator[int] = field(default_factory=lambda: iter(range(1000)))

    @property
    def output(self) -> Path:
        return self.root / "out"

    @property
    def room(self) -> Path:
        """Where Mason keeps what belongs to the table and is not its data."""
        return Path(room_of(str(self.output)))

    def left_behind(self, pattern: str = "*") -> list[str]:
        """What jobs have staged and not committed."""
        found = (*self.room.glob(f"staging/{pattern}"), *self.room.glob("making/*"), *self.room.glob("pending*"))
        return sorted(each.name for each in found)

    def given(self, name: str, content: str | bytes | pa.Table) -> Path:
        file = self.root / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, pa.Table):
            pq.write_table(content, file)
        else:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def plan(self, inputs: Path | None = None, **options: Any) -> MergePlan:
        typed = {"on_conflict": OnConflict, "on_bad_record": OnBadRecord, "mode": Mode, "names": Names}
        values = {name: typed[name](value) if name in typed else value for name, value in options.items()}
        read = str(inputs or self.root / "in")
        return plan_merge(MergeJob(Location(read), Location(str(self.output)), options=MergeOptions(**values)))

    def run(self, **options: Any) -> MergeResult:
        return self.run_plan(self.plan(**options))

    def run_plan(self, plan: MergePlan) -> MergeResult:
        return run_merge(plan, self.runner, f"job{next(self.jobs)}", lambda done, tasks, records: None)

    def table(self) -> pa.Table:
        """The table as its newest commit has it."""
        commit = TableFolder(str(self.output)).current()
        assert commit is not None
        tables = [self._file(commit, each.path) for each in commit.files]
        return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})

    def _file(self, commit: CommitRecord, path: str) -> pa.Table:
        """A file of the table with the columns that its folders give."""
        table = pq.ParquetFile(self.output / path).read()
        schema = decode_schema(commit.schema)
        for name, value in partition_of(path.rpartition("/")[0]).items():
            values = pa.array([value] * table.num_rows, pa.string()).cast(schema.field(name).type)
            table = table.append_column(name, values)
        present = set(table.column_names)
        return table.select([name for name in schema.names if name in present])

    def rows(self, **options: Any) -> list[dict[str, Any]]:
        self.run(**options)
        return list(self.table().to_pylist())

    def types(self) -> dict[str, str]:
        return {each.name: str(each.type) for each in self.table().schema}

    def rejects(self) -> Sequence[Reject]:
        return list(read_quarantine(Location(str(self.output))))


@pytest.fixture
def merge(tmp_path: Path) -> Merge:
    (tmp_path / "in").mkdir()
    return Merge(tmp_path)
