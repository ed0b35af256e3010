"""One real Airflow for all tests here."""

from __future__ import annotations

import pytest

from tests import servers
from tests.airflow.server import Airflow, running_airflow


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/airflow/" in str(item.path):
            item.add_marker(pytest.mark.timeout(900))  # the first one may have to install Airflow


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Airflow:
    return servers.running("Airflow", lambda: running_airflow(tmp_path_factory.mktemp("airflow")))
