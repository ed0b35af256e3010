"""One real S3 server for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.aws import forget_user
from tests.s3.proxy import Proxy, running_proxy
from tests.seaweed import Seaweed, running_seaweed


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seaweed]:
    with running_seaweed(tmp_path_factory.mktemp("seaweed")) as server:
        yield server


@pytest.fixture(scope="session")
def bucket(seaweed: Seaweed) -> str:
    return seaweed.bucket()


@pytest.fixture
def proxy(seaweed: Seaweed) -> Iterator[Proxy]:
    with running_proxy(seaweed.endpoint) as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials come from the test, never from whoever runs it."""
    forget_user(tmp_path, monkeypatch)
