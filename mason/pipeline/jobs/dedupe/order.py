"""The total order of rows: by what the user names, nulls last, then by file, then by row. Nothing is left to chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from mason.pipeline.reading.chosen_columns import choose_columns
from mason.pipeline.sql.query import FILE_COLUMN, ROW_COLUMN, quote_identifier

TABLE = "t"


@dataclass(frozen=True)
class OrderColumn:
    """A column to order by."""

    name: str
    descending: bool = False

    @classmethod
    def of(cls, text: str, names: Sequence[str]) -> OrderColumn:
        """Read `updated_at`, `updated_at desc` or `updated_at asc`; a column that is called so is taken by its name."""
        name, _, word = text.rpartition(" ")
        if text not in names and word.casefold() in ("asc", "desc"):
            return cls(name.strip(), word.casefold() == "desc")
        return cls(text)


def order_columns(texts: Sequence[str], schema: pa.Schema) -> list[OrderColumn]:
    """Return the columns to order by.

    Raises:
        NoSuchColumn: one of them is not there.
    """
    columns = [OrderColumn.of(text, schema.names) for text in texts]
    choose_columns(schema, [each.name for each in columns])
    return columns


def query_of_removed_rows(keys: Sequence[str], order: Sequence[OrderColumn], *, keep_last: bool) -> str:
    """Return the query for the rows that go: all but the first of each key, in the order or against it.

    A row without a value to order by never wins over one that has it, whichever end is kept.
    """
    ordered = [(quote_identifier(each.name), each.descending != keep_last) for each in order]
    ordered += [(FILE_COLUMN, keep_last), (ROW_COLUMN, keep_last)]
    by = ", ".join(f"{name} {'DESC' if descending else 'ASC'} NULLS LAST" for name, descending in ordered)
    grouped = ", ".join(quote_identifier(key) for key in keys)
    rank = f"row_number() OVER (PARTITION BY {grouped} ORDER BY {by})"
    ranked = f"SELECT {FILE_COLUMN}, {ROW_COLUMN}, {rank} AS _mason_rank FROM {TABLE}"  # noqa: S608 (names are quoted)
    return f"SELECT {FILE_COLUMN}, {ROW_COLUMN} FROM ({ranked}) WHERE _mason_rank > 1"  # noqa: S608
