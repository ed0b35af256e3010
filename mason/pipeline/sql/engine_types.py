"""What the engines call types and names: Spark has no unsigned integers, and DuckDB has words of its own."""

from __future__ import annotations

import pyarrow as pa


def duckdb_type(kind: pa.DataType) -> str:
    """Return what DuckDB calls a type."""
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if pa.types.is_list(kind):
        return f"{duckdb_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return f"STRUCT({', '.join(f'{quote_name(each.name)} {duckdb_type(each.type)}' for each in kind)})"
    if pa.types.is_map(kind):
        return f"MAP({duckdb_type(kind.key_type)}, {duckdb_type(kind.item_type)})"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMPTZ" if kind.tz else "TIMESTAMP"
    return _TYPES.get(str(kind), "VARCHAR")


_TYPES = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "float": "REAL",
    "double": "DOUBLE",
    "date32[day]": "DATE",
    "binary": "BLOB",
}


def quote_name(name: str) -> str:
    """Return a name as DuckDB takes any."""
    return '"' + name.replace('"', '""') + '"'


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
