"""The local client keeps the contracts of the roles that it fills."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mason.clients.engines.execution import ExecutionClient
from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.engines.storage import StorageClient
from mason.clients.local.execution import LocalExecutionClient
from mason.clients.local.metastore import LocalMetastoreClient
from mason.clients.local.scheduler import LocalSchedulerClient
from mason.clients.local.storage import LocalStorageClient
from mason.testing import (
    ExecutionContract,
    MetastoreContract,
    OperatorContract,
    SchedulerContract,
    StorageContract,
)


class TestLocalMetastore(MetastoreContract):
    @pytest.fixture
    def client(self, tmp_path: Path) -> MetastoreClient:
        return LocalMetastoreClient({"root": str(tmp_path)})


class TestLocalExecution(ExecutionContract):
    @pytest.fixture
    def client(self) -> ExecutionClient:
        return LocalExecutionClient({})

    @pytest.fixture
    def elsewhere(self) -> ExecutionClient:
        return LocalExecutionClient({})


class TestLocalOperators(OperatorContract):
    @pytest.fixture
    def configuration(self, tmp_path: Path) -> Mapping[str, Any]:
        roles = dict.fromkeys(("metastore_engine", "storage_engine", "execution_engine"), "local")
        return {**roles, "clients": {"local": {"configuration": {"root": str(tmp_path / "root")}}}}

    @pytest.fixture
    def base_path(self, tmp_path: Path) -> str:
        return str(tmp_path / "contract")


class TestLocalStorage(StorageContract):
    @pytest.fixture
    def client(self, tmp_path: Path) -> StorageClient:
        return LocalStorageClient({"root": str(tmp_path)})

    @pytest.fixture
    def base_path(self, tmp_path: Path) -> str:
        return str(tmp_path / "contract")


class TestLocalStorageBelowItsRoot(TestLocalStorage):
    """The same with paths as users write them, relative to the root."""

    @pytest.fixture
    def base_path(self) -> str:
        return "contract"


class TestLocalScheduler(SchedulerContract):
    @pytest.fixture
    def client(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SchedulerClient:
        monkeypatch.setenv("MASON_HOME", str(tmp_path / "home"))
        return LocalSchedulerClient({})
