"""What a listing says of tables and partitions of Glue. It needs nothing heavy, so nothing heavy is imported."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from mason.engines.metastore.models.partition import NULL_PARTITION, Partition
from mason.engines.metastore.models.table import TableSummary

CREATED_BY = "mason.created_by"
PATH = "mason.path"
_CRAWLER = "UPDATED_BY_CRAWLER"
# Where the pipeline puts the files of a job, beside the table.
_VERSION = re.compile(r"/\.mason/tables/([^/]+)/data/[^/]+(?=/|$)")

Found = Mapping[str, Any]
"""Something as Glue describes it."""


def summary_from_glue(found: Found) -> TableSummary:
    """Return what a listing says of a table that Glue describes."""
    parameters = found.get("Parameters", {})
    crawler = parameters.get(_CRAWLER)
    maker = f"crawler:{crawler}" if crawler else parameters.get(CREATED_BY) or found.get("CreatedBy", "")
    location, path = table_path(_location(found)), parameters.get(PATH, "")
    return TableSummary(
        found["Name"],
        found.get("DatabaseName", ""),
        path if path.rstrip("/") == location.rstrip("/") else location,
        _time(found.get("CreateTime")),
        maker,
    )


def partition_from_glue(keys: Sequence[str], found: Found) -> Partition:
    """Return a partition that Glue describes."""
    values = [None if value == NULL_PARTITION else value for value in found["Values"]]
    return Partition(dict(zip(keys, values, strict=False)), table_path(_location(found)).rstrip("/"))


def table_path(location: str) -> str:
    """Return the path of a table, or of a partition, whose location is the folder of one of its versions."""
    return _VERSION.sub(r"/\1", location)


def version_place(found: Found) -> str:
    """Return the folder of a version that a table's location is; "" if it is not such a folder."""
    location = _location(found)
    return location.rstrip("/") if _VERSION.search(location) else ""


def _location(found: Found) -> str:
    return str(found.get("StorageDescriptor", {}).get("Location", ""))


def _time(found: datetime | None) -> str:
    return found.isoformat(timespec="seconds") if found else ""
