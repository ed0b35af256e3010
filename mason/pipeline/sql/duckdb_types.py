"""What DuckDB calls types and names."""

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
