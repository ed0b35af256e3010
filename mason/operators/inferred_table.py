"""A table as it is shown to who has had it inferred: with how its files were read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from mason.engines.metastore.models.table import Table


@dataclass(frozen=True)
class InferredTable(Table):
    """A table that says how its files were read, too."""

    @classmethod
    def of(cls, table: Table) -> InferredTable:
        return cls(**{each.name: getattr(table, each.name) for each in fields(table)})

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "Readings": list(self.readings)}
