"""Files in the output of a merge that Mason did not write, and whose rows the merge makes rows of the table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import pyarrow.fs as pafs

from mason.errors import PathNotFound, UnreadableFile
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.file_stamp import FileStamp, file_stamp
from mason.pipeline.storage.files import DataFile, list_files, partition_of
from mason.pipeline.storage.format_names import is_archive
from mason.pipeline.tables.commit import TableStore
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.tables.room import DATA, ROOMS


@dataclass(frozen=True)
class AdoptedFile:
    """A file of somebody else's, by its path below the table, as it was when the merge was planned."""

    name: str
    file: DataFile
    stamp: FileStamp


def list_adopted(job: MergeJob, table: TableStore, inputs: Sequence[DataFile]) -> list[AdoptedFile]:
    """Return the files of others in the output, if the merge is to adopt them.

    Raises:
        MasonError: as a listing of them does.
        ChangedFiles: somebody else has written over files of the table.
        UnreadableFile: an archive is among them; of what becomes rows, each file is moved aside by itself.
    """
    if job.options.foreign is not Foreign.ADOPT:
        return []
    strangers = set(table.strangers().data)
    if archives := sorted(filter(is_archive, strangers)):
        hint = "Move it out of the table's folder, and merge it from there."
        raise UnreadableFile(archives[0], "an archive cannot be adopted.", hint=hint)
    filesystem, output = open_filesystem(job.output.storage), job.output.path
    try:
        there = list_files(filesystem, output, strict=True) if strangers else []
    except PathNotFound:
        there = []
    is_same_storage = job.inputs.scheme == job.output.scheme
    paths, names = {each.path for each in inputs if is_same_storage}, {each.name for each in inputs}
    found = {each.name: each for each in there if each.name in strangers and each.path not in paths}
    found |= {
        name: _file_in_version_folder(filesystem, output, name) for name in strangers if name.startswith(f"{ROOMS}/")
    }
    stamps = {name: file_stamp(filesystem, found[name].path) for name in sorted(found)}
    return [
        AdoptedFile(name, _with_own_name(found[name], output, names), stamp) for name, stamp in stamps.items() if stamp
    ]


def describe_adopted(adopted: AdoptedFile) -> str:
    """Return the warning for a file that is adopted."""
    return f"{adopted.file.name}: Mason did not write it; its rows become rows of the table."


def _file_in_version_folder(filesystem: pafs.FileSystem, output: str, name: str) -> DataFile:
    """A file in the folder of a version, which somebody has put there by way of a catalog."""
    _, _, inside = name.removeprefix(f"{ROOMS}/").partition("/")[2].removeprefix(f"{DATA}/").partition("/")
    path = f"{output.rstrip('/').rpartition('/')[0]}/{name}"
    size = filesystem.get_file_info(path).size or 0
    return DataFile(path=path, name=inside, size=size, partition=partition_of(inside.rpartition("/")[0]))


def _with_own_name(file: DataFile, output: str, taken: Collection[str]) -> DataFile:
    """Records that do not fit are known by the names of their files: no two of these may be the same."""
    if file.name not in taken:
        return file
    return replace(file, name=f"{output.rstrip('/').rpartition('/')[2]}/{file.name}")
