"""How a store is reached: as a configuration says it, or the address that was made of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from mason.clients.s3.credentials import Keys
from mason.errors import Forbidden

if TYPE_CHECKING:
    import pyarrow.fs

_ADDRESS = "s3://?"
DEFAULT_REGION = "us-east-1"
_ATTEMPTS = 5


@dataclass(frozen=True)
class S3Connection:
    """A store and who asks it. `path_style` puts the bucket into the path, as most stores other than AWS want it."""

    region: str
    endpoint: str
    path_style: bool
    keys: Keys

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> S3Connection:
        endpoint = str(configuration.get("endpoint") or "")
        return cls(
            str(configuration.get("aws_region") or ""),
            endpoint if not endpoint or "://" in endpoint else f"https://{endpoint}",
            bool(configuration.get("path_style", bool(endpoint))),
            Keys.of(configuration),
        )

    @classmethod
    def at(cls, address: str) -> S3Connection:
        """Return the connection of an address, with the keys that this machine has for it."""
        told = {name: values[0] for name, values in parse_qs(address.removeprefix(_ADDRESS)).items()}
        style = told.get("path_style") == "true"
        return cls(told.get("region", ""), told.get("endpoint", ""), style, Keys.kept(told.get("keys", "")))

    def address(self) -> str:
        """Return the address by which a task opens the same store; the keys are not in it."""
        told = {"region": self.region, "endpoint": self.endpoint, "keys": self.keys.keep()}
        style = {"path_style": "true" if self.path_style else "false"}
        return _ADDRESS + urlencode({**{name: value for name, value in told.items() if value}, **style})

    def client(self) -> Any:
        """Return the client that speaks to the store; it retries what is worth it."""
        return _kept_client(self) if self.keys.access_key else _new_client(self)

    def filesystem(self) -> pyarrow.fs.FileSystem:
        """Return the store as a file system.

        Raises:
            Forbidden: there are no credentials.
        """
        import pyarrow.fs

        session = self.keys.session(self.region)
        region = session.region_name or DEFAULT_REGION
        found = session.get_credentials()
        if found is None:
            raise no_credentials()
        keys = found.get_frozen_credentials()
        return pyarrow.fs.S3FileSystem(
            access_key=keys.access_key,
            secret_key=keys.secret_key,
            session_token=keys.token,
            region=region,
            endpoint_override=self.endpoint or (f"https://s3.{region}.amazonaws.com" if self.path_style else None),
            force_virtual_addressing=bool(self.endpoint) and not self.path_style,
            allow_delayed_open=True,  # a small file is one request rather than three
            retry_strategy=pyarrow.fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        )


def no_credentials() -> Forbidden:
    """Return the error of a machine that has no credentials."""
    return Forbidden(
        "There are no credentials for S3 here.",
        hint="Give access_key and secret_key in the configuration, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    )


def _new_client(connection: S3Connection) -> Any:
    from botocore.config import Config

    session = connection.keys.session(connection.region)
    style = {"addressing_style": "path" if connection.path_style else "auto"}
    return session.client(
        "s3",
        region_name=session.region_name or DEFAULT_REGION,
        endpoint_url=connection.endpoint or None,
        config=Config(s3=style, retries={"mode": "standard", "max_attempts": _ATTEMPTS}, max_pool_connections=16),
    )


_kept_client = cache(_new_client)  # building one reads a large model of the service from disk
