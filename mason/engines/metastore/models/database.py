"""Databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Database:
    """A named collection of tables."""

    name: str
    path: str = ""
    client: str = ""
    """The metastore that has it, where the configuration names several."""

    def to_dict(self) -> dict[str, Any]:
        document = {"Path": self.path, "Client": self.client}
        return {"Name": self.name, **{key: value for key, value in document.items() if value}}
