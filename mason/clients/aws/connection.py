"""How a service of AWS is reached: as a configuration says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from mason.clients.aws.credentials import Keys
from mason.clients.aws.endpoints import Endpoint

DEFAULT_REGION = "us-east-1"
ATTEMPTS = 5


@dataclass(frozen=True)
class AwsConnection:
    """A region of AWS, or a server that takes its place, and who asks there."""

    region: str
    endpoint: str
    keys: Keys
    shown_endpoint: str = field(default="", compare=False)
    """The endpoint with where it is written."""

    @classmethod
    def of(cls, service: str, configuration: Mapping[str, Any]) -> AwsConnection:
        """Return how a service is reached, by boto3's name for it.

        Raises:
            BadInput: a variable that should be the address of a server is none.
        """
        found = Endpoint.of(service, configuration)
        return cls(str(configuration.get("aws_region") or ""), found.address, Keys.of(configuration), str(found))

    def client(self, service: str) -> Any:
        """Return the client that speaks to a service; it retries what is worth it."""
        if self.keys.access_key:
            return _kept_client(self, service)
        return _new_client(self, service)  # the usual chain may find somebody else the next time


def region_of(arn: str) -> str:
    """Return the region that an ARN names; "" of what is no ARN."""
    parts = arn.split(":")
    return parts[3] if len(parts) > 5 and parts[0] == "arn" else ""


def build_client(service: str, keys: Keys, region: str, endpoint: str, **more: Any) -> Any:
    """Build a client of boto3; `more` are settings of botocore for this service."""
    from botocore.config import Config

    session = keys.session(region)
    settings = {"retries": {"mode": "standard", "max_attempts": ATTEMPTS}, "max_pool_connections": 16, **more}
    return session.client(
        service,
        region_name=session.region_name or DEFAULT_REGION,
        endpoint_url=endpoint or None,
        config=Config(**settings),
    )


def _new_client(connection: AwsConnection, service: str) -> Any:
    return build_client(service, connection.keys, connection.region, connection.endpoint)


_kept_client = cache(_new_client)  # building one reads a large model of the service from disk
