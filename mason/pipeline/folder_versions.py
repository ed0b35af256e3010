"""What is kept of the versions of a table in a local folder: each former one in a folder of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from mason.errors import Conflict
from mason.pipeline.kept_versions import Kept, Removable
from mason.pipeline.table_commit import OWN_FOLDER, ChangedMeanwhile, CommitRecord
from mason.pipeline.table_folder import TableFolder


class FolderVersions:
    """The versions of a table in a local folder. Files that two of them share are one file with two names."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._table = TableFolder(path)

    def history(self) -> Sequence[Kept]:
        found = self._history()
        if all(each.place for each in found):
            return found
        with self._table.looked_at():  # a commit that is just being made moves them for a moment
            return self._history()

    def _history(self) -> Sequence[Kept]:
        commits = list(self._table.history())
        # A version is moved aside by the commit that follows it, and is kept under the name of that.
        newer = [None, *commits][: len(commits)]
        places = [self._path if after is None else self._kept(after) for after in newer]
        return [Kept(commit, str(place) if place else None) for commit, place in zip(commits, places, strict=True)]

    def restore(self, version: Kept, record: CommitRecord, job_id: str, *, expected: CommitRecord) -> CommitRecord:
        with self._table.stage(job_id) as staging:
            with self._table.locked():
                current = self._table.current()
                if current is None or current.id != expected.id:
                    raise ChangedMeanwhile(str(self._path), current)
                _link_all(version, Path(staging))
            return self._table.publish(staging, record, expected=expected)

    def removable(self, versions: Sequence[Kept]) -> Removable:
        found = [each for each in versions if each.place]
        with self._table.looked_at():
            return Removable(found, _bytes_freed([Path(each.place) for each in found if each.place]))

    def remove(self, versions: Sequence[Kept]) -> None:
        with self._table.locked():
            for version in versions:
                if version.place and Path(version.place).is_dir():  # another vacuum may have been faster
                    shutil.rmtree(version.place)

    def _kept(self, after: CommitRecord) -> Path | None:
        folder = self._path / OWN_FOLDER / "kept" / after.id
        return folder if folder.is_dir() else None


def _link_all(version: Kept, staging: Path) -> None:
    assert version.place is not None
    folder = Path(version.place)
    if not folder.is_dir():
        raise Conflict(f"The files of version {version.commit.number} were removed meanwhile.", hint="Nothing changed.")
    quarantine = (folder / OWN_FOLDER / "quarantine").glob("*")
    paths = [folder / each.path for each in version.commit.files]
    tables = version.commit.details.get("tables", {}).values()  # of an explode: each has a folder, and a record in it
    below = [file for each in tables for file in (folder / each["folder"]).rglob("*") if file.is_file()]
    for file in dict.fromkeys([*paths, *quarantine, *below]):
        place = staging / file.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.link(file, place)


def _bytes_freed(folders: Sequence[Path]) -> int:
    """Only those files are freed whose every name is in what goes."""
    names: dict[tuple[int, int], list[os.stat_result]] = {}
    for folder in folders:
        for file in folder.rglob("*"):
            if file.is_file():
                found = file.stat()
                names.setdefault((found.st_dev, found.st_ino), []).append(found)
    return sum(same[0].st_size for same in names.values() if len(same) >= same[0].st_nlink)
