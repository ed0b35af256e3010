"""What is read of a workbook's sheets, as data that goes along to tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SheetPart:
    """What is read of a sheet: the rows from `first_row` on that are not empty, and the columns by their places.

    `header` are the cells of its header, where it has one, which may stand again among the rows. `exact` are columns of
    numbers that are to be read digit by digit.
    """

    sheet: str
    first_row: int
    columns: tuple[tuple[int, str], ...]
    rows: int
    header: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> SheetPart:
        columns = tuple((place, name) for place, name in value["columns"])
        names = {each: tuple(value.get(each, ())) for each in ("header", "exact")}
        return cls(**{**value, "columns": columns, **names})
