"""One service of AWS: every request of a client goes through here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any

from mason.clients.aws.connection import AwsConnection
from mason.clients.aws.failures import aws_failures
from mason.errors import NotFound

_MOST_SKEW_SECONDS = 60


class AwsService:
    """A service by boto3's name for it (`glue`), and by the name that messages have for it (`Glue`)."""

    def __init__(self, name: str, title: str, connection: AwsConnection) -> None:
        self.title = title
        self._name = name
        self._connection = connection

    @property
    def name(self) -> str:
        """The service and where it is asked, such as `glue in eu-west-1`: a server in AWS's place has regions, too."""
        with aws_failures(self.title):
            region = self._client.meta.region_name
        return f"{self._name} in {region}{f' at {self.endpoint}' if self.endpoint else ''}"

    @property
    def endpoint(self) -> str:
        """The address of the server that is asked; "" for that of AWS."""
        return self._connection.endpoint

    def describe_place(self) -> str:
        """Return the address of the server that is asked, and where it is written; "" for that of AWS."""
        return self._connection.shown_endpoint

    @cached_property
    def _client(self) -> Any:
        return self._connection.client(self._name)

    def call(self, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """Send a request and return the answer.

        Raises:
            MasonError: what AWS says no with, in one sentence.
        """
        with aws_failures(self.title):
            answer: Mapping[str, Any] = getattr(self._client, operation)(**arguments)
        return answer

    def find(self, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """Ask for something by its name, which may be that of something in another region.

        Raises:
            NotFound: there is no such thing in the region, which is named.
            MasonError: what else AWS says no with, in one sentence.
        """
        try:
            return self.call(operation, **arguments)
        except NotFound as error:
            raise NotFound(str(error), hint=f"The region {self._client.meta.region_name} was asked.") from error

    def pages(self, operation: str, items: str, **arguments: Any) -> Iterator[Mapping[str, Any]]:
        """Yield the items of every page of an answer; a page is asked for when it is needed.

        Raises:
            MasonError: what AWS says no with, in one sentence.
        """
        with aws_failures(self.title):
            for page in self._client.get_paginator(operation).paginate(**arguments):
                yield from page.get(items, ())


def clock_troubles(answer: Mapping[str, Any]) -> list[str]:
    """Return what is to be said of this machine's clock, beside that of whoever gave the answer."""
    server_time = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    if not server_time:
        return []
    ahead = (datetime.now(UTC) - parsedate_to_datetime(server_time)).total_seconds()
    if abs(ahead) <= _MOST_SKEW_SECONDS:
        return []
    where = "ahead of" if ahead > 0 else "behind"
    return [f"the clock of this machine is {abs(ahead):.0f} s {where} that of AWS, which refuses too much: set it"]
