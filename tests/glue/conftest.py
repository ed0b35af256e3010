"""One emulated AWS for all tests here, and a proxy before it that says what the emulator cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from mason.clients.glue.metastore import GlueMetastoreClient
from mason.testing.contract import answer
from tests.aws import Moto, forget_user, running_moto
from tests.glue.proxy import AwsProxy, running_aws_proxy


@pytest.fixture(scope="session")
def moto() -> Iterator[Moto]:
    with running_moto() as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials come from the test, never from whoever runs it."""
    forget_user(tmp_path, monkeypatch)


@pytest.fixture
def proxy(moto: Moto) -> Iterator[AwsProxy]:
    with running_aws_proxy(moto.endpoint) as running:
        yield running


@pytest.fixture
def client(moto: Moto) -> GlueMetastoreClient:
    return GlueMetastoreClient(moto.configuration())


@pytest.fixture
def through(moto: Moto, proxy: AwsProxy) -> GlueMetastoreClient:
    """The same, through the proxy."""
    return GlueMetastoreClient(moto.configuration(endpoint=proxy.endpoint))


@pytest.fixture
def database(client: GlueMetastoreClient) -> str:
    name = f"db_{uuid4().hex[:8]}"
    answer(client.create_database, name)
    return name
