"""What is kept of the versions of a table in a local folder: each former one in a folder of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from mason.errors import Conflict
from mason.pipeline.tables.commit import OWN_FOLDER, ChangedMeanwhile, CommitRecord
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.folder_strangers import find_changed_files, own_files, stranger_names
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.tables.kept_versions import Kept, Removable

_GOING = ".going"
_OTHERS = ".others"


class FolderVersions:
    """The versions of a table in a local folder. Files that two of them share are one file with two names."""

    def __init__(self, path: str, foreign: Foreign = Foreign.REFUSE) -> None:
        self._path = Path(path)
        self._table = TableFolder(path, foreign, goes_back=True)

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
        places = [self._path if after is None else self._folder_of_former(after) for after in newer]
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
            return Removable(found, _bytes_freed(found))

    def remove(self, versions: Sequence[Kept]) -> Sequence[str]:
        with self._table.locked():
            for version in versions:
                if version.place and Path(version.place).is_dir():  # another vacuum may have been faster
                    Path(version.place).rename(version.place + _GOING)
            # Those of a vacuum that was killed are among them.
            left = [_remove(each) for each in sorted((self._path / OWN_FOLDER / "kept").glob(f"*{_GOING}"))]
            return [str(each) for each in left if each]

    def _folder_of_former(self, after: CommitRecord) -> Path | None:
        folder = self._path / OWN_FOLDER / "kept" / after.id
        return folder if folder.is_dir() else None


def _link_all(version: Kept, staging: Path) -> None:
    assert version.place is not None
    folder = Path(version.place)
    if not folder.is_dir():
        raise Conflict(f"The files of version {version.commit.number} were removed meanwhile.", hint="Nothing changed.")
    quarantine = (folder / OWN_FOLDER / "quarantine").glob("*")
    paths = [folder / each.path for each in version.commit.files]
    for file in dict.fromkeys([*paths, *quarantine, *_of_tables_below(folder, version.commit)]):
        place = staging / file.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.link(file, place)


def _of_tables_below(folder: Path, commit: CommitRecord) -> Iterator[Path]:
    """The files of the tables that an explode has made: each has a folder, and a record in it."""
    strangers = set(stranger_names(folder, commit))
    for child in commit.child_folders:
        for file in (folder / child).rglob("*"):
            if file.is_file() and str(file.relative_to(folder)) not in strangers:
                yield file


def _remove(version: Path) -> Path | None:
    """Remove what Mason wrote for a former version. What it did not write stays, under the name that is returned.

    Its record goes last: whoever is killed before has said by it what is still to be removed.
    """
    commit = TableFolder(str(version)).current()
    if commit:
        for file in _own_paths(version, commit):
            file.unlink(missing_ok=True)
        for child in commit.child_folders:
            _remove_tree(version / child / OWN_FOLDER)
    for name in ("quarantine", "commits"):
        _remove_tree(version / OWN_FOLDER / name)
    for place, _, _ in os.walk(version, topdown=False):
        if not any(Path(place).iterdir()):
            Path(place).rmdir()
    return version.rename(version.with_suffix(_OTHERS)) if version.exists() else None


def _remove_tree(folder: Path) -> None:
    if folder.is_dir():
        shutil.rmtree(folder)


def _own_paths(folder: Path, commit: CommitRecord) -> Iterator[Path]:
    """The files of a version that are still what its commit says: what others have written over them is theirs."""
    changed = find_changed_files(folder, commit)
    for name in own_files(folder, commit):
        if name not in changed:
            yield folder / name


def _bytes_freed(versions: Sequence[Kept]) -> int:
    """Only those files are freed whose every name is in what goes."""
    names: dict[tuple[int, int], list[os.stat_result]] = {}
    for version in versions:
        assert version.place is not None
        folder = Path(version.place)
        own = (file for name in ("quarantine", "commits") for file in (folder / OWN_FOLDER / name).glob("*"))
        below = _of_tables_below(folder, version.commit)
        for file in dict.fromkeys([*_own_paths(folder, version.commit), *own, *below]):
            if file.is_file():
                found = file.stat()
                names.setdefault((found.st_dev, found.st_ino), []).append(found)
    return sum(same[0].st_size for same in names.values() if len(same) >= same[0].st_nlink)
