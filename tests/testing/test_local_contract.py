"""The local client keeps the contracts of the roles that it fills."""

from pathlib import Path

import pytest

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.engines.storage import StorageClient
from mason.clients.local.metastore import LocalMetastoreClient
from mason.clients.local.scheduler import LocalSchedulerClient
from mason.clients.local.storage import LocalStorageClient
from mason.testing import MetastoreContract, SchedulerContract, StorageContract


class TestLocalMetastore(MetastoreContract):
    @pytest.fixture
    def client(self, tmp_path: Path) -> MetastoreClient:
        return LocalMetastoreClient({"root": str(tmp_path)})


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
