"""The names that a part of a query can use, and the types of what they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.refusal import unlike_spark
from mason.pipeline.sql.query import BadQuery

Columns = Sequence[tuple[str, pa.DataType]]
"""The columns of a table or a query. What has no name has an empty one."""


@dataclass(frozen=True)
class Scope:
    """The tables, aliases and variables in sight."""

    tables: Mapping[str, Columns]
    """The tables of a database and of WITH, by their names in lower case."""
    sources: dict[str, Columns] = field(default_factory=dict)
    """What FROM names, by its names in lower case."""
    names: dict[str, pa.DataType] = field(default_factory=dict)
    """What the query itself names: its columns, the variables of functions."""
    merged: dict[str, pa.DataType] = field(default_factory=dict)
    """The columns that USING made one of two."""
    outer: Scope | None = None

    def inner(self) -> Scope:
        """Return the scope of a query inside this one."""
        return Scope(self.tables, outer=self)

    def with_tables(self, tables: Mapping[str, Columns]) -> Scope:
        return replace(self, tables={**self.tables, **tables})

    def with_names(self, names: Mapping[str, pa.DataType]) -> Scope:
        return replace(self, names={**self.names, **names})

    def type_of(self, column: Any) -> pa.DataType:
        """Return the type of a column.

        Raises:
            BadQuery: nothing is called so.
        """
        parts = [part.name for part in column.parts if isinstance(part, exp.Identifier)]
        found = self._find(parts)
        if found is None:
            raise BadQuery(f'There is no column "{".".join(parts)}".')
        return found

    def all_columns(self) -> Columns:
        """Return the columns of `*`."""
        merged = list(self.merged.items())
        rest = [
            (name, kind)
            for columns in self.sources.values()
            for name, kind in columns
            if name.lower() not in {each.lower() for each in self.merged}
        ]
        return [*merged, *rest]

    def columns_of(self, name: str) -> Columns:
        """Return the columns of `name.*`."""
        if name.lower() in self.sources:
            return self.sources[name.lower()]
        kind = self._find([name])
        if kind is None or not st.is_struct(kind):
            raise BadQuery(f'There is no table "{name}".')
        return [(each.name, each.type) for each in kind]

    def _find(self, parts: Sequence[str]) -> pa.DataType | None:
        for kind, rest in self._beginnings([part.lower() for part in parts]):
            found = _field(kind, rest)
            if found is not None:
                return found
        return self.outer._find(parts) if self.outer else None

    def _beginnings(self, parts: Sequence[str]) -> Iterator[tuple[pa.DataType, Sequence[str]]]:
        """What the first words of a name may be: a table and its column, a column, a name of the query's own."""
        first, *rest = parts
        if rest and first in self.sources:
            yield from ((kind, rest[1:]) for name, kind in self.sources[first] if name.lower() == rest[0])
        yield from ((kind, rest) for name, kind in self.merged.items() if name.lower() == first)
        for columns in self.sources.values():
            yield from ((kind, rest) for name, kind in columns if name.lower() == first)
        if first in self.names:
            yield self.names[first], rest


def _field(kind: pa.DataType, path: Sequence[str]) -> pa.DataType | None:
    """The type of a field inside a type."""
    for name in path:
        if st.is_list(kind):
            raise unlike_spark(f'field "{name}" of every element of a list')
        if not st.is_struct(kind):
            return None
        inner = [each.type for each in kind if each.name.lower() == name.lower()]
        if not inner:
            return None
        kind = inner[0]
    return kind
