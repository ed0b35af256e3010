"""How the schemas of two tables differ, and which columns of them can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from mason.errors import Unprocessable
from mason.pipeline.sql.engine_types import sql_type
from mason.pipeline.sql.query import quote_identifier
from mason.pipeline.types.column_types import decide, evidence_of, merge, storable


class NothingToCompare(Unprocessable):
    """Raised when two tables have no column in common that can be compared. 422 · exit 1"""


@dataclass(frozen=True)
class SchemaDiff:
    """Two schemas, the one before and the one after."""

    before: pa.Schema
    after: pa.Schema

    @property
    def added(self) -> Sequence[str]:
        known = set(self.before.names)
        return [name for name in self.after.names if name not in known]

    @property
    def removed(self) -> Sequence[str]:
        known = set(self.after.names)
        return [name for name in self.before.names if name not in known]

    @property
    def changed(self) -> Sequence[str]:
        return [name for name in self._common if self.before.field(name).type != self.after.field(name).type]

    @property
    def not_compared(self) -> Sequence[str]:
        """Columns of both whose values cannot be held against each other: maps, and nested ones of two types."""
        return [name for name in self._common if not self._is_comparable(name)]

    @cached_property
    def compared(self) -> Sequence[str]:
        return [name for name in self._common if self._is_comparable(name)]

    def select_columns(self, schema: pa.Schema) -> str:
        """Return what a query selects from the table of a schema, so that both sides have the same types."""
        return ", ".join(self._select_column(schema, name) for name in self.compared)

    def to_dict(self) -> dict[str, Any]:
        return {
            "Added": [_describe_column(self.after, name) for name in self.added],
            "Removed": [_describe_column(self.before, name) for name in self.removed],
            "Changed": [
                {"Name": name, "Before": str(self.before.field(name).type), "After": str(self.after.field(name).type)}
                for name in self.changed
            ],
            "NotCompared": list(self.not_compared),
        }

    @property
    def _common(self) -> Sequence[str]:
        known = set(self.after.names)
        return [name for name in self.before.names if name in known]

    def _is_comparable(self, name: str) -> bool:
        before, after = self.before.field(name).type, self.after.field(name).type
        if "map<" in f"{before}{after}":
            return False
        return before == after or not (pa.types.is_nested(before) or pa.types.is_nested(after))

    def common_type(self, name: str) -> pa.DataType:
        """Return the type in which both sides of a column are compared: the one that a merge would give it."""
        before, after = (sql_type(schema.field(name).type) for schema in (self.before, self.after))
        if before == after:
            return before
        common = storable(decide(merge(evidence_of(before), evidence_of(after)), "UTC"))
        return pa.string() if pa.types.is_time(common) else common  # SQL has no word for times of day

    def _select_column(self, schema: pa.Schema, name: str) -> str:
        common = self.common_type(name)
        if sql_type(schema.field(name).type) == common:
            return quote_identifier(name)
        return f"CAST({quote_identifier(name)} AS {_sql_type(common)}) AS {quote_identifier(name)}"


def schema_diff(before: pa.Schema, after: pa.Schema) -> SchemaDiff:
    """Hold two schemas against each other.

    Raises:
        NothingToCompare: they have no column in common.
    """
    diff = SchemaDiff(before, after)
    if not diff.compared:
        raise NothingToCompare(
            "The tables have no column in common that can be compared.",
            hint=f"One has {', '.join(before.names[:20])}; the other {', '.join(after.names[:20])}.",
        )
    return diff


def _describe_column(schema: pa.Schema, name: str) -> dict[str, str]:
    return {"Name": name, "Type": str(schema.field(name).type)}


def _sql_type(kind: pa.DataType) -> str:
    """A single type as Spark declares it."""
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz else "TIMESTAMP_NTZ"
    return _SQL_TYPES.get(str(kind), "STRING")


_SQL_TYPES = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date32[day]": "DATE",
    "binary": "BINARY",
}
