"""The files that tasks left in the staging folder: those that count, and those of attempts that were given up."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from mason.pipeline.merge.task import TaskResult
from mason.pipeline.table_commit import OWN_FOLDER, CommittedFile


def written(staging: Path, results: Iterable[TaskResult]) -> list[CommittedFile]:
    """Return the files of accepted attempts, each with the rows that its own footer states."""
    paths = [path for result in sorted(results, key=lambda each: each.number) for path in result.files]
    return [
        CommittedFile(path, pq.read_metadata(staging / path).num_rows, (staging / path).stat().st_size)
        for path in paths
    ]


def quarantine_files(staging: Path, results: Iterable[TaskResult]) -> list[Path]:
    """Return the quarantine of accepted attempts, and remove that of others."""
    files = [staging / result.quarantine for result in results if result.quarantine]
    for file in (staging / OWN_FOLDER / "quarantine").glob("*"):
        if file not in files:
            file.unlink()
    return files


def remove_strangers(staging: Path, files: Sequence[CommittedFile]) -> None:
    """Remove the data files that are not of these, and the folders that are empty without them."""
    accepted = {staging / each.path for each in files}
    for file in list(staging.rglob("part-*")):
        if file.is_file() and file not in accepted and OWN_FOLDER not in file.parts:
            file.unlink()
    for folder in sorted((each for each in staging.rglob("*=*") if each.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def empty(staging: Path) -> None:
    """Remove what a round of tasks left that must run again."""
    for entry in staging.iterdir():
        if entry.name == OWN_FOLDER:
            shutil.rmtree(entry / "quarantine", ignore_errors=True)
        elif entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
