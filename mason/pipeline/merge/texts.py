"""The text of a column, where a file has text for it."""

from __future__ import annotations

import pyarrow as pa

from mason.pipeline.csv_typed import TypedSource
from mason.pipeline.sources import ArrowSource, Source, TextSource, ValueSource


def texts_of(source: Source) -> pa.Array | None:
    """Return the values of a column if they are text; None if they have types of their own."""
    if isinstance(source, TypedSource):
        return source.text().values
    if isinstance(source, TextSource):
        return source.values
    if isinstance(source, ArrowSource) and (
        pa.types.is_string(source.values.type) or pa.types.is_large_string(source.values.type)
    ):
        return source.values.cast(pa.string())
    if isinstance(source, ValueSource) and all(value is None or isinstance(value, str) for value in source.values):
        return pa.array(source.values, pa.string())
    return None
