"""The Airflow client keeps the contract of a scheduler, against a real Airflow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mason.clients.airflow.scheduler import AirflowSchedulerClient
from mason.clients.engines.scheduler import SchedulerClient
from mason.testing import SchedulerContract
from tests.airflow.server import Airflow, a_name


class TestAirflowScheduler(SchedulerContract):
    many = 3  # Airflow takes its time to read a file

    @pytest.fixture
    def client(self, airflow: Airflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SchedulerClient:
        monkeypatch.setenv("MASON_HOME", str(tmp_path / "home"))
        return AirflowSchedulerClient(airflow.configuration())

    @pytest.fixture
    def name(self, airflow: Airflow) -> Iterator[str]:
        with a_name(airflow) as name:
            yield name
