"""Schedules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Schedule:
    """When a named piece of work is due; without an expression, when somebody triggers it."""

    name: str
    expression: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"Name": self.name, "Schedule": self.expression}
