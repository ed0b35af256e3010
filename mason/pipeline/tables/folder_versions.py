"""What is kept of the versions of a table in a local folder: each former one in a folder of its own in its room."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mason.errors import Conflict
from mason.pipeline.tables.commit import ChangedMeanwhile, CommitRecord
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.folder_room import FolderRoom, remove_tree
from mason.pipeline.tables.folder_strangers import find_changed_files, own_files
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.tables.kept_versions import Kept, Removable
from mason.pipeline.tables.room import KEPT, QUARANTINE, ROOMS, kept_name

_GOING = ".going"
_OTHERS = ".others"


class FolderVersions:
    """The versions of a table in a local folder. Files that two of them share are one file with two names."""

    def __init__(self, path: str, foreign: Foreign = Foreign.REFUSE) -> None:
        self._table = TableFolder(path, foreign, goes_back=True)
        self._path, self._room = self._table.path, FolderRoom(self._table.path)

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
        return [
            Kept(commit, str(self._path)) if after is None else self._former(commit, after)
            for commit, after in zip(commits, newer, strict=True)
        ]

    def _former(self, commit: CommitRecord, after: CommitRecord) -> Kept:
        """A former version, whose files lie in the room under names that nobody takes for data."""
        if not (self._room.kept / after.id).is_dir():
            return Kept(commit, None)
        files = [replace(each, home=f"{KEPT}/{after.id}/{kept_name(each.path)}") for each in commit.files]
        return Kept(replace(commit, files=files), str(self._path))

    def restore(self, version: Kept, record: CommitRecord, job_id: str, *, expected: CommitRecord) -> CommitRecord:
        with self._table.stage(job_id) as staging:
            with self._table.locked():
                current = self._table.current()
                if current is None or current.id != expected.id:
                    raise ChangedMeanwhile(str(self._path), current)
                self._link_all(version.commit, Path(staging))
            return self._table.publish(staging, record, expected=expected)

    def _link_all(self, commit: CommitRecord, staging: Path) -> None:
        folder = self._folder_of(commit)
        if not folder.is_dir():
            raise Conflict(f"The files of version {commit.number} were removed meanwhile.", hint="Nothing changed.")
        is_former = folder != self._path
        links = {name: folder / (kept_name(name) if is_former else name) for name in own_files(folder, commit)}
        links |= {str(each.relative_to(folder)): each for each in _records_below(folder, commit)}
        links |= {f"{QUARANTINE}/{each.name}": each for each in self._room.quarantine(commit.id).glob("*")}
        for name, file in links.items():
            place = staging / name
            place.parent.mkdir(parents=True, exist_ok=True)
            os.link(file, place)

    def _folder_of(self, commit: CommitRecord) -> Path:
        """The folder of a version: the table's, or that in which it is kept since."""
        commits = list(self._table.history())
        number = next((number for number, each in enumerate(commits) if each.id == commit.id), 0)
        return self._room.kept / commits[number - 1].id if number else self._path

    def removable(self, versions: Sequence[Kept]) -> Removable:
        found = [each for each in versions if each.place]
        with self._table.looked_at():
            return Removable(found, self._bytes_freed(found))

    def remove(self, versions: Sequence[Kept]) -> Sequence[str]:
        with self._table.locked():
            for version in versions:
                folder = self._folder_of(version.commit)
                if folder != self._path and folder.is_dir():  # another vacuum may have been faster
                    folder.rename(folder.with_name(f"{version.commit.id}{_GOING}"))
            # Those of a vacuum that was killed are among them.
            left = [self._remove(each) for each in sorted(self._room.kept.glob(f"*{_GOING}"))]
            return [str(each) for each in left if each]

    def _remove(self, folder: Path) -> Path | None:
        """Remove what Mason wrote for a former version. What it did not write stays, at the place that is returned."""
        commit = next((each for each in self._table.history() if each.id == folder.stem), None)
        if commit:
            for file in self._own_paths(folder, commit):
                file.unlink(missing_ok=True)
            if commit.child_folders:
                remove_tree(folder / ROOMS)
            remove_tree(self._room.quarantine(commit.id))
        for place, _, _ in os.walk(folder, topdown=False):
            if not any(Path(place).iterdir()):
                Path(place).rmdir()
        return folder.rename(folder.with_suffix(_OTHERS)) if folder.exists() else None

    def _own_paths(self, folder: Path, commit: CommitRecord) -> Iterator[Path]:
        """The files of a former version that are what its commit says: what others have written over is theirs."""
        changed = find_changed_files(folder, commit, self._room.path / commit.place, is_former=True)
        for name in own_files(folder, commit):
            if name not in changed:
                yield folder / kept_name(name)

    def _bytes_freed(self, versions: Sequence[Kept]) -> int:
        """Only those files are freed whose every name is in what goes."""
        names: dict[tuple[int, int], list[os.stat_result]] = {}
        for version in versions:
            commit, folder = version.commit, self._folder_of(version.commit)
            if folder == self._path:
                continue
            own = [*self._room.quarantine(commit.id).glob("*"), *_records_below(folder, commit)]
            for file in dict.fromkeys([*self._own_paths(folder, commit), *own]):
                if file.is_file():
                    found = file.stat()
                    names.setdefault((found.st_dev, found.st_ino), []).append(found)
        return sum(same[0].st_size for same in names.values() if len(same) >= same[0].st_nlink)


def _records_below(folder: Path, commit: CommitRecord) -> Iterator[Path]:
    """What is kept of the tables that an explode has made: each has a room beside it."""
    if commit.child_folders:
        yield from (each for each in (folder / ROOMS).rglob("*") if each.is_file())
