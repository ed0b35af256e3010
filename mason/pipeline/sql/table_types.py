"""The types that columns of files have in SQL: Spark has no unsigned integers, and bytes of any number."""

from __future__ import annotations

import pyarrow as pa

_SIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}


def sql_schema(schema: pa.Schema) -> pa.Schema:
    """Return the columns of a table as a query has them."""
    return pa.schema([(each.name, sql_type(each.type)) for each in schema])


def sql_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that values have in SQL: the one in which Spark reads them."""
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_list(kind):
        return pa.list_(sql_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(each.name, sql_type(each.type)) for each in kind])
    if pa.types.is_map(kind):
        return pa.map_(sql_type(kind.key_type), sql_type(kind.item_type))
    return _SIGNED.get(kind, kind)
