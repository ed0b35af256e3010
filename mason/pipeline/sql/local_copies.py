"""Tables of another storage, brought to this machine for an engine that reads nothing but its disks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow.fs as pafs

from mason.engines.storage.models.location import LOCAL
from mason.pipeline.sql.query import SqlTable, table_gone
from mason.pipeline.storage.address import abilities_of, open_filesystem

_AT_ONCE = 8


@contextmanager
def at_hand(tables: Sequence[SqlTable]) -> Iterator[Sequence[SqlTable]]:
    """Give the tables with files on this machine: their own where they are here, else copies while they are needed.

    Raises:
        TableChanged: a file is gone.
    """
    if all(abilities_of(table.storage).opens_paths for table in tables):
        yield tables
        return
    with tempfile.TemporaryDirectory(prefix="mason-") as folder:
        yield [
            table if abilities_of(table.storage).opens_paths else _copy_table(table, Path(folder, str(number)))
            for number, table in enumerate(tables)
        ]


def _copy_table(table: SqlTable, folder: Path) -> SqlTable:
    filesystem = open_filesystem(table.storage)
    # In folders of their own: names may be the same in two of them, and those of partitions must stay.
    keys = len(table.partition_keys)
    copies = [folder.joinpath(str(number), *file.split("/")[-keys - 1 :]) for number, file in enumerate(table.files)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(lambda pair: _copy(filesystem, *pair), zip(table.files, copies, strict=True)):
            pass
    return replace(table, path=str(folder), storage=LOCAL, files=[str(copy) for copy in copies])


def _copy(filesystem: pafs.FileSystem, file: str, copy: Path) -> None:
    copy.parent.mkdir(parents=True)
    try:
        pafs.copy_files(file, str(copy), filesystem, pafs.LocalFileSystem(), use_threads=False)
    except FileNotFoundError as error:
        raise table_gone() from error
