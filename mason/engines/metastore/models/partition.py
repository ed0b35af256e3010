"""Partitions of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mason.util.view import View

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""What stands for null in the name of a partition's folder."""


@dataclass(frozen=True)
class Partition:
    """One combination of partition values and where its files lie. A null partition's value is None."""

    view: ClassVar[View] = View(columns=("Values", "Path"))
    values: Mapping[str, str | None]
    path: str

    def to_dict(self) -> dict[str, Any]:
        return {"Values": dict(self.values), "Path": self.path}
