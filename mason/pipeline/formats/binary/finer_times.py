"""Times that lose something when they come into a table, whose finest are microseconds."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.formats.writers.codecs import map_parts
from mason.pipeline.types.column_types import is_any_list

_FIRST, _LAST = -9_223_372_036_854_775, 9_223_372_036_854_775
"""The microseconds between which nanoseconds since 1970 fit 64 bits."""


def count_finer_in(values: pa.Array, rounded: pa.Array) -> int:
    """Return how many times of a column lose something, those inside lists, structs and maps included."""
    if pa.types.is_dictionary(values.type) and _has_nanoseconds(values.type.value_type):
        values = values.dictionary_decode()
    if not _has_nanoseconds(values.type) or len(values) != len(rounded):
        return 0
    if pa.types.is_timestamp(values.type):
        return count_finer(values, rounded) if pa.types.is_timestamp(rounded.type) else 0
    if pa.types.is_struct(values.type) and pa.types.is_struct(rounded.type):
        common = [name for name in values.type.names if name in rounded.type.names]
        return sum(count_finer_in(values.field(name), rounded.field(name)) for name in common)
    if pa.types.is_map(values.type) and pa.types.is_map(rounded.type):
        return sum(map(count_finer_in, map_parts(values)[1:], map_parts(rounded)[1:]))
    if is_any_list(values.type) and is_any_list(rounded.type):
        return count_finer_in(values.flatten(), rounded.flatten())
    return 0


def count_finer(values: pa.Array, rounded: pa.Array) -> int:
    """Return how many times lose something finer than a microsecond: `values` have it, `kept` do not.

    Of times that nanoseconds cannot tell, nothing is said.
    """
    far = pc.or_(pc.less(rounded.cast(pa.int64()), _FIRST + 1), pc.greater(rounded.cast(pa.int64()), _LAST - 1))
    whole = pc.if_else(far, pa.scalar(None, rounded.type), rounded).cast(values.type)
    return int(pc.sum(pc.not_equal(values, whole)).as_py() or 0)


def _has_nanoseconds(kind: pa.DataType) -> bool:
    if pa.types.is_timestamp(kind):
        return bool(kind.unit == "ns")
    return pa.types.is_nested(kind) and any(_has_nanoseconds(kind.field(n).type) for n in range(kind.num_fields))
