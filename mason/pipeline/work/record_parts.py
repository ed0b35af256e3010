"""Parts that the plans and the records of all types of job have in common: as JSON, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import pyarrow as pa

from mason.pipeline.tables.commit import CommitRecord


class Column(Protocol):
    """Something with a name and a type, such as a field of a schema."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> pa.DataType: ...


def describe_columns(schema: Iterable[Column]) -> list[dict[str, str]]:
    """Return columns with their types."""
    return [{"Name": each.name, "Type": str(each.type)} for each in schema]


def describe_files(commit: CommitRecord) -> dict[str, Any]:
    """Return what a job has written."""
    return {"Files": [each.path for each in commit.files], "Bytes": sum(each.bytes for each in commit.files)}


def where_given(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts that say something: a job that has no such output does not name it."""
    return {name: value for name, value in parts.items() if value}


_LONGEST_BAR = 40


def row_shares(parts: Mapping[str, int], width: int) -> list[str]:
    """Return the lines; parts without rows are left out, except for the first."""
    first, *others = parts
    amounts = {name: f"{parts[name]:,}" for name in (first, *(each for each in others if parts[each]))}
    names, counts = (max(map(len, texts)) for texts in (amounts, amounts.values()))
    room = min(width - names - counts - len("    100 %"), _LONGEST_BAR)
    total = sum(parts.values()) or 1
    return [
        f"{name.ljust(names)}  {count.rjust(counts)}  {_bar(parts[name] / total, room)}{_percent(parts[name] / total)}"
        for name, count in amounts.items()
    ]


def _bar(share: float, room: int) -> str:
    """Any row is seen, however small its share."""
    length = max(round(share * room), 1) if share and room > 0 else 0
    return "█" * length + " " * bool(length)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
