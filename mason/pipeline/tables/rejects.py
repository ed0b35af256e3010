"""Records that do not fit: kept whole, with the place where they stand and the reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import pyarrow.fs as pafs

from mason.engines.storage.models.location import Location
from mason.errors import PathNotFound, UnreadableFile
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.files import require_inside
from mason.pipeline.tables.commit import open_table
from mason.util.view import View


@dataclass(frozen=True)
class Reject:
    """A record that is not in the output. `record` counts from 1, a header included; `offset` is in bytes.

    `id` names it among all that a table has set aside, for as long as it is there.
    """

    view: ClassVar[View] = View(columns=("File", "Record", "Column", "Reason", "Raw", "Id", "Offset"))
    file: str
    record: int
    offset: int
    column: str
    reason: str
    raw: str
    id: str = ""

    @property
    def commit(self) -> str:
        """The commit by which it was set aside."""
        return self.id.partition(":")[0].rsplit("-", 2)[0]

    def to_dict(self) -> dict[str, Any]:
        named = {"Id": self.id} if self.id else {}
        return {**named, **{name.capitalize(): value for name, value in asdict(self).items() if name != "id"}}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Reject:
        return cls(**{name.lower(): each for name, each in value.items()})


def read_quarantine(table: Location) -> Iterator[Reject]:
    """Yield the records that the merges into a table set aside, by commit and place.

    Raises:
        PathNotFound: there is no such table.
        UnreadableFile: a file of the quarantine is damaged.
    """
    filesystem = open_filesystem(table.storage)
    for path in _quarantine_files(filesystem, table):
        require_inside(filesystem, path)
        with filesystem.open_input_stream(path) as stream:
            for number, line in enumerate(stream.read().splitlines(), 1):
                yield _reject(path, number, line)


def _reject(path: str, number: int, line: bytes) -> Reject:
    try:
        return Reject.of(json.loads(line))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        hint = "Restore the file from a backup, or remove it: its records are then lost."
        raise UnreadableFile(path, f"line {number:,} is not a record of the quarantine.", hint=hint) from error


def _quarantine_files(filesystem: pafs.FileSystem, table: Location) -> list[str]:
    found = open_table(table).quarantine()
    if not found and filesystem.get_file_info(table.path).type == pafs.FileType.NotFound:
        raise PathNotFound(str(table))
    return sorted(found)
