"""One emulated AWS for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.aws import KEYS, REGION, Moto, forget_user, running_moto


@pytest.fixture(scope="session")
def server() -> Iterator[Moto]:
    with running_moto() as running:
        yield running


@pytest.fixture
def moto(server: Moto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Moto:
    """AWS as the usual chain finds it, and nothing of whoever runs the tests."""
    forget_user(tmp_path, monkeypatch)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS["access_key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS["secret_key"])
    monkeypatch.setenv("AWS_REGION", REGION)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", server.endpoint)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SSM", server.endpoint)
    return server
