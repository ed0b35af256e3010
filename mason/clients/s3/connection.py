"""How a store is reached: as a configuration says it, or the address that was made of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from mason.clients.aws.connection import ATTEMPTS, DEFAULT_REGION, build_client
from mason.clients.aws.credentials import Keys
from mason.clients.aws.endpoints import Endpoint
from mason.clients.aws.failures import no_credentials
from mason.clients.s3.failures import s3_failures
from mason.engines.storage.models.credentials import Credentials

if TYPE_CHECKING:
    import pyarrow.fs

_ADDRESS = "s3://?"


@dataclass(frozen=True, kw_only=True)
class S3Connection:
    """A store and who asks it. `path_style` puts the bucket into the path, as most stores other than AWS want it."""

    region: str
    endpoint: str
    path_style: bool
    keys: Keys
    shown_endpoint: str = field(default="", compare=False)
    """The endpoint with where it is written."""

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> S3Connection:
        """Return the connection of a configuration.

        Raises:
            BadInput: a variable that should be the address of a server is none.
        """
        found = Endpoint.of("s3", configuration)
        return cls(
            region=str(configuration.get("aws_region") or ""),
            endpoint=found.address,
            path_style=bool(configuration.get("path_style", bool(found.address))),
            keys=Keys.of(configuration),
            shown_endpoint=str(found),
        )

    @classmethod
    def at(cls, address: str) -> S3Connection:
        """Return the connection of an address, with the keys that this machine has for it."""
        settings = {name: values[0] for name, values in parse_qs(address.removeprefix(_ADDRESS)).items()}
        style = settings.get("path_style") == "true"
        return cls(
            region=settings.get("region", ""),
            endpoint=settings.get("endpoint", ""),
            path_style=style,
            keys=Keys.read_kept(settings.get("keys", "")),
        )

    def address(self) -> str:
        """Return the address by which a task opens the same store; the keys are not in it."""
        key_file = self.keys.keep(self.region or DEFAULT_REGION)
        settings = {"region": self.region, "endpoint": self.endpoint, "keys": key_file}
        style = {"path_style": "true" if self.path_style else "false"}
        return _ADDRESS + urlencode({**{name: value for name, value in settings.items() if value}, **style})

    def client(self) -> Any:
        """Return the client that speaks to the store; it retries what is worth it."""
        return _kept_client(self) if self.keys.access_key or self.keys.kept_in else _new_client(self)

    def credentials(self) -> Credentials:
        """Return the keys that hold at this moment, and the region.

        Raises:
            Forbidden: there are none, or the role may not be assumed.
        """
        with s3_failures(""):  # whoever hands out keys may say no, too
            found = self.keys.credentials(self.region)
        if found is None:
            raise no_credentials("S3")
        return found

    def filesystem(self) -> pyarrow.fs.FileSystem:
        """Return the store as a file system.

        Raises:
            Forbidden: there are no credentials, or the role may not be assumed.
        """
        import pyarrow.fs

        from mason.clients.s3.filesystem import S3Files

        keys = self.credentials()
        region = keys.region or DEFAULT_REGION
        return S3Files(
            self.client,
            access_key=keys.access_key,
            secret_key=keys.secret_key,
            session_token=keys.token,
            region=region,
            endpoint_override=self.endpoint or (f"https://s3.{region}.amazonaws.com" if self.path_style else None),
            force_virtual_addressing=bool(self.endpoint) and not self.path_style,
            allow_delayed_open=True,  # a small file is one request rather than three
            retry_strategy=pyarrow.fs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
        )


def _new_client(connection: S3Connection) -> Any:
    style = {"addressing_style": "path" if connection.path_style else "auto"}
    return build_client("s3", connection.keys, connection.region, connection.endpoint, s3=style)


_kept_client = cache(_new_client)  # building one reads a large model of the service from disk
