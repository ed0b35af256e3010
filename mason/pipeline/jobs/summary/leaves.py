"""The columns that are summarized: those of a table, and what lies within nested ones.

A field of a struct is `address.city`, an element of a list `tags[]`, a field of such an element `items[].price`. A map
is a list of its entries, which have a `key` and a `value`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

_PLAIN = re.compile(r"[^.\[\]`]+")


@dataclass(frozen=True)
class Leaf:
    """A column to be summarized."""

    name: str
    column: str
    """The column of the table that it is, or is a part of."""
    within: str
    """The list whose elements it has a value of, rather than of the rows of the table; empty for none."""
    type: pa.DataType


def leaves_of(schema: pa.Schema) -> list[Leaf]:
    """Return what is summarized of a table."""
    empty = pa.record_batch([pa.array([], each.type) for each in schema], schema=schema)
    return [
        Leaf(name, field.name, within, values.type)
        for field, column in zip(schema, empty.columns, strict=True)
        for name, within, values in _walk(field.name, "", column)
    ]


def leaf_values(rows: pa.RecordBatch) -> list[pa.Array]:
    """Return the values of each, in the same order."""
    return [values for column in rows.columns for *_, values in _walk("", "", column)]


def _walk(name: str, within: str, values: pa.Array) -> Iterator[tuple[str, str, pa.Array]]:
    kind = values.type
    if pa.types.is_struct(kind):
        for number, field in enumerate(kind):
            # By number: two fields may have the same name. A field of a null is null.
            yield from _walk(f"{name}.{_quote_name(field.name)}", within, pc.struct_field(values, [number]))
    elif pa.types.is_map(kind):
        entry = pa.struct([pa.field("key", kind.key_type), pa.field("value", kind.item_type)])
        yield from _walk(name, within, values.cast(pa.list_(entry)))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        yield name, within, values
        yield from _walk(f"{name}[]", name, pc.list_flatten(values))
    else:
        yield name, within, values


def _quote_name(name: str) -> str:
    """A name within another in backticks where it could be taken for more than a name."""
    return name if _PLAIN.fullmatch(name) else "`{}`".format(name.replace("`", "``"))
