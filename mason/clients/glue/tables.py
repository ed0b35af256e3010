"""Tables as Glue's catalog has them, and as Mason has them; pure functions.

Glue keeps the columns by Hive's types, which are fewer than Arrow's. So a table that Mason saves carries its own entry
among its parameters, which is exact. It counts as long as it says the same as the columns that everybody sees: once
somebody else has changed these, they win.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mason.clients.glue.summaries import CREATED_BY, PATH, Found, summary_from_glue, version_place
from mason.clients.shared.hive_formats import StorageFormat, data_columns, storage_format
from mason.engines.metastore.models.partition import NULL_PARTITION, Partition
from mason.engines.metastore.models.schema import Column, Schema
from mason.engines.metastore.models.table import Table
from mason.engines.metastore.models.table_entry import entry_of, table_of
from mason.engines.storage.models.infer_options import InferOptions
from mason.errors import Conflict
from mason.pipeline.storage.format_names import format_of_name
from mason.pipeline.types.hive_types import arrow_type, hive_type, odd_names

_ENTRY = "mason.table"
_SETTINGS = ("classification", "skip.header.line.count", "avro.schema.literal", "areColumnsQuoted", "delimiter", PATH)
"""Parameters that say how files are read: those of a former version do not hold for the next."""
_KEPT = ("Description", "Owner", "Retention")


def glue_from_table(table: Table, existing: Found | None = None) -> dict[str, Any]:
    """Return a table as Glue takes it; what others have noted at an existing one stays.

    Raises:
        Unsupported: a column has a type that Glue has nothing for.
    """
    existing = existing or {}
    form = storage_format(table)
    noted = {key: value for key, value in existing.get("Parameters", {}).items() if key not in _SETTINGS}
    location = _location(table.place or table.path)
    return {
        **{key: existing[key] for key in _KEPT if existing.get(key)},
        "Name": table.name,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": [_glue_column(each) for each in _key_columns(table)],
        "StorageDescriptor": storage_descriptor(table, location, form),
        "Parameters": {
            **noted,
            **form.table_settings,
            "EXTERNAL": "TRUE",
            **({"classification": form.classification} if form.classification else {}),
            **({PATH: table.path} if location != table.path else {}),
            CREATED_BY: table.created_by,
            _ENTRY: _pack_table(table),
        },
    }


def storage_descriptor(table: Table, location: str, form: StorageFormat) -> dict[str, Any]:
    """Return where files lie and how they are read, of a table or of one of its partitions."""
    columns = data_columns(table)
    classes = {"InputFormat": form.input_format, "OutputFormat": form.output_format}
    return {
        "Columns": [_glue_column(each, text_only=form.text_only) for each in columns],
        **({"Location": location} if location else {}),
        **{key: value for key, value in classes.items() if value},
        **(
            {"SerdeInfo": {"SerializationLibrary": form.serde, "Parameters": dict(form.settings)}} if form.serde else {}
        ),
    }


def glue_from_partition(table: Table, partition: Partition) -> dict[str, Any]:
    """Return a partition as Glue takes it."""
    values = [partition.values[key] for key in table.partition_keys]
    return {
        "Values": [NULL_PARTITION if value is None else value for value in values],
        "StorageDescriptor": storage_descriptor(table, _location(partition.path), storage_format(table)),
    }


def table_from_glue(found: Found) -> Table:
    """Return a table that Glue describes."""
    summary = summary_from_glue(found)
    saved = _unpack_table(found)
    table = saved if saved is not None and _declares(saved) == _glue_columns(found) else _foreign(found, saved)
    return replace(
        table,
        name=summary.name,
        database_name=summary.database_name,
        path=summary.path,
        place=version_place(found),
        created_at=summary.created_at,
        created_by=summary.created_by,
    )


def save_warnings(table: Table) -> Iterator[str]:
    """Yield what somebody who saves this table should know of those who read it elsewhere."""
    form = storage_format(table)
    if form.warning:
        yield form.warning
    if table.path and format_of_name(table.path):
        yield f"{table.path} is one file: Athena and Hive read only folders."
    yield from _same_in_lower_case(table.schema.columns)
    for column in data_columns(table):
        if form.classification == "csv" and not form.text_only and _is_instant(column):
            yield f'Column "{column.name}" has times with a time zone, which Athena and Hive cannot read from CSV.'
        odd = odd_names(column.type)
        if odd:
            names = ", ".join(f'"{name}"' for name in odd)
            yield f'Column "{column.name}" has fields that Athena and Hive cannot name: {names}.'


def _same_in_lower_case(columns: Sequence[Column]) -> Iterator[str]:
    known: dict[str, str] = {}
    for column in columns:
        other = known.setdefault(column.name.lower(), column.name)
        if other != column.name:
            yield f'Columns "{other}" and "{column.name}" are one for Athena and Hive, which cannot read the table.'


def _is_instant(column: Column) -> bool:
    import pyarrow as pa

    return pa.types.is_timestamp(column.type) and column.type.tz is not None


def covers(found: Any, wanted: Any) -> bool:
    """Say whether what Glue has is what is wanted; what it has besides does not count."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(covers(found.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        same = isinstance(found, list) and len(found) == len(wanted)
        return same and all(covers(one, other) for one, other in zip(found, wanted, strict=True))
    return bool(found == wanted)


