"""A table as it is shown to who has had it inferred: with how its files were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mason.engines.metastore.models.table import Table


@dataclass(frozen=True)
class InferredTable:
    """A table, and how its files were read."""

    table: Table

    def to_dict(self) -> dict[str, Any]:
        return {**self.table.to_dict(), "Readings": list(self.table.readings)}

    def picture(self, width: int) -> list[str]:
        """Draw how its files were read."""
        return self.table.picture(width)
