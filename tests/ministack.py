"""S3, Glue and Athena in one emulator: ministack, in an environment of its own since it needs another DuckDB.

Run as a script it makes the environment, as `scripts/install.sh --dev` does.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

PROJECT = Path(__file__).resolve().parent.parent
LOCK = PROJECT / "requirements-ministack.lock"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mason"
SERVER = Path(__file__).resolve().parent / "ministack_server.py"
REGION = "us-east-1"
_START_SECONDS = 60


@dataclass(frozen=True)
class Ministack:
    """A server that runs; what a test makes in it goes with it."""

    endpoint: str

    def configuration(self, **others: Any) -> dict[str, Any]:
        """Return what a configuration of a client of AWS says to reach this server."""
        keys = {"access_key": "MASONTEST", "secret_key": "secret-of-the-tests"}
        return {"aws_region": REGION, "endpoint": self.endpoint, **keys, **others}

    def client(self, service: str) -> Any:
        """Return a plain client of AWS, to look at what Mason did."""
        import boto3

        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id="MASONTEST",
            aws_secret_access_key="secret-of-the-tests",
        )

    def bucket(self) -> str:
        """Make a bucket that nobody else has and return its name."""
        name = f"mason-{uuid4().hex[:12]}"
        self.client("s3").create_bucket(Bucket=name)
        return name


@contextmanager
def running_ministack(folder: Path) -> Iterator[Ministack]:
    """Start a server that keeps its data below a folder, and stop it at the end."""
    from tests.ports import free_port  # not for the script, which does not know `tests`

    python = make_environment()
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    own = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "HOME": str(folder), "TMPDIR": str(folder)}
    variables = {"PATH": os.environ["PATH"], "LOG_LEVEL": "WARNING", **own}
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(
            [str(python), "-P", str(SERVER)], stdout=log, stderr=log, env=variables, cwd=folder, start_new_session=True
        )
    try:
        endpoint = f"http://127.0.0.1:{port}"
        _wait_until_open(endpoint, process, folder / "log")
        yield Ministack(endpoint)
    finally:
        process.send_signal(signal.SIGKILL)  # its data are thrown away: nothing is worth a slow goodbye
        process.wait()


def make_environment() -> Path:
    """Return the Python of ministack's environment, which is made from the hashed lock if it is not there yet."""
    folder = CACHE / f"ministack-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]}"
    python, ready = folder / "bin" / "python", folder / "ready"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes")
            subprocess.run([str(python), "-m", "pip", "install", *options, "-r", str(LOCK)], check=True)
            ready.touch()
    return python


def _wait_until_open(endpoint: str, process: subprocess.Popen[bytes], log: Path) -> None:
    limit = time.monotonic() + _START_SECONDS
    while time.monotonic() < limit:
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            with urllib.request.urlopen(f"{endpoint}/_ministack/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.05)
    raise AssertionError(f"ministack did not start within {_START_SECONDS} s: {log.read_text()[-2000:]}")


if __name__ == "__main__":
    make_environment()
