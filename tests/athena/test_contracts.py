"""The athena client keeps the contracts of its roles, and the operators do on it what they do everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest

from mason.clients.athena.execution import AthenaExecutionClient
from mason.clients.athena.metastore import AthenaMetastoreClient
from mason.clients.engines.execution import ExecutionClient
from mason.clients.engines.metastore import MetastoreClient
from mason.clients.s3.storage import S3StorageClient
from mason.engines.execution.models.job import JobStatus
from mason.engines.metastore.models.partition import Partition
from mason.testing import ExecutionContract, MetastoreContract, OperatorContract, Place
from mason.testing.contract import answer
from mason.testing.execution.fixtures import Ask, run
from mason.testing.metastore.fixtures import MakePartitions
from tests.ministack import Ministack


class TestAthenaMetastore(MetastoreContract):
    @pytest.fixture
    def client(self, ministack: Ministack) -> MetastoreClient:
        return AthenaMetastoreClient(ministack.configuration())

    @pytest.fixture
    def make_partitions(self, client: MetastoreClient, database: str, data: Place) -> MakePartitions:
        """The catalog learns of partitions from whoever saves a table."""

        def make(name: str, partitions: Sequence[Mapping[str, str | None]]) -> None:
            folders = ["/".join([name, *(f"{key}={value}" for key, value in each.items())]) for each in partitions]
            found = [Partition(each, str(data.below(folder))) for each, folder in zip(partitions, folders, strict=True)]
            answer(client.save_table, replace(answer(client.get_table, database, name), partitions=found))

        return make


class TestAthenaExecution(ExecutionContract):
    @pytest.fixture
    def client(self, settings: dict[str, str]) -> ExecutionClient:
        return AthenaExecutionClient(settings)

    @pytest.fixture
    def elsewhere(self, settings: dict[str, str]) -> ExecutionClient:
        return AthenaExecutionClient(settings)

    @pytest.fixture
    def storage(self, ministack: Ministack) -> str:
        return S3StorageClient(ministack.configuration()).address()

    @pytest.fixture
    def database(self, ministack: Ministack) -> str:
        name = f"db_{uuid4().hex[:8]}"
        answer(AthenaMetastoreClient(ministack.configuration()).create_database, name)
        return name

    @pytest.fixture
    def make_table(self, make_athena_table: Callable[[str, pa.Table], str]) -> Callable[[str, pa.Table], str]:
        return make_athena_table

    def test_get_job_finds_a_job_from_elsewhere_and_shows_no_data(
        self, client: ExecutionClient, elsewhere: ExecutionClient, ask: Ask
    ) -> None:
        """Athena keeps the rows itself, so that its jobs do show the first of them."""
        done = run(client, ask("select name from orders"))

        found = answer(elsewhere.get_job, done.id)

        assert (found.id, found.status) == (done.id, JobStatus.SUCCEEDED)
        assert found.details["Rows"]


class TestAthenaOperators(OperatorContract):
    @pytest.fixture
    def configuration(self, ministack: Ministack, settings: dict[str, str]) -> Mapping[str, Any]:
        clients = {"athena": settings, "s3": ministack.configuration(), "glue": ministack.configuration()}
        return {
            "metastore_engine": "glue",
            "storage_engine": "s3",
            "execution_engine": "athena",
            "clients": {name: {"configuration": told} for name, told in clients.items()},
        }

    @pytest.fixture
    def base_path(self, bucket: str) -> str:
        return f"s3://{bucket}/{uuid4().hex}"


class TestAthenaOperatorsWithAthenaAsMetastore(TestAthenaOperators):
    @pytest.fixture
    def configuration(self, ministack: Ministack, settings: dict[str, str]) -> Mapping[str, Any]:
        clients = {"athena": settings, "s3": ministack.configuration()}
        return {
            "metastore_engine": "athena",
            "storage_engine": "s3",
            "execution_engine": "athena",
            "clients": {name: {"configuration": told} for name, told in clients.items()},
        }
