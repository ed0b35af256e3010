"""The text of a column, where a file has text for it: a pattern says how that is read, and nothing of other values."""

from __future__ import annotations

import pyarrow as pa

from mason.pipeline.formats.cell_source import CellSource
from mason.pipeline.formats.json.parse import ParsedSource
from mason.pipeline.formats.scanning.csv_typed import TypedSource
from mason.pipeline.formats.sources import ArrowSource, Source, TextSource, ValueSource
from mason.pipeline.types.given_types import Fitted, unite_fitted
from mason.pipeline.types.value_patterns import fit_pattern


def fit_texts(source: Source, pattern: str, target: pa.DataType, timezone: str) -> Fitted:
    """Return a column in a type that was given: its text by the pattern, values with types of their own as they are."""
    if isinstance(source, CellSource):
        return source.unite_with(fit_pattern(source.texts, pattern, target, timezone), target, timezone)
    if isinstance(source, ValueSource):
        return _fit_values(source, pattern, target, timezone)
    texts = _texts_of(source)
    if texts is None:
        return source.fit_given(target, timezone)
    return fit_pattern(texts, pattern, target, timezone)


def is_text_at(source: Source, index: int) -> bool:
    """Say whether a value of a column was text in the file."""
    return source.is_text(index) if isinstance(source, CellSource) else isinstance(source.value(index), str)


def _fit_values(source: ValueSource, pattern: str, target: pa.DataType, timezone: str) -> Fitted:
    texts = [value if isinstance(value, str) else None for value in source.values]
    fitted = fit_pattern(pa.array(texts, pa.string()), pattern, target, timezone)
    others = [None if isinstance(value, str) else value for value in source.values]
    if all(value is None for value in others):
        return fitted
    return unite_fitted([fitted, ValueSource(others).fit_given(target, timezone)])


def _texts_of(source: Source) -> pa.Array | None:
    """The values of a column if they are text; None if they have types of their own."""
    if isinstance(source, TypedSource):
        return source.text().values
    if isinstance(source, TextSource):
        return source.values
    if isinstance(source, ArrowSource | ParsedSource):
        values = source.values
        values = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
        return values.cast(pa.string()) if _is_text(values.type) else None
    return None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
