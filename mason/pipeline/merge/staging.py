"""The files that tasks left in the staging folder: those that count, and those of attempts that were given up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.pipeline.merge.task import TaskResult
from mason.pipeline.rejects import FOLDER
from mason.pipeline.table_commit import OWN_FOLDER, CommittedFile


def written(filesystem: pafs.FileSystem, staging: str, results: Iterable[TaskResult]) -> list[CommittedFile]:
    """Return the files of accepted attempts, each with the rows that its own footer states."""
    paths = [path for result in sorted(results, key=lambda each: each.number) for path in result.files]
    return [committed_file(filesystem, staging, path) for path in paths]


def quarantine_files(filesystem: pafs.FileSystem, staging: str, results: Iterable[TaskResult]) -> list[str]:
    """Return the quarantine of accepted attempts, and remove that of others."""
    accepted = [f"{staging}/{result.quarantine}" for result in results if result.quarantine]
    for path in _files(filesystem, f"{staging}/{FOLDER}"):
        if path not in accepted:
            filesystem.delete_file(path)
    return accepted


def remove_strangers(filesystem: pafs.FileSystem, staging: str, files: Sequence[CommittedFile]) -> None:
    """Remove the data files that are not of these, and the folders that are empty without them."""
    accepted = {f"{staging}/{each.path}" for each in files}
    for path in _files(filesystem, staging):
        if path not in accepted and not path.startswith(f"{staging}/{OWN_FOLDER}/"):
            filesystem.delete_file(path)
    used = {path[:end] for path in accepted for end, char in enumerate(path) if char == "/"}
    for folder in _folders(filesystem, staging):
        if folder not in used and not f"{folder}/".startswith(f"{staging}/{OWN_FOLDER}/"):
            filesystem.delete_dir(folder)


def empty(filesystem: pafs.FileSystem, staging: str) -> None:
    """Remove what a round of tasks left that must run again."""
    remove_strangers(filesystem, staging, [])
    quarantine_files(filesystem, staging, [])


def committed_file(filesystem: pafs.FileSystem, staging: str, path: str) -> CommittedFile:
    """Return a Parquet file of the staging folder with the rows that its own footer states."""
    place = f"{staging}/{path}"
    rows = pq.read_metadata(place, filesystem=filesystem).num_rows
    return CommittedFile(path, rows, filesystem.get_file_info(place).size)


def _files(filesystem: pafs.FileSystem, folder: str) -> list[str]:
    selector = pafs.FileSelector(folder, allow_not_found=True, recursive=True)
    return [info.path for info in filesystem.get_file_info(selector) if info.type == pafs.FileType.File]


def _folders(filesystem: pafs.FileSystem, folder: str) -> list[str]:
    """The folders below one, each before those that it is in."""
    infos = filesystem.get_file_info(pafs.FileSelector(folder, allow_not_found=True, recursive=True))
    found = [info.path for info in infos if info.type == pafs.FileType.Directory]
    return sorted(found, key=len, reverse=True)
