"""What a server is told when it starts."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from mason.util.environment import MasonEnvironment

MOST_WAIT = 600.0


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Where a server listens, what it takes, and how much it does at a time."""

    host: str = "127.0.0.1"
    port: int = 5000
    workers: int = 1
    parallel_jobs: int = 4
    """How many calls run in the background at the same time, in each worker."""
    queued_jobs: int = 1000
    """How many calls may wait for their turn, in all workers together."""
    hosts: tuple[str, ...] = ()
    """Names by which the server may be called besides those of the loopback."""
    roots: tuple[str, ...] = ()
    require_token: bool = False
    """Whether everybody needs a token, on this machine too, even if there is none."""
    certificate: str = ""
    key: str = ""
    body_bytes: int = 1024 * 1024
    url_bytes: int = 8 * 1024
    body_seconds: float = 30.0
    """How long a client may take to send its request."""
    most_wait: float = MOST_WAIT
    stop_seconds: float = 30.0
    """How long requests and jobs that run have to end when the server is asked to stop."""
    log_level: str = "info"
    project: str = ""
    """The folder of the project that is served."""
    project_version: str = ""
    built_in: bool = False
    """Whether the operators that nobody registers are served as well: those of packages, and Mason's own."""

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """Where a person on this machine finds the server."""
        name = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        host = f"[{name}]" if ":" in name else name
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}"

    def environment(self) -> MasonEnvironment:
        """Return the environment of the server, and of the processes in which its calls run."""
        return replace(
            MasonEnvironment.of(),
            roots=self.roots,
            project=self.project,
            project_version=self.project_version,
            offers_packaged=self.built_in,
        )

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> ServerSettings:
        values: dict[str, Any] = json.loads(text)
        return cls(**{**values, "hosts": tuple(values["hosts"]), "roots": tuple(values["roots"])})


@lru_cache(256)
def is_loopback(host: str) -> bool:
    """Say whether a host is this machine, seen from itself."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
