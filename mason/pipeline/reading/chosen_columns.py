"""The columns of a table that a user asks for by name."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa

from mason.errors import Unprocessable
from mason.util.nearest import did_you_mean

_SHOWN = 50


class NoSuchColumn(Unprocessable):
    """422 · exit 1"""


class OwnName(Unprocessable):
    """422 · exit 1 · a column is called as one that Mason adds"""


def choose_columns(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    """Return the schema of these columns in this order; of all, if none are named.

    Raises:
        NoSuchColumn: one of them is not there.
    """
    for name in columns:
        if name not in schema.names:
            hint = did_you_mean(name, schema.names) or f"Columns: {', '.join(schema.names[:_SHOWN])}."
            raise NoSuchColumn(f'There is no column "{name}".', hint=hint)
    return pa.schema([schema.field(name) for name in dict.fromkeys(columns)]) if columns else schema


def refuse_own_names(schema: pa.Schema, own: Collection[str]) -> None:
    """See that the columns of a table can be told from those that a query of Mason's adds to them.

    Raises:
        OwnName: one of them cannot.
    """
    for name in schema.names:
        if name.casefold() in own:
            hint = "Give it another name first: table query can, with AS and an output_path."
            raise OwnName(f'Column "{name}" is called as one that Mason adds for this.', hint=hint)
