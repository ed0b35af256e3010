"""One real Airflow for all tests here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.airflow.server import Airflow, running_airflow


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/airflow/" in str(item.path):
            item.add_marker(pytest.mark.timeout(900))  # the first one may have to install Airflow


@pytest.fixture(scope="package")  # not longer: it takes a third of a core, whatever it does
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Airflow]:
    with running_airflow(tmp_path_factory.mktemp("airflow")) as server:
        yield server
