"""What is read of a workbook's sheets, as data that goes along to tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SheetPart:
    """What is read of a sheet: the rows from `first_row` on that are not empty, and the columns by their places."""

    sheet: str
    first_row: int
    columns: tuple[tuple[int, str], ...]
    rows: int

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> SheetPart:
        return cls(**{**value, "columns": tuple((place, name) for place, name in value["columns"])})
