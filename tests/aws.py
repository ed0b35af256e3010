"""AWS for tests: an emulated one in this process, and nothing of whoever runs the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

REGION = "us-east-1"
ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/crawler"
KEYS = {"access_key": "AKIAIOSFODNN7EXAMPLE", "secret_key": "canary-secret-of-glue"}


@dataclass(frozen=True)
class Moto:
    """An emulated AWS that runs."""

    endpoint: str

    def configuration(self, **others: Any) -> dict[str, Any]:
        """Return what a configuration of a client says to reach it."""
        return {"aws_region": REGION, "endpoint": self.endpoint, **KEYS, **others}

    def client(self, service: str) -> Any:
        """Return a plain client of a service, to look at what Mason did."""
        keys = {"aws_access_key_id": KEYS["access_key"], "aws_secret_access_key": KEYS["secret_key"]}
        return boto3.client(service, endpoint_url=self.endpoint, region_name=REGION, **keys)


@contextmanager
def running_moto() -> Iterator[Moto]:
    """Start an emulated AWS on a free port, and stop it at the end."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield Moto(f"http://{host}:{port}")
    finally:
        server.stop()


def forget_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away all by which AWS would know the person who runs the tests."""
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_DEFAULT_PROFILE",
        "AWS_PROFILE",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT_URL_S3",
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "no-credentials"))
    monkeypatch.setenv("MASON_HOME", str(folder / "home"))
    monkeypatch.setenv("MASON_RUNTIME_DIR", str(folder / "runtime"))
