"""Values of Arrow as those of Python, to be shown: a day or a moment that Python has no word for is its text.

Python knows the years from 1 to 9999, and Parquet many more.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from mason.pipeline.types.far_times import any_year_text, is_day_or_moment


def python_rows(rows: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """Return rows as `to_pylist` does, far days and moments as text."""
    try:
        found: list[dict[str, Any]] = rows.to_pylist()
    except (OverflowError, ValueError):
        names, columns = rows.schema.names, map(python_values, rows.columns)
        found = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    return found


def python_values(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return values as `to_pylist` does, far days and moments as text."""
    try:
        found: list[Any] = values.to_pylist()
    except (OverflowError, ValueError):
        found = list(map(python_value, values))
    return found


def python_value(value: pa.Scalar) -> Any:
    """Return a value as `as_py` does, far days and moments as text."""
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        if is_day_or_moment(value.type):
            return any_year_text(value)
        if pa.types.is_dictionary(value.type):
            return python_value(value.value)
        if pa.types.is_struct(value.type):
            return {name: python_value(each) for name, each in value.items()}
        if pa.types.is_map(value.type):
            keys, items = value.values.flatten()
            return list(zip(python_values(keys), python_values(items), strict=True))
        if pa.types.is_nested(value.type):
            return python_values(value.values)
        raise


def first_far(values: pa.Array) -> Any:
    """Return the first value of which something is so far away that Python has no word for it; None without one."""
    for each in values:
        try:
            each.as_py()
        except (OverflowError, ValueError):
            return python_value(each)
    return None