def refuse_other_kinds(found: Found) -> None:
    """Check that a table is one that Mason may describe anew.

    Raises:
        Conflict: it is a view, a link to another catalog, or kept by a table format.
    """
    kind = found.get("Parameters", {}).get("table_type", "")
    if found.get("TableType") == "VIRTUAL_VIEW":
        kind_name = "a view"
    elif "TargetTable" in found:
        kind_name = "a link to a table of another catalog"
    elif kind:
        kind_name = f"a table of {kind.capitalize()}"
    else:
        return
    raise Conflict(f'"{found["Name"]}" is {kind_name} in Glue; it is not replaced.', hint="Choose another table_name.")


def unknown_types(table: Table, found: Found) -> Iterator[str]:
    """Yield a sentence for each column of a type that Mason does not know: it is taken as text."""
    if table.schema.schema_type != "glue":
        return
    for each in [*found.get("StorageDescriptor", {}).get("Columns", ()), *found.get("PartitionKeys", ())]:
        try:
            arrow_type(each.get("Type", ""))
        except ValueError as error:
            yield f'Column "{each["Name"]}" is taken as text: {error}.'


def _foreign(found: Found, saved: Table | None) -> Table:
    """A table by the columns that everybody sees, whoever made it."""
    keys = found.get("PartitionKeys", ())
    columns = [*found.get("StorageDescriptor", {}).get("Columns", ()), *keys]
    return Table(
        name=found["Name"],
        database_name="",
        schema=Schema("glue", tuple(_column(each) for each in columns)),
        partition_keys=tuple(each["Name"] for each in keys),
        read_options=saved.read_options if saved else InferOptions(),
    )


def _key_columns(table: Table) -> list[Column]:
    import pyarrow as pa

    known = {each.name: each for each in table.schema.columns}
    return [known.get(key) or Column(key, pa.string()) for key in table.partition_keys]


def _glue_column(column: Column, *, text_only: bool = False) -> dict[str, str]:
    return {"Name": column.name, "Type": "string" if text_only else hive_type(column.type)}


def _column(found: Found) -> Column:
    import pyarrow as pa

    type_text = found.get("Type", "")
    try:
        return Column(found["Name"], arrow_type(type_text), details={"Type": type_text})
    except ValueError:
        return Column(found["Name"], pa.string(), details={"Type": type_text})


def _declares(table: Table) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The columns and partition keys that Glue was given for a table."""
    text_only = storage_format(table).text_only
    columns = [_glue_column(each, text_only=text_only) for each in data_columns(table)]
    return columns, [_glue_column(each) for each in _key_columns(table)]


def _glue_columns(found: Found) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The columns and partition keys that Glue has."""
    columns, keys = found.get("StorageDescriptor", {}).get("Columns", ()), found.get("PartitionKeys", ())
    return _plain(columns), _plain(keys)


def _plain(columns: Sequence[Found]) -> list[dict[str, str]]:
    return [{"Name": each["Name"], "Type": each.get("Type", "")} for each in columns]


def _location(path: str) -> str:
    """A folder's name ends with a slash: without it Athena would also read folders whose names begin the same."""
    is_folder = path.startswith("s3://") and not format_of_name(path)
    return f"{path}/" if is_folder and not path.endswith("/") else path


def _pack_table(table: Table) -> str:
    return base64.b64encode(zlib.compress(json.dumps(entry_of(table)).encode())).decode()


def _unpack_table(found: Found) -> Table | None:
    """What cannot be read is not Mason's, whatever its name says."""
    packed = found.get("Parameters", {}).get(_ENTRY)
    if not packed:
        return None
    try:
        return table_of(json.loads(zlib.decompress(base64.b64decode(packed))))
    except (ValueError, KeyError, TypeError, zlib.error):
        return None
