"""A summary as a test wants it: given files, what is said of their columns?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.summary.job import SummaryJob
from mason.pipeline.jobs.summary.work import Summary, SummaryWork
from mason.pipeline.work.tasks import TaskRunner


@dataclass
class Summarize:
    """Files in `in`, summarized."""

    root: Path
    runner: TaskRunner = field(default_factory=InProcessRunner)
    jobs: Iterator[int] = field(default_factory=lambda: iter(range(1000)))

    @property
    def inputs(self) -> Path:
        return self.root / "in"

    def given(self, name: str, content: str | pa.Table, **options: Any) -> Path:
        file = self.inputs / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, pa.Table):
            pq.write_table(content, file, **options)
        else:
            file.write_text(content, encoding="utf-8")
        return file

    def plan(self, **options: Any) -> SummaryWork:
        written = {name: Location(str(options[name])) for name in ("output", "html") if options.get(name)}
        options = {**{name: value for name, value in options.items() if name not in ("output", "html")}, **written}
        return SummaryWork.plan(SummaryJob(path=Location(str(self.inputs)), **options).to_job())

    def run(self, **options: Any) -> Summary:
        return self.run_plan(self.plan(**options))

    def run_plan(self, plan: SummaryWork) -> Summary:
        return plan.run(self.runner, f"job{next(self.jobs)}", lambda done, tasks, records: None)

    def columns(self, table: pa.Table | None = None, **options: Any) -> dict[str, dict[str, Any]]:
        """What is said of each column, by its name; of a table if one is given."""
        if table is not None:
            self.given("t.parquet", table)
        return {each.name: each.to_dict() for each in self.run(**options).columns}


@pytest.fixture
def summarize(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Summarize:
    monkeypatch.setenv(
        "MASON_HOME", str(tmp_path_factory.mktemp("home"))
    )  # the state knows the pages that were written
    return Summarize(tmp_path)
