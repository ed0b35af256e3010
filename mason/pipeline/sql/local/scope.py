"""The names that a part of a query can use, the types of what they name, and where in the query the part stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.aggregates import is_aggregate
from mason.pipeline.sql.local.refusal import not_there, unlike_spark

Columns = Sequence[tuple[str, pa.DataType]]
"""The columns of a table or a query. What has no name has an empty one."""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The tables, aliases and variables in sight."""

    tables: Mapping[str, Columns]
    """The tables of a database and of WITH, by their names in lower case."""
    sources: dict[str, Columns] = field(default_factory=dict)
    """What FROM names, by its names in lower case."""
    names: dict[str, pa.DataType] = field(default_factory=dict)
    """What the query itself names: its columns."""
    variables: Mapping[str, pa.DataType] = field(default_factory=dict)
    """The variables of functions in sight: they come before columns that are called the same."""
    merged: dict[str, pa.DataType] = field(default_factory=dict)
    """The columns that USING made one of two."""
    outer: Scope | None = None
    keys: Sequence[Any] = ()
    """What rows are grouped by, where a zero in it may have a sign."""
    asked_inside: list[Sequence[str]] = field(default_factory=list)
    """The names that queries inside of this one have asked it for: such a query depends on the row."""
    _indexes: dict[str, tuple[Columns, Mapping[str, Sequence[pa.DataType]]]] = field(default_factory=dict)
    """The columns of sources by their names in lower case: a table may have thousands, and each is looked up."""

    def inner(self) -> Scope:
        """Return the scope of a query inside this one."""
        return Scope(tables=self.tables, outer=self)

    def with_tables(self, tables: Mapping[str, Columns]) -> Scope:
        return replace(self, tables={**self.tables, **tables})

    def with_names(self, names: Mapping[str, pa.DataType]) -> Scope:
        return replace(self, names={**self.names, **names})

    def with_variables(self, variables: Mapping[str, pa.DataType]) -> Scope:
        return replace(self, variables={**self.variables, **variables})

    def type_of(self, column: Any) -> pa.DataType:
        """Return the type of a column.

        Raises:
            BadQuery: nothing is called so.
        """
        parts = [part for part in column.parts if isinstance(part, exp.Identifier)]
        found = self._find([part.name for part in parts])
        if found is None and len(parts) > 1 and not self._knows(parts[0].name.lower()):
            raise not_there(parts[0], "table", self._tables_in_sight())
        if found is None:
            raise not_there(parts[-1], "column", self._names_at(parts))
        return found

    def has_column(self, name: str) -> bool:
        """Say whether a source has a column of this name."""
        return any(self._kinds(source, name.lower()) for source in self.sources)

    def all_columns(self) -> Columns:
        """Return the columns of `*`."""
        merged, taken = list(self.merged.items()), {each.lower() for each in self.merged}
        rest = [
            (name, kind) for columns in self.sources.values() for name, kind in columns if name.lower() not in taken
        ]
        return [*merged, *rest]

    def columns_of(self, table: Any) -> Columns:
        """Return the columns of `table.*`."""
        name = table.name
        if name.lower() in self.sources:
            return self.sources[name.lower()]
        kind = self._find([name])
        if kind is None or not st.is_struct(kind):
            raise not_there(table, "table", self._tables_in_sight())
        return [(each.name, each.type) for each in kind]

    def _find(self, parts: Sequence[str]) -> pa.DataType | None:
        found = self._find_here(parts)
        if found is None and self.outer:  # and not in the one around that: Spark looks no further
            found = self.outer._find_here(parts)
            self.outer.asked_inside.extend([parts] if found is not None else [])
        return found

    def _find_here(self, parts: Sequence[str]) -> pa.DataType | None:
        for kind, rest in self._beginnings([part.lower() for part in parts]):
            found = _field(kind, rest)
            if found is not None:
                return found
        return None

    def _knows(self, name: str) -> bool:
        """Whether something is called so, of which something else could be a part."""
        return any(name in each.sources or each._find_here([name]) is not None for each in self._in_sight())

    def _tables_in_sight(self) -> Iterator[str]:
        yield from (name for each in self._in_sight() for name in each.sources if not name.startswith("\0"))

    def _in_sight(self) -> Sequence[Scope]:
        return [self, self.outer] if self.outer else [self]

    def _names_at(self, parts: Sequence[Any]) -> Iterator[str]:
        """What a column could be called: those of the table that it is said to be of, or all that are in sight."""
        said = self.sources.get(parts[0].name.lower()) if len(parts) > 1 else None
        yield from (name for columns in ([said] if said else self.sources.values()) for name, _ in columns)
        yield from self.names if said is None else ()
        if self.outer and said is None:
            yield from self.outer._names_at(parts)

    def _beginnings(self, parts: Sequence[str]) -> Iterator[tuple[pa.DataType, Sequence[str]]]:
        """What the first words of a name may be: a table and its column, a column, a name of the query's own."""
        first, *rest = parts
        if first in self.variables:
            yield self.variables[first], rest
        if rest and first in self.sources:
            yield from ((kind, rest[1:]) for kind in self._kinds(first, rest[0]))
        yield from ((kind, rest) for name, kind in self.merged.items() if name.lower() == first)
        for source in self.sources:
            yield from ((kind, rest) for kind in self._kinds(source, first))
        if first in self.names:
            yield self.names[first], rest

    def _kinds(self, source: str, name: str) -> Sequence[pa.DataType]:
        """The types of the columns of a source that are called so."""
        columns, index = self._indexes.get(source, (None, {}))
        if columns is not self.sources[source]:
            columns, index = self.sources[source], _index(self.sources[source])
            self._indexes[source] = columns, index
        return index.get(name, ())


def _index(columns: Columns) -> Mapping[str, Sequence[pa.DataType]]:
    found: dict[str, list[pa.DataType]] = {}
    for name, kind in columns:
        found.setdefault(name.lower(), []).append(kind)
    return found


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


def picks_rows(node: Any) -> bool:
    """Say whether a condition only picks rows: there what is unknown is a no, and Spark makes it one early."""
    above, denied = node.parent, False
    while isinstance(above, exp.Paren | exp.And | exp.Or | exp.Not):
        if denied and not isinstance(above, exp.Paren | exp.And):
            return False
        denied = denied or isinstance(above, exp.Not)
        above = above.parent
    return isinstance(above, exp.Where)


def stands_among_groups(node: Any) -> bool:
    """Say whether Spark refuses a subquery here that depends on the row: there is no such row any more."""
    above = node.parent
    while above is not None and not isinstance(above, exp.Select | exp.Order):
        if isinstance(above, exp.Anonymous) and is_aggregate(above.name):
            return False
        node, above = above, above.parent
    return isinstance(above, exp.Order) or (
        isinstance(above, exp.Select) and node.arg_key == "expressions" and above.args.get("group") is not None
    )
