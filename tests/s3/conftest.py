"""One real S3 server for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.seaweed import Seaweed, running_seaweed


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seaweed]:
    with running_seaweed(tmp_path_factory.mktemp("seaweed")) as server:
        yield server


@pytest.fixture(scope="session")
def bucket(seaweed: Seaweed) -> str:
    return seaweed.bucket()


@pytest.fixture(autouse=True)
def nothing_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials come from the test, never from whoever runs it."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("MASON_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MASON_RUNTIME_DIR", str(tmp_path / "runtime"))
