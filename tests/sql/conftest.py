from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from mason.clients.spark.runners.connect import ConnectRunner
from mason.clients.spark.settings import RunnerSettings
from mason.engines.storage.models.location import Location, TableRef
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.jobs.merge.run import run_merge
from mason.pipeline.jobs.query.job import QueryJob, QueryResult, QueryWork
from mason.pipeline.work.tasks import TaskRunner
from tests import servers
from tests.cluster import connect_server

LOCAL = pafs.LocalFileSystem()


@contextmanager
def connect_runner(folder: Path) -> Iterator[TaskRunner]:
    """Start a Spark Connect server, and stop it at the end."""
    with connect_server(folder) as port:
        runner = ConnectRunner(RunnerSettings(type="connect", url=f"sc://localhost:{port}"))
        yield runner
        runner.close()


@pytest.fixture
def spark_runner(tmp_path_factory: pytest.TempPathFactory) -> TaskRunner:
    """A Spark Connect server of these tests' own."""
    return servers.running("connect", lambda: connect_runner(tmp_path_factory.mktemp("connect")))


@pytest.fixture(params=["here", "spark"])
def runner(request: pytest.FixtureRequest) -> TaskRunner:
    return InProcessRunner() if request.param == "here" else request.getfixturevalue("spark_runner")


@dataclass
class Database:
    """Tables in a folder, and an engine to ask them."""

    root: Path
    runner: TaskRunner
    tables: dict[str, TableRef] = field(default_factory=dict)
    count: int = 0

    def given(self, name: str, content: pa.Table | str, **options: Any) -> Path:
        """Make a table of Mason's, which has one commit."""
        source = self.root / "in" / name
        source.mkdir(parents=True, exist_ok=True)
        self.count += 1
        if isinstance(content, str):
            (source / f"{self.count}.csv").write_text(content)
        else:
            pq.write_table(content, source / f"{self.count}.parquet")
        path = self.root / name
        plan = plan_merge(MergeJob(Location(str(source)), Location(str(path)), options=MergeOptions(**options)))
        run_merge(plan, InProcessRunner(), f"made{self.count}", lambda *_: None)
        self.tables[name] = TableRef(f"shop.{name}", Location(str(path)))
        return path

    def work(
        self, statement: str, parameters: Mapping[str, Any] | None = None, output: str = "", **options: Any
    ) -> QueryWork:
        options["output"] = Location(output) if output else None
        job = QueryJob(statement=statement, database="shop", tables=self.tables, parameters=parameters or {}, **options)
        return QueryWork.plan(job.to_job())

    def ask(self, statement: str, parameters: Mapping[str, Any] | None = None, **options: Any) -> QueryResult:
        self.count += 1
        work = self.work(statement, parameters, **options)
        return work.run(self.runner, f"asked{self.count}", lambda *_: None)

    def rows(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        found = self.ask(statement, parameters).rows
        assert found is not None
        return found.to_pylist()


@pytest.fixture
def database(tmp_path: Path, runner: TaskRunner) -> Database:
    return Database(tmp_path, runner)


@pytest.fixture
def here(tmp_path: Path) -> Database:
    return Database(tmp_path, InProcessRunner())
