"""Which files a merge reads: those of a path, or those of the table that is there."""

from __future__ import annotations

import pyarrow.fs as pafs

from mason.errors import NoData
from mason.pipeline.files import DataFile, list_files, partition_of, without_strangers
from mason.pipeline.merge.job import MergeJob
from mason.pipeline.storage_address import is_local
from mason.pipeline.table_commit import open_table


def list_inputs(filesystem: pafs.FileSystem, job: MergeJob) -> tuple[list[DataFile], list[str]]:
    """Return the files, and warnings about others that are left out.

    Raises:
        PathNotFound, Forbidden, UnreadableFile: as a listing of them does.
        NoData: there are none.
    """
    # On a disk the folder of a table holds its newest version and nothing else; elsewhere only the record tells.
    found = [] if is_local(job.storage) else _committed(job)
    found = found or list_files(filesystem, job.inputs, strict=True)  # what is left out would be lost
    files, strangers = (found, []) if job.options.input_format else without_strangers(found)
    if not files:
        raise NoData(f'There are no data files at "{job.inputs}".', hint="Names that begin with . or _ do not count.")
    return files, [f"{each.name}: its name is not that of a data file; it is left out." for each in strangers]


def _committed(job: MergeJob) -> list[DataFile]:
    commit = open_table(job.storage, job.inputs).current()
    return [
        DataFile(f"{job.inputs}/{each.place}", each.path, each.bytes, partition_of(each.path.rpartition("/")[0]))
        for each in (commit.files if commit else ())
    ]
