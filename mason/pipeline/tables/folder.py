"""The commit of a plain-Parquet table in a local folder: readers see the old table or the new one, never a mixture.

The truth is the newest commit record in `_mason/commits/`. A new version is staged in a folder beside the table and
the two folders are exchanged in one step. The old version's files move to `_mason/kept/`.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from mason.pipeline.tables.commit import (
    COMMITS,
    KEEPS,
    NO_FILES,
    OWN_FOLDER,
    WRITTEN_UNTIL,
    CommitRecord,
    CommittedFile,
    ForeignMeanwhile,
    MayFollow,
    check_names,
    follow_newest,
    no_room,
    read_record,
    with_foreign,
)
from mason.pipeline.tables.folder_strangers import (
    bring_back,
    carry,
    find_changed_files,
    find_strangers,
    time_of_last_write,
)
from mason.pipeline.tables.foreign_files import ChangedFiles, Foreign, ForeignFiles, MissingFiles, Strangers
from mason.util.atomic_file import sync_folder
from mason.util.environment import MasonEnvironment
from mason.util.exchange import exchange_folders

if TYPE_CHECKING:
    from mason.pipeline.storage.file_stamp import FileStamp

LOG = logging.getLogger("mason.pipeline")
_OWNER = f"{OWN_FOLDER}/owner.lock"
_SHOWN = 5
_LOOKS = 10
_ADVICE = (
    f"Restore it from a backup. Without one, move {OWN_FOLDER} out of the table's folder: the data files beside it are "
    "then read as they are, without versions and quarantine."
)


class TableFolder:
    """A table in a local folder, and the versions of it."""

    def __init__(self, output: str, foreign: Foreign = Foreign.REFUSE, *, goes_back: bool = False) -> None:
        """`goes_back` is for the way out of damage: files that others have written over do not stop a version."""
        self.foreign, self._goes_back = foreign, goes_back
        # A link stands for the folder that it leads to: exchanged itself, it would leave that folder as it was.
        self.path = Path(output).resolve() if Path(output).is_symlink() else Path(output)

    def current(self) -> CommitRecord | None:
        """Return the newest commit; none for a folder that is no table of Mason's, or is not there."""
        return next(self.history(), None)

    def history(self) -> Iterator[CommitRecord]:
        """Yield the commits, the newest first."""
        for file in sorted((self.path / COMMITS).glob("*.json"), reverse=True):
            yield read_record(file.read_bytes(), str(file), _ADVICE)

    def lineage(self) -> Iterator[CommitRecord]:
        """Yield the commits that the current version consists of: those that added to it, back to one that replaced."""
        for record in self.history():
            yield record
            if not record.adds:
                return

    @contextlib.contextmanager
    def stage(self, job: str) -> Iterator[str]:
        """Give a folder to write the next version into. Whatever is left in it at the end is removed.

        Its lock lives as long as this process: what a killed one left behind can be told from what is in use.

        Raises:
            BadPath: there are tables inside of the folder, or somebody's home, which would go with it.
        """
        self.check_room()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        staging = self.path.with_name(f".{self.path.name}.mason-{job}")
        with self._make_staging(staging, self.path.with_name(f".{self.path.name}.making-{job}")):
            try:
                yield str(staging)
            finally:
                if (staging / _OWNER).exists():
                    with self.locked():  # nobody sweeps what is half removed, and takes it for a former version
                        self._discard(staging)

    @contextlib.contextmanager
    def _make_staging(self, staging: Path, making: Path) -> Iterator[None]:
        """Make the staging folder and hold its lock; under the name that others sweep it appears locked."""
        with contextlib.ExitStack() as stack:
            with self.locked():
                self._sweep_all()
                (making / OWN_FOLDER).mkdir(parents=True)
                owner = stack.enter_context(open(making / _OWNER, "w"))
                fcntl.flock(owner, fcntl.LOCK_EX)
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
        with self.locked():
            record, kept = follow_newest(
                str(self.path), self.history(), record, expected=expected, kept=kept, may_follow=may_follow
            )
            current = self.current()
            strangers = self._check_publishable(current, kept, adopted)
            record = with_foreign(record, self.foreign, adopted)
            published = self._complete(Path(staging), record, current, kept)
            is_kept = self.foreign is Foreign.KEEP
            has_strangers = current is None and not is_kept and (self.path.is_file() or any(self.path.glob("*")))
            if current or is_kept:
                carry(self.path, Path(staging), [name for name in strangers if name not in adopted])
            self._switch(Path(staging))
        if has_strangers:
            LOG.warning("What was at %s before is kept below its %s/kept/%s.", self.path, OWN_FOLDER, record.id)
        return published

    def check_room(self) -> None:
        """See that neither tables nor somebody's home are in the folder, and that it is in no table itself.

        What is in it is moved aside. A folder in a table that is one already, as `table explode` makes them, may stay.

        Raises:
            BadPath: they are, or it is.
        """
        place = self.path.resolve()
        check_names(str(self.path), _below_home(place))
        homes = [str(each) for each in _homes() if each.is_relative_to(place)]
        if homes:
            raise no_room(str(self.path), f"your home {homes[0]} is in it")
        if self.current():
            return
        around = table_around(place)
        if around:
            raise no_room(str(self.path), f"it lies in the table {around}")
        tables = sorted(islice(_tables_below(self.path), _SHOWN))
        if tables:
            raise no_room(str(self.path), f"there are tables in it: {', '.join(tables)}")

    def strangers(self) -> Strangers:
        """Return what lies in the folder and is not Mason's.

        Raises:
            ChangedFiles: somebody else has written over files of the table.
            Forbidden: a folder in it may not be listed.
        """
        for _ in range(_LOOKS):
            current = self.current()
            changed = find_changed_files(self.path, current) if current else {}
            found = find_strangers(self.path, current)
            if self._is(current):  # else another job has exchanged the folder while it was looked at
                if changed:
                    raise ChangedFiles(str(self.path), changed)
                return found
        return Strangers()  # whoever publishes asks again, while nobody else does

    def _is(self, record: CommitRecord | None) -> bool:
        current = self.current()
        return (current and current.id) == (record and record.id)

    def _check_publishable(
        self, current: CommitRecord | None, kept: Sequence[CommittedFile], adopted: Mapping[str, FileStamp]
    ) -> Sequence[str]:
        """Return what is to be carried along, if the next version may be published beside it."""
        if not self.path.is_dir() or (current is None and self.foreign is Foreign.REFUSE):
            return []
        changed = find_changed_files(self.path, current) if current else {}
        if missing := [each.path for each in kept if not (self.path / each.path).is_file()]:
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
        with self.locked():
            self._sweep_all()

    def _sweep_all(self) -> None:
        for left in self.path.parent.glob(f".{self.path.name}.making-*"):
            _remove_tree(left)  # whoever makes one holds the table's lock: this one's maker was killed
        for left in self.path.parent.glob(f".{self.path.name}.mason-*"):
            if left.is_dir():
                self._sweep(left)

    def _sweep(self, left: Path) -> None:
        if not (left / _OWNER).exists():
            if self._was_table(left):
                self._keep(left)
            else:
                self._discard(left)
            return
        with open(left / _OWNER) as owner, contextlib.suppress(BlockingIOError):
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._discard(left)

    def _discard(self, staging: Path) -> None:
        """Remove a staging folder, under a name that tells what it is if this process is killed before the end."""
        doomed = staging.with_name(f".{self.path.name}.making-{uuid4().hex}")
        staging.rename(doomed)
        _remove_tree(doomed)

    def _was_table(self, left: Path) -> bool:
        """Whether a folder without an owner was exchanged already: what is in it then is not of its own job."""
        job = left.name.rpartition("-")[2]
        own = (f"{COMMITS}/*-{job}.json", f"{OWN_FOLDER}/quarantine/{job}-*", f"part-{job}-*", f"*=*/**/part-{job}-*")
        return not any(next(left.glob(pattern), None) for pattern in own)

    def _complete(
        self, staging: Path, record: CommitRecord, current: CommitRecord | None, kept: Sequence[CommittedFile]
    ) -> CommitRecord:
        for each in kept:
            (staging / each.path).parent.mkdir(parents=True, exist_ok=True)
            os.link(self.path / each.path, staging / each.path)
        for history in ("commits", "quarantine") if record.adds else ("commits",):
            self._carry_over(staging, history)
        files = [*kept, *record.files]
        completed = replace(
            record,
            number=current.number + 1 if current else 1,
            parent=current.id if current else None,
            files=files,
            rows=sum(each.rows for each in files),
            created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        )
        until = time_of_last_write(staging, completed)
        completed = replace(completed, details={**completed.details, WRITTEN_UNTIL: until})
        place = staging / completed.place
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(completed.to_dict(), indent=1))
        os.utime(place, ns=(until, until))
        (staging / _OWNER).unlink()
        _sync_tree(staging)
        return completed

    def _carry_over(self, staging: Path, history: str) -> None:
        for file in (self.path / OWN_FOLDER / history).glob("*"):
            place = staging / OWN_FOLDER / history / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.exists():
                os.link(file, place)

    def _switch(self, staging: Path) -> None:
        if self.path.exists():
            exchange_folders(staging, self.path)
            self._keep(staging)
        else:
            staging.rename(self.path)
        sync_folder(self.path.parent)

    def _keep(self, old: Path) -> None:
        """Move a former version below the table, with those that it had kept itself; what is not Mason's goes back."""
        before = TableFolder(str(old)).current()
        after = self._find_commit_of(old.name.rpartition("-")[2])
        if old.is_dir() and after and (before or after.details.get(KEEPS)):
            bring_back(old, self.path, before, after)
        kept = self.path / OWN_FOLDER / "kept"
        kept.mkdir(parents=True, exist_ok=True)
        for earlier in (old / OWN_FOLDER / "kept").glob("*"):
            earlier.rename(kept / earlier.name)
        old.rename(kept / old.name.rpartition("-")[2])

    def _find_commit_of(self, job: str) -> CommitRecord | None:
        found = next((self.path / COMMITS).glob(f"*-{job}.json"), None)
        return read_record(found.read_bytes(), str(found), _ADVICE) if found else None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the table still: meanwhile nobody else switches versions, or moves what is kept of them."""
        with open(self.path.with_name(f".{self.path.name}.mason-lock"), "w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(handle, fcntl.LOCK_UN)  # closing is not enough if a process was forked meanwhile

    @contextlib.contextmanager
    def looked_at(self) -> Iterator[None]:
        """Hold the table still for somebody who looks at its versions, and finish first what a killed job left.

        Who may not write beside the table can only look at what there is.
        """
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self.locked())
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                    raise
            else:
                self._sweep_all()
            yield


def _stamp(file: Path) -> FileStamp | None:
    from mason.pipeline.storage.file_stamp import FileStamp  # heavy: only who adopts files needs it

    with contextlib.suppress(FileNotFoundError):
        found = file.stat()
        return FileStamp(found.st_size, found.st_mtime_ns)
    return None


def _homes() -> Iterator[Path]:
    """The folders of this user and of Mason; a user of a container may have none."""
    for each in (os.path.expanduser("~"), MasonEnvironment.of().home):  # noqa: PTH111
        if Path(each).is_absolute():
            yield Path(each).resolve()


def table_around(place: Path) -> Path | None:
    """Return the table that a place lies in, of Mason's, Delta's or Iceberg's: the folder that is nearest to it."""
    return next((each for each in place.parents if _is_table(each)), None)


