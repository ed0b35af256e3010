"""Databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Database:
    """A named collection of tables."""

    name: str
    path: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"Name": self.name, **({"Path": self.path} if self.path else {})}
