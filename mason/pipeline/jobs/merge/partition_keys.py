"""The columns that a table is partitioned by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa

from mason.pipeline.formats.writers.table_writer import can_name_folders


def wrong_keys(keys: Sequence[str], schema: pa.Schema) -> list[str]:
    """Return what is wrong with the columns that a table is to be partitioned by."""
    problems = [f'There is no column "{key}" to partition by.' for key in keys if key not in schema.names]
    problems += [f'"{key}" is among the columns to partition by more than once.' for key in _find_repeated(keys)]
    problems += [
        f'Column "{key}" is {schema.field(key).type}: such values cannot be the names of folders.'
        for key in keys
        if key in schema.names and not can_name_folders(schema.field(key).type)
    ]
    if keys and not set(schema.names) - set(keys):
        problems.append("Every column is to be partitioned by: at least one must be left for the files.")
    return problems


def _find_repeated(keys: Sequence[str]) -> list[str]:
    return [key for key, count in Counter(keys).items() if count > 1]
