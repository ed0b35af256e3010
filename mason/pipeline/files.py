"""Which files are a table's data, and what their folders say of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

import pyarrow.fs as pafs

from mason.engines.metastore.models.partition import Partition
from mason.errors import Forbidden, PathNotFound
from mason.pipeline.formats import is_data

_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class DataFile:
    """A file with data. `name` is its path below the table's path; `partition` is what its `k=v` folders say."""

    path: str
    name: str
    size: int
    partition: Mapping[str, str | None] = field(default_factory=dict)


def list_files(filesystem: pafs.FileSystem, path: str) -> list[DataFile]:
    """Return the data files at a path, which is a file or a folder, in sorted order.

    Hidden files, and names that begin with `_`, are no data, at any depth below the path.

    Raises:
        PathNotFound: there is nothing at that path.
        Forbidden: a folder may not be listed.
    """
    try:
        return _list_files(filesystem, path)
    except PermissionError as error:
        raise Forbidden(f'Path "{path}" may not be listed: {error.strerror or error}.') from error
    except FileNotFoundError as error:
        raise PathNotFound(path) from error


def find_partitions(filesystem: pafs.FileSystem, path: str) -> list[Partition]:
    """Return the Hive-style partitions (`key=value` folders) below a path which hold data, in sorted order.

    Raises:
        PathNotFound: there is nothing at that path.
        Forbidden: a folder may not be listed.
    """
    found: dict[str, Partition] = {}
    for file in list_files(filesystem, path):
        if file.partition:
            folder = _partition_folder(file)
            found.setdefault(folder, Partition(file.partition, folder))
    return list(found.values())


def _list_files(filesystem: pafs.FileSystem, path: str) -> list[DataFile]:
    root = filesystem.get_file_info(path)
    if root.type == pafs.FileType.NotFound:
        raise PathNotFound(path)
    if root.type == pafs.FileType.File:
        return [DataFile(root.path, root.base_name, root.size)]
    base = root.path.rstrip("/") + "/"
    partitions: dict[str, Mapping[str, str | None]] = {}
    files = []
    for info in filesystem.get_file_info(pafs.FileSelector(path, recursive=True)):
        where = info.path
        name = where.removeprefix(base)
        if info.type == pafs.FileType.File and is_data(name):
            folder = name.rpartition("/")[0]
            if folder not in partitions:
                partitions[folder] = _partition_of(folder)
            files.append(DataFile(where, name, info.size, partitions[folder]))
    return sorted(files, key=lambda file: file.name)


def _partition_of(folder: str) -> Mapping[str, str | None]:
    values: dict[str, str | None] = {}
    for part in folder.split("/"):
        key, equals, value = part.partition("=")
        if equals and key:
            values[unquote(key)] = None if value == _NULL_PARTITION else unquote(value)
    return values


def _partition_folder(file: DataFile) -> str:
    """The deepest `key=value` folder: what lies below it is one partition's files."""
    parts = file.path.split("/")
    top = len(parts) - file.name.count("/") - 1
    deepest = max(index for index in range(top, len(parts) - 1) if "=" in parts[index])
    return "/".join(parts[: deepest + 1])
