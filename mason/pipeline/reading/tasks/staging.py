"""The files that tasks left in the staging folder: those that count, and those of attempts that were given up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.engines.storage.models.location import Location
from mason.pipeline.reading.tasks.task import TaskResult
from mason.pipeline.storage.address import abilities_of_files, open_filesystem
from mason.pipeline.storage.asking import ask_ahead
from mason.pipeline.tables.commit import CommittedFile
from mason.pipeline.tables.room import OWN_FOLDER, QUARANTINE

_AT_ONCE = 16


def list_accepted_paths(results: Iterable[TaskResult]) -> list[str]:
    """Return the files of accepted attempts, in the order of the rows."""
    return [path for result in sorted(results, key=lambda each: each.number) for path in result.files]


def describe_staged_files(filesystem: pafs.FileSystem, staging: str, paths: Iterable[str]) -> list[CommittedFile]:
    """Return Parquet files of the staging folder, each with the rows that its own footer states."""
    if abilities_of_files(filesystem).is_near:
        return [describe_staged_file(filesystem, staging, path) for path in paths]
    return [found() for found in ask_ahead(partial(describe_staged_file, filesystem, staging), list(paths), _AT_ONCE)]


def quarantine_files(filesystem: pafs.FileSystem, staging: str, results: Iterable[TaskResult]) -> list[str]:
    """Return the quarantine of accepted attempts, and remove that of others."""
    accepted = [f"{staging}/{result.quarantine}" for result in results if result.quarantine]
    for path in _below(filesystem, f"{staging}/{QUARANTINE}")[0]:
        if path not in accepted:
            filesystem.delete_file(path)
    return accepted


def remove_strangers(filesystem: pafs.FileSystem, staging: str, files: Sequence[CommittedFile]) -> None:
    """Remove the data files that are not of these, and the folders that are empty without them."""
    accepted = {f"{staging}/{each.path}" for each in files}
    own = f"{staging}/{OWN_FOLDER}/"
    staged, folders = _below(filesystem, staging)
    for path in staged:
        if path not in accepted and not path.startswith(own):
            filesystem.delete_file(path)
    used = {path[:end] for path in accepted for end, char in enumerate(path) if char == "/"}
    for folder in sorted(folders, key=len, reverse=True):  # each before those that it is in
        if folder not in used and not f"{folder}/".startswith(own):
            filesystem.delete_dir(folder)


def empty(staging: Location) -> None:
    """Remove what a round of tasks left that must run again."""
    filesystem = open_filesystem(staging.storage)
    remove_strangers(filesystem, staging.path, [])
    quarantine_files(filesystem, staging.path, [])


def describe_staged_file(filesystem: pafs.FileSystem, staging: str, path: str) -> CommittedFile:
    """Return a Parquet file of the staging folder with the rows that its own footer states."""
    with filesystem.open_input_file(f"{staging}/{path}") as file:
        return CommittedFile(path, pq.read_metadata(file).num_rows, file.size())


def _below(filesystem: pafs.FileSystem, folder: str) -> tuple[list[str], list[str]]:
    """The files and the folders below one."""
    found = filesystem.get_file_info(pafs.FileSelector(folder, allow_not_found=True, recursive=True))
    files = [each.path for each in found if each.type == pafs.FileType.File]
    return files, [each.path for each in found if each.type == pafs.FileType.Directory]
