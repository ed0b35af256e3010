"""The columns of a table that a user asks for by name."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from mason.errors import Unprocessable
from mason.util.nearest import did_you_mean

_SHOWN = 50


class NoSuchColumn(Unprocessable):
    """422 · exit 1"""


def chosen_columns(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    """Return the schema of these columns in this order; of all, if none are named.

    Raises:
        NoSuchColumn: one of them is not there.
    """
    for name in columns:
        if name not in schema.names:
            hint = did_you_mean(name, schema.names) or f"Columns: {', '.join(schema.names[:_SHOWN])}."
            raise NoSuchColumn(f'There is no column "{name}".', hint=hint)
    return pa.schema([schema.field(name) for name in dict.fromkeys(columns)]) if columns else schema
