"""The spark client keeps the contract of its role, on the warm server that all tests on every engine share."""

from __future__ import annotations

import pytest

from mason.clients.engines.execution import ExecutionClient
from mason.clients.spark.execution import SparkExecutionClient
from mason.testing import ExecutionContract
from tests.cluster import Sparks


class TestSparkExecution(ExecutionContract):
    @pytest.fixture
    def client(self, sparks: Sparks, monkeypatch: pytest.MonkeyPatch) -> ExecutionClient:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(sparks.runtime))
        return SparkExecutionClient({"runner": sparks.runners["warm"]})

    @pytest.fixture
    def elsewhere(self, client: ExecutionClient, sparks: Sparks) -> ExecutionClient:
        return SparkExecutionClient({"runner": sparks.runners["warm"]})
