"""Parts that the plans and the records of all types of job have in common, as JSON."""

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
