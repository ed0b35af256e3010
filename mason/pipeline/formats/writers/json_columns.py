"""Columns as JSON text, column by column and not row by row: a row's text is put together from those of its columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.formats.writers.codecs import (
    base64_text,
    is_any_binary,
    iso_times,
    list_parts,
    map_parts,
    plain_decimals,
)
from mason.pipeline.types.time_text import check_written

NULL = pa.scalar("null")
_MUST_BE_ESCAPED = '["\\\\\\x00-\\x1f]'
_HAS_FRACTION = "[.ein]"


def json_texts(values: pa.Array) -> pa.Array:
    """Return each value as JSON text; a null is `null`.

    Decimals are numbers with all their digits. NaN and the infinities, which JSON has no words for, are text; dates and
    times are text as ISO 8601 has it, bytes are base64, and a map is a list of key and value.
    """
    declared = values.type
    if pa.types.is_struct(declared):
        return _present(values, json_objects(declared.names, values.flatten(), len(values)))
    if pa.types.is_list(declared):
        offsets, inner = list_parts(values)
        return _present(values, _lists(offsets, json_texts(inner)))
    if pa.types.is_map(declared):
        return _present(values, _map_texts(values))
    return pc.fill_null(_scalar_texts(values), NULL)


def json_objects(names: Sequence[str], columns: Sequence[pa.Array], rows: int) -> pa.Array:
    """Return a JSON object for each row of these columns."""
    pieces: list[Any] = []
    for number, (name, values) in enumerate(zip(names, columns, strict=True)):
        key = json.dumps(name, ensure_ascii=False)
        pieces += [pa.scalar(f"{',' if number else '{'}{key}:"), json_texts(values)]
    if not pieces:
        return pa.repeat(pa.scalar("{}"), rows)
    return pc.binary_join_element_wise(*pieces, pa.scalar("}"), "")


def _scalar_texts(values: pa.Array) -> pa.Array:
    declared = values.type
    if pa.types.is_boolean(declared) or pa.types.is_integer(declared):
        return values.cast(pa.string())
    if pa.types.is_floating(declared):
        return _float_texts(values)
    if pa.types.is_decimal(declared):
        return plain_decimals(values)
    if pa.types.is_string(declared):
        return _escape_values(values)
    if is_any_binary(declared):
        return _quote_texts(base64_text(declared).encode(values))
    if pa.types.is_timestamp(declared):
        return _quote_texts(iso_times(values))
    if pa.types.is_duration(declared):
        return values.cast(pa.int64()).cast(pa.string())
    if pa.types.is_date(declared):
        values = check_written(values)
    return _quote_texts(values.cast(pa.string()))  # dates and times of day


def _float_texts(values: pa.Array) -> pa.Array:
    """1 is written as 1.0, so that whoever reads it sees a fraction."""
    texts = values.cast(pa.string())
    whole = pc.invert(pc.match_substring_regex(texts, _HAS_FRACTION))
    texts = pc.if_else(whole, pc.binary_join_element_wise(texts, pa.scalar(".0"), ""), texts)
    finite = pc.is_finite(values)
    if pc.all(finite).as_py() is not False:
        return texts
    above = pc.greater(values.cast(pa.float64()), 0)  # Arrow does not compare half floats
    words = pc.if_else(pc.is_nan(values), "NaN", pc.if_else(above, "Infinity", "-Infinity"))
    return pc.if_else(finite, texts, _quote_texts(words))


def _escape_values(values: pa.Array) -> pa.Array:
    odd = pc.fill_null(pc.match_substring_regex(values, _MUST_BE_ESCAPED), False)
    plain = _quote_texts(values)
    if not odd.true_count:
        return plain
    escaped = [json.dumps(each, ensure_ascii=False) for each in values.filter(odd).to_pylist()]
    return pc.replace_with_mask(plain, odd, pa.array(escaped, pa.string()))


def _quote_texts(texts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(pa.scalar('"'), texts, pa.scalar('"'), "")


def _lists(offsets: pa.Array, texts: pa.Array) -> pa.Array:
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, texts), ",")
    return pc.binary_join_element_wise(pa.scalar("["), joined, pa.scalar("]"), "")


def _map_texts(values: pa.Array) -> pa.Array:
    offsets, keys, items = map_parts(values)
    return _lists(offsets, json_objects(["key", "value"], [keys, items], len(keys)))


def _present(values: pa.Array, texts: pa.Array) -> pa.Array:
    return pc.if_else(values.is_valid(), texts, NULL) if values.null_count else texts
