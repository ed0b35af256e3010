"""The files of what is at a path: those that the newest commit of a table names, else those that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow.fs as pafs

from mason.engines.metastore.models.partition import Partition
from mason.engines.storage.models.location import Location
from mason.pipeline.storage.files import DataFile, list_files, partition_of, partitions_of
from mason.pipeline.tables.commit import CommitRecord, open_table


def newest_commit(location: Location) -> CommitRecord | None:
    """Return the commit that says which files a table has; none where those do that are at its path."""
    return open_table(location).current()


def files_of(commit: CommitRecord, path: str) -> list[DataFile]:
    """Return the files of a version of the table at a path, in sorted order."""
    return [
        DataFile(
            path=each.place_in(path),
            name=each.path,
            size=each.bytes,
            partition=partition_of(each.path.rpartition("/")[0]),
        )
        for each in sorted(commit.files, key=lambda each: each.path)
    ]


def find_files(filesystem: pafs.FileSystem, location: Location, *, strict: bool = False) -> list[DataFile]:
    """Return the data files of what is at a place, in sorted order.

    Raises:
        MasonError: as `list_files` does.
    """
    commit = newest_commit(location)
    return files_of(commit, location.path) if commit else list_files(filesystem, location.path, strict=strict)


def list_visible_partitions(files: Sequence[DataFile], path: str) -> list[Partition]:
    """Return the Hive-style partitions that files are in, by the folders below the path that others see them in."""
    return partitions_of([replace(each, path=f"{path}/{each.name}") for each in files])
