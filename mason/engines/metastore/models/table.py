"""Tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mason.engines.metastore.models.partition import Partition
from mason.engines.metastore.models.schema import Schema, SchemaConflict
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.readings import draw_readings
from mason.util.view import View


@dataclass(frozen=True)
class TableSummary:
    """What a listing says of a table without looking into its files."""

    view: ClassVar[View] = View(columns=("Name", "DatabaseName", "Path", "CreatedAt", "CreatedBy"), beside_picture=True)
    name: str
    database_name: str
    path: str = ""
    created_at: str = ""
    created_by: str = ""

    @property
    def crawler(self) -> str:
        """The crawler that made the table and keeps it up to date; "" where none does."""
        kind, _, name = self.created_by.partition(":")
        return name if kind == "crawler" else ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "Name": self.name,
            "CreatedAt": self.created_at,
            "CreatedBy": self.created_by,
            "DatabaseName": self.database_name,
            **({"Path": self.path} if self.path else {}),
        }


@dataclass(frozen=True)
class Delimited:
    """How the text files of a table are written, as they show it; a field may be put in quotes where `quoted`."""

    delimiter: str
    header: bool
    quoted: bool


@dataclass(frozen=True)
class Table(TableSummary):
    """A table with its schema, the keys it is partitioned by, and what its files disagree on.

    `read_options` say how its files were to be read when the schema was inferred: a refresh reads them the same way.
    `delimited` and `partitions` are what was found then; None means that nobody looked.
    """

    schema: Schema = field(default_factory=lambda: Schema("", ()))
    partition_keys: Sequence[str] = ()
    conflicts: Sequence[SchemaConflict] = ()
    read_options: InferOptions = field(default_factory=InferOptions)
    delimited: Delimited | None = None
    partitions: Sequence[Partition] | None = None
    place: str = ""
    """Where the files of its newest version lie, for readers who go by this alone; "" if that is its path."""
    readings: Sequence[Mapping[str, Any]] = field(default=(), compare=False)
    """How its files were read when the schema was inferred; told to who asked for that, and not saved."""

    def to_dict(self) -> dict[str, Any]:
        extras = {
            "PartitionKeys": list(self.partition_keys),
            "SchemaConflicts": [conflict.to_dict() for conflict in self.conflicts],
        }
        present = {key: value for key, value in extras.items() if value}
        return {**super().to_dict(), "Schema": self.schema.to_dict(), **present}

    def picture(self, width: int) -> list[str]:
        """Draw how its files were read."""
        return draw_readings(self.readings, width)
