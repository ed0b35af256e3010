"""The room of a table in a local folder: its records, its lock, and how one version gives way to the next.

A commit is prepared in the room and decided by the exchange of two folders. Its record lies in `pending.<number>` until
then, and the number is the one by which the system knows the new folder: the record counts once that folder is the
table's. Whoever comes next, under the lock, completes a commit that was interrupted after the exchange, and takes back
one that was interrupted before it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import logging
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mason.pipeline.tables.commit import CommitRecord, FormerLayout, read_record
from mason.pipeline.tables.room import ASIDE, COMMITS, FORMER_FOLDER, KEPT, OWN_FOLDER, RECORD, kept_name, room_of
from mason.util.atomic_file import sync_folder

LOG = logging.getLogger("mason.pipeline")
_QUARANTINE = "quarantine"
_PENDING = "pending."


@dataclass(frozen=True)
class Pending:
    """A commit that was prepared: its record, and the folder that the table's becomes by it."""

    record: CommitRecord
    folder: int
    place: Path


class FolderRoom:
    """What lies beside a table in a local folder."""

    def __init__(self, table: Path) -> None:
        self._table, self.path = table, Path(room_of(str(table)))

    @property
    def commits(self) -> Path:
        return self.path / COMMITS

    @property
    def staging(self) -> Path:
        """The folders in which jobs write, one each."""
        return self.path / "staging"

    @property
    def making(self) -> Path:
        """Folders that are being made, or removed."""
        return self.path / "making"

    @property
    def kept(self) -> Path:
        return self.path / KEPT

    def quarantine(self, commit: str) -> Path:
        """Return the folder with the records that a version has set aside, and those that it took over."""
        return self.path / _QUARANTINE / commit

    def history(self) -> Iterator[CommitRecord]:
        """Yield the commits, the newest first; none where the table's folder is gone, or nothing is in it any more.

        Raises:
            DamagedRecord: a record cannot be read.
            FormerLayout: the records lie inside of the table's folder.
        """
        pending = self.read_pending()  # first: one that is settled meanwhile is among the commits then
        commits = self._list_records()
        if pending and self.path / pending.record.place in commits:
            pending = None
        if pending is None and not commits:
            if (self._table / FORMER_FOLDER / COMMITS).is_dir():
                raise FormerLayout(str(self._table))
            return
        records = (self._read(each) for each in commits)
        if pending and self.is_exchanged(pending):
            yield pending.record
        else:
            newest = next(records, None)
            if newest is None or (newest.has_files and not _has_entries(self._table)):
                return
            yield newest
        yield from records

    def _list_records(self) -> list[Path]:
        return sorted(self.commits.glob(f"*{RECORD}"), reverse=True)

    def _read(self, file: Path) -> CommitRecord:
        return read_record(file.read_bytes(), str(file), self._advice)

    @property
    def _advice(self) -> str:
        return (
            f"Restore it from a backup. Without one, move {self.path} away: the data files in the table's folder are "
            "then read as they are, without versions and quarantine."
        )

    def read_pending(self) -> Pending | None:
        """Return the commit that is being made, or was interrupted."""
        for place in self.path.glob(f"{_PENDING}*"):
            with contextlib.suppress(FileNotFoundError):  # it was completed since
                record = read_record(place.read_bytes(), str(place), self._advice)
                return Pending(record, int(place.name.removeprefix(_PENDING)), place)
        return None

    def write_pending(self, record: CommitRecord, staging: Path, modified: int) -> Pending:
        """Prepare a commit: from now on it counts if the staged folder is the table's."""
        new, number = self.path / "new", staging.stat().st_ino
        place = self.path / f"{_PENDING}{number}"
        new.write_text(json.dumps(record.to_dict(), indent=1))
        os.utime(new, ns=(modified, modified))
        sync_file(new)
        new.rename(place)
        sync_folder(self.path)
        return Pending(record, number, place)

    def is_exchanged(self, pending: Pending) -> bool:
        """Say whether the folder of a prepared commit has become the table's."""
        staged = self.staging / pending.record.id
        if (self.path / pending.record.place).exists():
            return True
        if _number(staged) == pending.folder:
            return False
        files = [self._table / each.path for each in pending.record.files]
        # The numbers of a file system that was copied or mounted anew are others.
        return _number(self._table) == pending.folder or (bool(files) and all(each.is_file() for each in files))

    def settle(self, pending: Pending) -> None:
        """Make the record of a commit that was decided one of the table's."""
        self.commits.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.link(pending.place, self.path / pending.record.place)
        sync_folder(self.commits)

    def take_back(self, pending: Pending) -> None:
        """Remove what is left of a commit that was interrupted before the exchange, and was not decided."""
        aside = self.staging / f"{pending.record.id}.aside"  # where the system cannot exchange folders in one step
        if aside.exists() and not self._table.exists():
            aside.rename(self._table)
        pending.place.unlink(missing_ok=True)
        remove_tree(self.quarantine(pending.record.id))
        self.discard(self.staging / pending.record.id)

    def discard(self, staging: Path) -> None:
        """Remove a staging folder, under a name that tells what it is if this process is killed before the end."""
        if staging.exists():
            self.making.mkdir(parents=True, exist_ok=True)
            doomed = self.making / f"{staging.name}-{os.urandom(8).hex()}"
            staging.rename(doomed)
            remove_tree(doomed)

    def keep(self, former: Path, commit: str) -> None:
        """Keep what was in the table's folder before a commit, under names that nobody takes for data."""
        kept = self.kept / commit
        if os.path.lexists(former):
            self.kept.mkdir(parents=True, exist_ok=True)
            former.rename(kept)
        for place, _, names in os.walk(kept):
            for name in names:
                if not name.endswith(kept_name("")) and not _is_own(Path(place).relative_to(kept)):
                    (Path(place) / name).rename(Path(place) / kept_name(name))

    def set_aside(self, commit: str) -> Path | None:
        """Put the records away of a table whose folder was removed by hand; return where they are."""
        if not self._list_records():
            return None
        aside = self.path / ASIDE / commit
        aside.mkdir(parents=True, exist_ok=True)
        for each in (self.path / _QUARANTINE, self.kept, self.commits):  # the last says that there is more
            if each.exists():
                each.rename(aside / each.name)
        return aside

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the table still: meanwhile nobody else switches versions, or moves what is kept of them."""
        with contextlib.ExitStack() as stack:
            while True:
                self.path.mkdir(parents=True, exist_ok=True)
                handle = stack.enter_context(open(self.path / "lock", "w"))
                fcntl.flock(handle, fcntl.LOCK_EX)
                if _number(self.path / "lock") == os.fstat(handle.fileno()).st_ino:
                    break  # else the room was moved away with a table that was deleted
            try:
                yield
            finally:
                fcntl.flock(handle, fcntl.LOCK_UN)  # closing is not enough if a process was forked meanwhile


def _number(path: Path) -> int | None:
    """The number that the system knows a file or a folder by."""
    try:
        return path.stat().st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None


def _has_entries(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(True for _ in entries)
    except NotADirectoryError:
        return True
    except FileNotFoundError:
        return False


def _is_own(folder: Path) -> bool:
    """Whether a folder in a table's is the room of a table that came with it, where no name is that of data."""
    return OWN_FOLDER in folder.parts


def remove_tree(folder: Path) -> None:
    """Remove a folder; a task that outlived its job may still write into it, and then the next command removes it."""
    try:
        shutil.rmtree(folder)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
            raise
        if folder.exists():
            LOG.info("%s is still being written to: the next command removes it.", folder)


def sync_file(file: Path) -> None:
    """Make a file survive a power cut."""
    with open(file, "rb") as stream:
        os.fsync(stream.fileno())


def sync_tree(folder: Path) -> None:
    """Make all that is in a folder survive a power cut, before anybody is pointed to it."""
    for place, _, files in os.walk(folder):
        for name in files:
            sync_file(Path(place) / name)
        sync_folder(Path(place))
