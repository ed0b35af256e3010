"""Lists that Arrow keeps as views, rebuilt as plain ones.

Its own cast makes lists of them that lack their last offset, and whoever reads those reads beyond their end.
"""

from __future__ import annotations

from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.formats.writers.codecs import map_parts


def without_views(values: pa.Array) -> pa.Array:
    """Return a column in which no list is a view, whatever it is inside of."""
    if not _has_views(values.type):
        return values
    if pa.types.is_struct(values.type):
        inside = [without_views(values.field(number)) for number in range(values.type.num_fields)]
        fields = [old.with_type(new.type) for old, new in zip(values.type, inside, strict=True)]
        return pa.StructArray.from_arrays(inside, fields=fields, mask=values.is_null())
    if pa.types.is_map(values.type):
        offsets, keys, items = map_parts(values)
        return pa.MapArray.from_arrays(offsets, without_views(keys), without_views(items), mask=values.is_null())
    lengths = pc.fill_null(pc.list_value_length(values), 0).to_pylist()
    offsets = pa.array(accumulate(lengths, initial=0), pa.int32())
    return pa.ListArray.from_arrays(offsets, without_views(values.flatten()), mask=values.is_null())


def _has_views(kind: pa.DataType) -> bool:
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return True
    return pa.types.is_nested(kind) and any(_has_views(kind.field(n).type) for n in range(kind.num_fields))