def _is_table(folder: Path) -> bool:
    if (folder / COMMITS).is_dir() or (folder / "_delta_log").is_dir():
        return True
    return any((folder / "metadata").glob("*.metadata.json"))


def _below_home(place: Path) -> str:
    """Return the part of a path that is below MASON_HOME, whose own name may look like that of a folder of Mason's."""
    home = MasonEnvironment.of().home.resolve()
    return str(place.relative_to(home)) if place.is_relative_to(home) else str(place)


def _tables_below(folder: Path) -> Iterator[str]:
    """Yield the tables of Mason's that lie in a folder, however deep, by their names in it."""
    for place, folders, _ in os.walk(folder):
        if (Path(place) / COMMITS).is_dir():
            if Path(place) == folder:  # it has just become a table itself
                return
            yield str(Path(place).relative_to(folder))
            folders.clear()


def _remove_tree(folder: Path) -> None:
    """Remove a folder; a task that outlived its job may still write into it, and then the next command removes it."""
    try:
        shutil.rmtree(folder)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
            raise
        LOG.info("%s is still being written to: the next command removes it.", folder)


def _sync_tree(folder: Path) -> None:
    """Make all that is in a folder survive a power cut, before anybody is pointed to it."""
    for place, _, files in os.walk(folder):
        for name in files:
            with open(Path(place) / name, "rb") as file:
                os.fsync(file.fileno())
        sync_folder(Path(place))
