"""The statement by which Athena itself would make a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mason.clients.glue.tables import glue_from_table
from mason.engines.metastore.models.table import Table

_OWN = "mason."
_TOLD_ANYWAY = "EXTERNAL"


def create_statement(table: Table) -> str:
    """Return CREATE EXTERNAL TABLE for a table; nothing for one that Athena cannot read, since it is not on S3, say."""
    found = glue_from_table(table)
    place: Mapping[str, Any] = found["StorageDescriptor"]
    reader: Mapping[str, Any] = place.get("SerdeInfo", {})
    if not reader or not str(place.get("Location", "")).startswith("s3://"):
        return ""
    keys = found["PartitionKeys"]
    parts = [
        f"CREATE EXTERNAL TABLE {_name(table.database_name)}.{_name(table.name)} ({_columns(place['Columns'])})",
        f"PARTITIONED BY ({_columns(keys)})" if keys else "",
        f"ROW FORMAT SERDE {_text(reader['SerializationLibrary'])}",
        f"WITH SERDEPROPERTIES ({_pairs(reader['Parameters'])})" if reader.get("Parameters") else "",
        f"STORED AS INPUTFORMAT {_text(place['InputFormat'])} OUTPUTFORMAT {_text(place['OutputFormat'])}",
        f"LOCATION {_text(place['Location'])}",
        f"TBLPROPERTIES ({_pairs(_properties(found['Parameters']))})",
    ]
    return " ".join(part for part in parts if part)


def _columns(columns: Sequence[Mapping[str, str]]) -> str:
    return ", ".join(f"{_name(each['Name'])} {each['Type']}" for each in columns)


def _properties(parameters: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in parameters.items() if not name.startswith(_OWN) and name != _TOLD_ANYWAY}


def _pairs(values: Mapping[str, str]) -> str:
    return ", ".join(f"{_text(name)} = {_text(value)}" for name, value in values.items())


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(text: str) -> str:
    """A text as Hive reads it, which knows backslashes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
