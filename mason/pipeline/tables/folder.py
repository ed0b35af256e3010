"""The commit of a plain-Parquet table in a local folder: readers see the old table or the new one, never a mixture.

The table's folder holds its data files and nothing else. A new version is staged in the table's room, see
`folder_room`, and the two folders are exchanged in one step, which decides the commit for everybody. The old version's
files stay in the room, under names that nobody takes for data.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mason.pipeline.tables.commit import (
    KEEPS,
    NO_FILES,
    WRITTEN_UNTIL,
    CommitRecord,
    CommittedFile,
    ForeignMeanwhile,
    MayFollow,
    follow_newest,
    with_foreign,
)
from mason.pipeline.tables.folder_room import FolderRoom, Pending, remove_tree, sync_tree
from mason.pipeline.tables.folder_strangers import (
    bring_back,
    carry,
    find_changed_files,
    find_strangers,
    time_of_last_write,
)
from mason.pipeline.tables.foreign_files import ChangedFiles, Foreign, ForeignFiles, MissingFiles, Strangers
from mason.pipeline.tables.places import check_folder, make_room
from mason.pipeline.tables.room import OWN_FOLDER, QUARANTINE
from mason.util.atomic_file import sync_folder
from mason.util.exchange import exchange_folders

if TYPE_CHECKING:
    from mason.pipeline.storage.file_stamp import FileStamp

LOG = logging.getLogger("mason.pipeline")
_OWNER = f"{OWN_FOLDER}/owner.lock"
_LOOKS = 10


class TableFolder:
    """A table in a local folder, and the versions of it."""

    def __init__(self, output: str, foreign: Foreign = Foreign.REFUSE, *, goes_back: bool = False) -> None:
        """`goes_back` is for the way out of damage: files that others have written over do not stop a version."""
        self.foreign, self._goes_back = foreign, goes_back
        # A link stands for the folder that it leads to: exchanged itself, it would leave that folder as it was.
        place = Path(output)
        self.path = place.resolve() if place.is_symlink() or place.name in ("", "..") else place
        self._room = FolderRoom(self.path)

    @property
    def room(self) -> str:
        return str(self._room.path)

    def current(self) -> CommitRecord | None:
        """Return the newest commit; none for a folder that is no table of Mason's, is not there, or was emptied."""
        return next(self.history(), None)

    def history(self) -> Iterator[CommitRecord]:
        """Yield the commits, the newest first."""
        yield from self._room.history()

    def lineage(self) -> Iterator[CommitRecord]:
        """Yield the commits that the current version consists of: those that added to it, back to one that replaced."""
        for record in self.history():
            yield record
            if not record.adds:
                return

    def quarantine(self) -> Sequence[str]:
        current = self.current()
        return sorted(map(str, self._room.quarantine(current.id).glob("*"))) if current else []

    @contextlib.contextmanager
    def stage(self, job: str) -> Iterator[str]:
        """Give a folder to write the next version into. Whatever is left in it at the end is removed.

        Its lock lives as long as this process: what a killed one left behind can be told from what is in use.

        Raises:
            BadPath: there are tables inside of the folder, or somebody's home, which would go with it.
            Forbidden: nothing may be written beside the folder.
        """
        self.check_room()
        make_room(self.path, self._room.path)
        staging = self._room.staging / job
        with self._make_staging(staging, self._room.making / job):
            try:
                yield str(staging)
            finally:
                if (staging / _OWNER).exists():
                    with self.locked():  # nobody sweeps what is half removed
                        self._room.discard(staging)

    @contextlib.contextmanager
    def _make_staging(self, staging: Path, making: Path) -> Iterator[None]:
        """Make the staging folder and hold its lock; under the name that others sweep it appears locked."""
        with contextlib.ExitStack() as stack:
            with self.locked():
                self._sweep_all()
                (making / OWN_FOLDER).mkdir(parents=True)
                owner = stack.enter_context(open(making / _OWNER, "w"))
                fcntl.flock(owner, fcntl.LOCK_EX)
                staging.parent.mkdir(exist_ok=True)
                making.rename(staging)
            yield

    def publish(
        self,
        staging: str,
        record: CommitRecord,
        *,
        expected: CommitRecord | None,
        kept: Sequence[CommittedFile] = (),
        may_follow: MayFollow | None = None,
        adopted: Mapping[str, FileStamp] = NO_FILES,
    ) -> CommitRecord:
        """Make the staged version the table. `kept` are files of the current version that stay in it.

        Raises:
            ChangedMeanwhile: somebody else committed to the table since `expected` was read, and may not be followed.
            ForeignFiles, ForeignMeanwhile: data files of others lie in the folder which it is not made from.
            ChangedFiles, MissingFiles: others have written over files of the table, or removed some that stay.
        """
        folder = Path(staging)
        with self.locked():
            self._finish()
            record, kept = follow_newest(
                str(self.path), self.history(), record, expected=expected, kept=kept, may_follow=may_follow
            )
            current = self.current()
            strangers = self._check_publishable(current, kept, adopted)
            record = with_foreign(record, self.foreign, adopted)
            aside = None if current else self._room.set_aside(record.id)
            is_kept = self.foreign is Foreign.KEEP
            has_strangers = current is None and not is_kept and (self.path.is_file() or any(self.path.glob("*")))
            completed = self._stage_rest(folder, record, current, kept)
            if current or is_kept:
                carry(self.path, folder, [name for name in strangers if name not in adopted])
            pending = self._prepare(folder, completed)
            self._switch(folder)
            self._complete(pending)
        if aside:
            LOG.warning("The folder of the table %s was gone: its old records are in %s now.", self.path, aside)
        if has_strangers:
            LOG.warning("What was at %s before is kept in %s.", self.path, self._room.kept / record.id)
        return pending.record

    def check_room(self) -> None:
        """See that neither tables nor somebody's home are in the folder, and that it is in no table itself.

        Raises:
            BadPath: they are, or it is.
        """
        check_folder(self.path, is_table=self.current() is not None)

    def strangers(self) -> Strangers:
        """Return what lies in the folder and is not Mason's.

        Raises:
            ChangedFiles: somebody else has written over files of the table.
            Forbidden: a folder in it may not be listed.
        """
        for _ in range(_LOOKS):
            current = self.current()
            changed = self._find_changed(current) if current else {}
            found = find_strangers(self.path, current)
            if self._is(current):  # else another job has exchanged the folder while it was looked at
                if changed:
                    raise ChangedFiles(str(self.path), changed)
                return found
        return Strangers()  # whoever publishes asks again, while nobody else does

    def _is(self, record: CommitRecord | None) -> bool:
        current = self.current()
        return (current and current.id) == (record and record.id)

    def _find_changed(self, record: CommitRecord) -> dict[str, tuple[int, int]]:
        return find_changed_files(self.path, record, self._room.path / record.place)

    def _check_publishable(
        self, current: CommitRecord | None, kept: Sequence[CommittedFile], adopted: Mapping[str, FileStamp]
    ) -> Sequence[str]:
        """Return what is to be carried along, if the next version may be published beside it."""
        if not self.path.is_dir() or (current is None and self.foreign is Foreign.REFUSE):
            return []
        changed = self._find_changed(current) if current else {}
        if missing := [each.path for each in kept if not Path(each.place_in(str(self.path))).is_file()]:
            raise MissingFiles(str(self.path), missing)
        if changed and not self._goes_back:
            raise ChangedFiles(str(self.path), changed)
        found = find_strangers(self.path, current)
        stamps = {name: _stamp(self.path / name) for name in adopted}
        if different := [name for name, stamp in adopted.items() if stamp != stamps[name]]:
            raise ForeignMeanwhile(str(self.path), current, different[0])
        new = [name for name in found.data if name not in adopted]
        if new and current and self.foreign is Foreign.REFUSE:
            raise ForeignFiles(str(self.path), new)
        if new and current and self.foreign is Foreign.ADOPT:
            raise ForeignMeanwhile(str(self.path), current, new[0])
        return [*found.data, *found.others]

    def sweep(self) -> None:
        """Remove what killed jobs left behind; finish what one had published but not tidied up."""
        if self._room.path.exists():
            with self.locked():
                self._sweep_all()

    def _sweep_all(self) -> None:
        self._finish()
        for left in self._room.making.glob("*"):
            remove_tree(left)  # whoever makes one holds the table's lock: this one's maker was killed
        for left in self._room.staging.glob("*"):
            self._sweep(left)

    def _sweep(self, left: Path) -> None:
        if not (left / _OWNER).exists():
            self._room.discard(left)  # its commit was not even prepared
            return
        with open(left / _OWNER) as owner, contextlib.suppress(BlockingIOError):
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._room.discard(left)

    def _stage_rest(
        self, staging: Path, record: CommitRecord, current: CommitRecord | None, kept: Sequence[CommittedFile]
    ) -> CommitRecord:
        """Stage what stays of the current version, have it all survive a power cut, and return the whole record."""
        for each in kept:
            (staging / each.path).parent.mkdir(parents=True, exist_ok=True)
            os.link(each.place_in(str(self.path)), staging / each.path)
        self._stage_quarantine(staging, record, current)
        files = [replace(each, home="") for each in (*kept, *record.files)]
        completed = replace(
            record,
            number=current.number + 1 if current else 1,
            parent=current.id if current else None,
            files=files,
            rows=sum(each.rows for each in files),
            created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        )
        until = time_of_last_write(staging, completed)
        sync_tree(staging)
        return replace(completed, details={**completed.details, WRITTEN_UNTIL: until})

    def _prepare(self, staging: Path, record: CommitRecord) -> Pending:
        """Leave nothing in the staged folder that the table's is not to have, and have the record lie ready."""
        (staging / _OWNER).unlink()
        with contextlib.suppress(OSError):  # there are rooms of tables that come with this one
            (staging / OWN_FOLDER).rmdir()
        sync_folder(staging)
        return self._room.write_pending(record, staging, record.details[WRITTEN_UNTIL])

    def _stage_quarantine(self, staging: Path, record: CommitRecord, current: CommitRecord | None) -> None:
        """Put what the version has set aside where it stays, beside the table, with what it takes over."""
        target = self._room.quarantine(record.id)
        remove_tree(target)  # of the same job, which was killed before its commit was prepared
        if (staging / QUARANTINE).is_dir():
            target.parent.mkdir(exist_ok=True)
            (staging / QUARANTINE).rename(target)
        for file in self._room.quarantine(current.id).glob("*") if record.adds and current else ():
            target.mkdir(parents=True, exist_ok=True)
            if not (target / file.name).exists():
                os.link(file, target / file.name)
        if target.exists():
            sync_tree(target)

    def _switch(self, staging: Path) -> None:
        if self.path.exists():
            exchange_folders(staging, self.path)
            sync_folder(staging.parent)
        else:
            staging.rename(self.path)
        sync_folder(self.path.parent)

    def _finish(self) -> None:
        """Complete a commit that was interrupted after the exchange; take one back that was before it."""
        pending = self._room.read_pending()
        if pending and self._room.is_exchanged(pending):
            self._complete(pending)
        elif pending:
            self._room.take_back(pending)

    def _complete(self, pending: Pending) -> None:
        """Have the record count for good, and keep the former version; what is not Mason's in that goes back."""
        self._room.settle(pending)
        record, former = pending.record, self._room.staging / pending.record.id
        if former.is_dir():
            before = next((each for each in self.history() if each.id == record.parent), None)
            if before or record.details.get(KEEPS):
                bring_back(former, self.path, before, record)
        self._room.keep(former, record.id)  # this last: what is kept has other names
        pending.place.unlink()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the table still: meanwhile nobody else switches versions, or moves what is kept of them."""
        with self._room.locked():
            yield

    @contextlib.contextmanager
    def looked_at(self) -> Iterator[None]:
        """Hold the table still for somebody who looks at its versions, and finish first what a killed job left.

        Who may not write beside the table can only look at what there is.
        """
        with contextlib.ExitStack() as stack:
            try:
                if self._room.path.exists():
                    stack.enter_context(self.locked())
                    self._sweep_all()
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                    raise
            yield


def _stamp(file: Path) -> FileStamp | None:
    from mason.pipeline.storage.file_stamp import FileStamp  # heavy: only who adopts files needs it

    with contextlib.suppress(FileNotFoundError):
        found = file.stat()
        return FileStamp(found.st_size, found.st_mtime_ns)
    return None
