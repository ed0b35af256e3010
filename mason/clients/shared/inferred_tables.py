"""A table as the files at a place show it: what `infer_table` of a storage returns, and says to its user."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mason.clients.response import Response
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.pipeline.reading.inference import infer_stored
from mason.pipeline.storage.format_names import name_without_format

if TYPE_CHECKING:
    import pyarrow.fs as pafs


def infer_table_at(
    location: Location,
    filesystem: pafs.FileSystem,
    *,
    database: str,
    name: str,
    options: InferOptions,
    response: Response,
) -> Table:
    """Return the table that the files at a place make up; without a name it is called as the place is.

    Raises:
        PathNotFound: there is nothing there.
        NoData: there are no data files, or all are empty.
        UnreadableFile: none of the files can be read.
    """
    found = infer_stored(filesystem, location, options)
    for warning in [*map(str, found.conflicts), *found.warnings]:
        response.add_warning(warning)
    response.add_info(found.describe_sample())
    return Table(
        name=name or name_without_format(location.path.rstrip("/").rpartition("/")[2]),
        database_name=database,
        path=str(location),
        created_by="mason",
        schema=found.schema,
        partition_keys=found.partition_keys,
        conflicts=found.conflicts,
        read_options=options,
        delimited=found.delimited,
        partitions=[replace(each, path=str(location.beside(each.path))) for each in found.partitions],
        readings=found.readings,
    )
