"""Places as values: which storage, and which path in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LOCAL = "file:///"
"""The address of the disks of the machine."""


@dataclass(frozen=True)
class Location:
    """A place in a storage, whichever machine it is looked at from.

    It prints as its URL: without the rest of the storage's address, in which files of this machine may be named.
    """

    path: str
    """The place, as the storage itself spells it: `/data/orders` on a disk, `bucket/orders` in a store."""
    storage: str = LOCAL
    """The address of the storage: the recipe by which any machine opens it. No secret is in it."""

    @property
    def scheme(self) -> str:
        """The scheme of the storage's URLs, such as `file` or `s3`."""
        return self.storage.partition(":")[0]

    @property
    def url(self) -> str:
        """The whole URL; `str` leaves out `file://`, as people do."""
        return f"{self.scheme}://{self.path}"

    def child(self, name: str) -> Location:
        """Return a place below this one."""
        return Location(f"{self.path}/{name}", self.storage)

    def beside(self, path: str) -> Location:
        """Return another place in the same storage."""
        return Location(path, self.storage)

    def __str__(self) -> str:
        return self.path if self.scheme == "file" else self.url


@dataclass(frozen=True)
class TableRef:
    """A table by its name, with where its files lie if they do anywhere."""

    identifier: str
    """Its database and its name, as in `shop.orders`."""
    location: Location | None = None
    format: str = ""
    """The format of the table, if it is known."""

    def __str__(self) -> str:
        return str(self.location or self.identifier)


def locations_in(value: Any) -> Iterator[Location]:
    """Yield every place that a value names: one, or a table's, or all of a list or a mapping, in their order."""
    if isinstance(value, Location):
        yield value
    elif isinstance(value, TableRef):
        yield from locations_in(value.location)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from locations_in(each)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            yield from locations_in(each)


def describe_places(value: Any) -> Any:
    """Return a value with every place in it as its URL, for people and for records."""
    if isinstance(value, Location | TableRef):
        return str(value)
    if isinstance(value, Mapping):
        return {name: describe_places(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [describe_places(each) for each in value]
    return value
