"""What the tests of an execution engine start from."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.clients.engines.execution import ExecutionClient
from mason.engines.execution.models.job import Job, JobRecord
from mason.engines.storage.models.location import Location, TableRef
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.sql.statement import parse_statement
from mason.testing.contract import answer
from mason.testing.golden import TABLES

MakeTable = Callable[[str, pa.Table], str]
Ask = Callable[..., Job]

ENDLESS = (
    "select count(*) as n from numbers a, numbers b, numbers c, numbers d, numbers e"
    " where (a.n * b.n + c.n * d.n + e.n) % 1009 = 500"
)
"""A query that no engine answers within the time that a test has."""
WRONG = "select cast(name as int) as n from orders"
"""A query that any engine takes, and that fails when it runs: there is a name that is not a number."""


class ExecutionFixtures:
    """The fixtures of the suite; a subclass has `client` and overrides what does not suit its technology."""

    @pytest.fixture(autouse=True)
    def a_home_of_its_own(self, tmp_path: pathlib.Path) -> Iterator[None]:
        """The records of jobs go with the test."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MASON_HOME", str(tmp_path / "contract_home"))
            patch.delenv("MASON_STATE", raising=False)
            yield

    @pytest.fixture
    def client(self) -> ExecutionClient:
        raise NotImplementedError("A suite is given its client by a fixture `client` in the subclass.")

    @pytest.fixture
    def elsewhere(self, client: ExecutionClient) -> ExecutionClient:
        """A client as another process would have it."""
        return client

    @pytest.fixture
    def storage(self) -> str:
        """The address of the storage in which the tables lie."""
        return "file:///"

    @pytest.fixture
    def database(self) -> str:
        """The database that the tables are in, as far as the engine knows of databases."""
        return "contract"

    @pytest.fixture
    def make_table(self, tmp_path: pathlib.Path) -> MakeTable:
        """How the suite makes a table: the engine knows it afterwards, and it lies at the path that is returned."""

        def make(name: str, rows: pa.Table) -> str:
            folder = tmp_path / "contract_data" / name
            folder.mkdir(parents=True)
            pq.write_table(rows, folder / "part.parquet")
            return str(folder)

        return make

    @pytest.fixture
    def ask(self, storage: str, database: str, make_table: MakeTable) -> Ask:
        """Make the job of a query over golden tables, which are made when they are first named."""
        paths: dict[str, str] = {}

        def make(statement: str, parameters: Mapping[str, Any] | None = None, limit: int = 1000) -> Job:
            named = {each.name for each in parse_statement(statement).tables}
            for name in sorted(named - set(paths)):
                paths[name] = make_table(name, TABLES[name])
            places = {name: paths[name].rpartition("://")[2] for name in sorted(named)}  # with their scheme or without
            tables = {name: TableRef(f"{database}.{name}", Location(path, storage)) for name, path in places.items()}
            return QueryJob(
                statement=statement, database=database, tables=tables, parameters=parameters or {}, limit=limit
            ).to_job()

        return make


def run(client: ExecutionClient, job: Job) -> JobRecord:
    """Plan a job and run it, as an operator does."""
    record: JobRecord = answer(client.run_job, answer(client.plan_job, job))
    return record


def rows_of(record: JobRecord) -> list[dict[str, Any]]:
    """Return the rows that a query answered."""
    rows: list[dict[str, Any]] = record.details["Rows"]
    return rows


def types_of(record: JobRecord) -> dict[str, str]:
    """Return the columns of an answer, with the types that it says they have."""
    return {each["Name"]: each["Type"] for each in record.details["Columns"]}
