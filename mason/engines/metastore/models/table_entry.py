"""A table as JSON: readable for people, exact for programs. Metastores that keep their own files use it.

The Arrow schema stands in its own binary form beside the readable columns: no type is lost in a spelling.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mason.engines.metastore.models.schema import LOGICAL_TYPE, Column, Schema, SchemaConflict, TypeInFile
from mason.engines.metastore.models.table import Delimited, Table
from mason.engines.storage.models.infer_options import InferOptions

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1


def entry_of(table: Table) -> dict[str, Any]:
    """Return all that is known of a table, as JSON has it."""
    arrow = table.schema.to_arrow().serialize().to_pybytes()
    return {
        "MasonTable": VERSION,
        **table.to_dict(),
        "ArrowSchema": base64.b64encode(arrow).decode(),
        "ReadOptions": asdict(table.read_options),
        **({"Delimited": asdict(table.delimited)} if table.delimited else {}),
    }


def table_of(entry: Mapping[str, Any]) -> Table:
    """Return the table that an entry describes."""
    return Table(
        name=entry["Name"],
        database_name=entry["DatabaseName"],
        path=entry.get("Path", ""),
        created_at=entry["CreatedAt"],
        created_by=entry["CreatedBy"],
        schema=_schema(entry),
        partition_keys=tuple(entry.get("PartitionKeys", ())),
        conflicts=tuple(_conflict(each) for each in entry.get("SchemaConflicts", ())),
        read_options=InferOptions.of(entry["ReadOptions"]),
        delimited=Delimited(**entry["Delimited"]) if "Delimited" in entry else None,
    )


def _schema(entry: Mapping[str, Any]) -> Schema:
    fields = _arrow_fields(entry["ArrowSchema"])
    entries = entry["Schema"]["Columns"]
    columns = [Column(*field, _details(words)) for field, words in zip(fields, entries, strict=True)]
    return Schema(entry["Schema"]["SchemaType"], tuple(columns))


def _details(words: Mapping[str, str]) -> dict[str, str]:
    """Return what a format prints of a column besides its name and the type that it holds."""
    return {key: word for key, word in words.items() if key not in ("Name", LOGICAL_TYPE)}


@lru_cache(256)
def _arrow_fields(text: str) -> Sequence[tuple[str, pa.DataType, bool]]:
    """Return the fields of a schema as it was kept; a server is asked for the same tables again and again."""
    import pyarrow as pa

    return [(each.name, each.type, each.nullable) for each in pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))]


def _conflict(entry: Mapping[str, Any]) -> SchemaConflict:
    found = tuple(TypeInFile(each["File"], each["Type"]) for each in entry["Found"])
    return SchemaConflict(entry["Column"], found, entry["Chosen"])
