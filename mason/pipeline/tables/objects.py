"""The commit of a plain-Parquet table on an object store, which has no rename.

A job writes into a prefix of its own in the table's room, `data/<job>/`, where its files stay. A version is committed
by writing its record, `commits/<number>.commit`, on the condition that there is none of that number: of two writers one
wins. What others see of the table follows in `object_view`; a command that dies in between is finished by the next one.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from mason.errors import Conflict, MasonError, Unsupported
from mason.pipeline.storage.object_store import ObjectStore, StoredObject
from mason.pipeline.tables.commit import (
    AGAIN,
    NO_FILES,
    ChangedMeanwhile,
    CommitRecord,
    CommittedFile,
    ForeignMeanwhile,
    MayFollow,
    Overtaken,
    follow_newest,
    read_record,
    with_foreign,
)
from mason.pipeline.tables.foreign_files import ChangedFiles, Foreign, ForeignFiles, Strangers
from mason.pipeline.tables.object_lease import EXPIRY_SECONDS, Lease, sweep_lease
from mason.pipeline.tables.object_records import (
    complete_record,
    encode_record,
    files_in_the_way,
    is_still,
    number_paths,
)
from mason.pipeline.tables.object_strangers import Below, Versions, files_of_version, look_below
from mason.pipeline.tables.object_view import list_all, list_homes, show
from mason.pipeline.tables.places import check_prefix
from mason.pipeline.tables.room import COMMITS, DATA, LEASE, LEASES, QUARANTINE, RECORD, ROOMS, room_of

if TYPE_CHECKING:
    from mason.pipeline.storage.file_stamp import FileStamp

LOG = logging.getLogger("mason.pipeline")
TURN_SECONDS = 30.0
_SHOWN = ".shown"
_CAME_ALONG = "-"
"""In the name of a record: it was copied here with the commit of the table above, see `CommitRecord.place`."""
_ADVICE = (
    "Restore it from a backup, or from an earlier version of the object. Without one, delete it: the table is then "
    "what the record before it says, if its files were not removed since."
)


class TableObjects:
    """A table below a prefix of an object store, and the versions of it."""

    _leases: ClassVar[dict[str, Lease]] = {}
    """The leases of what this process has staged, by the prefixes: who publishes need not be who staged."""

    _turns: ClassVar[dict[tuple[str, str], threading.Lock]] = {}
    """One for each table and what is done with it: threads of one process need not race each other."""
    _turns_lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(
        self, store: ObjectStore, path: str, foreign: Foreign = Foreign.REFUSE, *, goes_back: bool = False
    ) -> None:
        """`goes_back` is for the way out of damage: files that others have written over do not stop a version."""
        self._store, self.path = store, path
        self.room = room_of(path) if "/" in path else f"{path}/{ROOMS}/"  # a bucket is no table: nothing is there
        self.foreign, self._goes_back = foreign, goes_back

    def current(self) -> CommitRecord | None:
        """Return the newest commit; none for a prefix that is no table of Mason's, or is not there."""
        return next(self.history(), None)

    def history(self) -> Iterator[CommitRecord]:
        """Yield the commits, the newest first."""
        yield from self._records(self._commits())

    def _records(self, commits: Mapping[int, str]) -> Iterator[CommitRecord]:
        """The records at these paths, the newest first."""
        for _, path in sorted(commits.items(), reverse=True):
            record = self._read(path)
            if record:
                yield record

    def lineage(self) -> Iterator[CommitRecord]:
        """Yield the commits that the current version consists of: those that added to it, back to one that replaced."""
        for record in self.history():
            yield record
            if not record.adds:
                return

    def quarantine(self) -> Sequence[str]:
        current = self.current()
        beside = current.beside.items() if current else ()
        return sorted(f"{self.room}/{home}" for name, home in beside if name.startswith(f"{QUARANTINE}/"))

    def check_room(self) -> None:
        """See that no tables lie below the prefix, and that it is in none: what others see below it is moved aside.

        A prefix in a table that is one already, as `table explode` makes them, may stay.

        Raises:
            BadPath: some do, it is in one, or it is a whole bucket.
        """
        check_prefix(self._store, self.path, is_table=bool(self._commits()))

    @contextlib.contextmanager
    def stage(self, job: str) -> Iterator[str]:
        """Give a prefix to write the next version into. Without a commit, what is below it is removed at the end.

        Raises:
            BadPath: there are tables below the prefix, which would go with it.
            Unsupported: the store does not keep conditions, so that two writers could undo each other.
        """
        self.check_room()
        if not self._store.keeps_conditions(self.room):
            raise Unsupported(f"{self.path} is on a store without conditional writes: no table can be written there.")
        self.sweep()
        with self._hold_staging(job, self._lease(job)) as staging:
            yield staging

    @contextlib.contextmanager
    def stage_again(self, job: str) -> Iterator[str]:
        """Give the prefix that a process which is gone has staged for a job, to whoever finishes it.

        Raises:
            Conflict: what was staged is removed, since nobody was there who renewed its lease.
        """
        lease = self._lease(job)
        if not lease.take_over():
            raise Conflict(f"What was written for {self.path} was removed, since its job seemed dead.", hint=AGAIN)
        with self._hold_staging(job, lease) as staging:
            yield staging

    def _lease(self, job: str) -> Lease:
        return Lease(self._store, f"{self.room}/{LEASES}/{job}{LEASE}", job)

    @contextlib.contextmanager
    def _hold_staging(self, job: str, lease: Lease) -> Iterator[str]:
        staging = f"{self.room}/{DATA}/{job}"
        with lease:
            self._leases[staging] = lease
            try:
                yield staging
            finally:
                del self._leases[staging]
                if not lease.may_be_committed:
                    self._remove(job)
                    lease.end()

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
            ChangedMeanwhile: somebody else committed to the table since `expected` was read, and may not be followed;
                or took this job for dead.
            Overtaken: somebody else did so at this very moment.
            ForeignFiles, ForeignMeanwhile: data files of others lie below the prefix which it is not made from.
            ChangedFiles: others have written over files of the table.
        """
        lease = self._leases[staging]
        with self._in_turn("commit"):
            # First: what is committed after it was listed is no stranger's.
            there, homes = list_all(self._store, self.path), list_homes(self._store, self.path)
            commits, done = self._list_records()
            versions = self._versions(commits, done)
            current = versions.current
            older = self._records(
                {number: path for number, path in commits.items() if current and number < current.number}
            )
            record, kept = follow_newest(
                self.path,
                chain([current] if current else [], older),
                record,
                expected=expected,
                kept=kept,
                may_follow=may_follow,
            )
            completed = complete_record(self._store, self.room, staging, record, current, kept)
            found = look_below(self._store, self.path, there, homes, versions)
            completed = replace(
                with_foreign(completed, self.foreign, adopted, found.strangers),
                aside=[
                    *self._aside(found, current, {**there, **homes}, adopted),
                    *files_in_the_way(current, completed),
                ],
            )
            if not lease.claim(completed.number):
                raise ChangedMeanwhile(self.path, self.current())
            lease.may_be_committed = True  # even if the answer never comes
            lease.may_be_committed = self._write(completed)
        if not lease.may_be_committed:
            raise Overtaken(self.path, self.current())
        with self._commit_in_spite_of_signals():
            self._show()
            lease.end()
        return completed

    def settle(self) -> bool:
        """Have others see the newest version, if whoever committed it seems to have died before that.

        What dead jobs have written and not committed is removed. Returns whether there is a version so old that its
        command is not at it any more. A writer does not wait for that, see `sweep`; but readers come often, and would
        all copy what the command that committed is copying.
        """
        own, _ = self._store.children(self.room)  # one request, where nobody has written yet
        if LEASES in own:
            self._sweep_leases_if_allowed()
        return COMMITS in own and self._settle_newest()

    def _settle_newest(self) -> bool:
        found = {each.path.rpartition("/")[2]: each for each in self._store.below(f"{self.room}/{COMMITS}")}
        newest = max((name for name in found if name.endswith(RECORD)), default="")
        if _CAME_ALONG in newest:
            return TableObjects(self._store, self.path.rpartition("/")[0]).settle()
        if not newest:
            return False
        is_shown = found.get(newest.removesuffix(RECORD) + _SHOWN)
        if (is_shown or found[newest]).age_seconds <= EXPIRY_SECONDS:
            return False
        if not is_shown and self._is_at_work(self._find_commit_of(int(newest[:8]))):
            return False  # it has much to copy
        if not is_shown:
            with self._commit_in_spite_of_signals():
                self._show()
        return True

    def _is_at_work(self, job: str | None) -> bool:
        leases = self._store.below(f"{self.room}/{LEASES}")
        return any(each.path.endswith(f"/{job}{LEASE}") and each.age_seconds <= EXPIRY_SECONDS for each in leases)

    @contextlib.contextmanager
    def _commit_in_spite_of_signals(self) -> Iterator[None]:
        try:
            yield
        except MasonError as error:
            LOG.warning("%s is committed; what others see of it is finished by the next command: %s", self.path, error)

    def sweep(self) -> None:
        """Finish what a killed job had committed, and remove what others left behind."""
        self._show()
        self._sweep_leases()

    def _sweep_leases(self) -> None:
        for lease in list(self._store.below(f"{self.room}/{LEASES}")):
            sweep_lease(self._store, lease, self._find_commit_of, self._remove)

    def _sweep_leases_if_allowed(self) -> None:
        try:
            self._sweep_leases()
        except MasonError as error:  # it is in nobody's way, and who only reads may not be allowed to remove it
            LOG.info("What a dead job left at %s stays: %s", self.path, error)

    def strangers(self) -> Strangers:
        """Return what lies below the prefix and is not Mason's.

        Raises:
            ChangedFiles: somebody else has written over files of the table, as others see them.
        """
        there, homes = list_all(self._store, self.path), list_homes(self._store, self.path)
        commits, done = self._list_records()
        found = look_below(self._store, self.path, there, homes, self._versions(commits, done))
        if found.changed:
            raise ChangedFiles(self.path, found.changed)
        return found.strangers

    def _versions(self, commits: Mapping[int, str], done: Mapping[int, str]) -> Versions:
        seen = self._versions_to_read(commits, done)

        def seconds_since_switch() -> float | None:
            there = self._store.below(f"{self.room}/{COMMITS}")
            markers = {each.path: each.age_seconds for each in there if each.path.endswith(_SHOWN)}
            return markers.get(done.get(seen[0].number, ""))

        return Versions(
            current=seen[0] if seen else None,
            seen=seen,
            shown_whole=max(done, default=0),
            find_own=lambda names: self._own(names, commits),
            shown_seconds_ago=seconds_since_switch,
        )

    def _own(self, names: set[str], commits: Mapping[int, str]) -> set[str]:
        """Those of the names that any version or a table below has: whoever was to remove them has died."""
        own, children = set[str](), set[str]()
        for each in self._records(commits) if names else ():
            own |= names & files_of_version(each)
            children.update(each.child_folders)
        for child in children:
            own |= {name for name in names if name.startswith(f"{ROOMS}/{child}/")}
            if any(name.startswith(f"{child}/") for name in names - own):
                records = TableObjects(self._store, f"{self.path}/{child}").history()
                own |= names & {f"{child}/{file.path}" for record in records for file in record.files}
        return own

    def _aside(
        self,
        found: Below,
        current: CommitRecord | None,
        there: Mapping[str, StoredObject],
        adopted: Mapping[str, FileStamp],
    ) -> Sequence[str]:
        """Return what has to make room for the next version, if that may be published beside the rest."""
        if found.changed and not self._goes_back:
            raise ChangedFiles(self.path, found.changed)
        if different := [name for name, stamp in adopted.items() if not is_still(there.get(name), stamp)]:
            raise ForeignMeanwhile(self.path, current, different[0])
        new = [name for name in found.strangers.data if name not in adopted]
        if new and current and self.foreign is Foreign.REFUSE:
            raise ForeignFiles(self.path, new)
        if new and current and self.foreign is Foreign.ADOPT:
            raise ForeignMeanwhile(self.path, current, new[0])
        if current is None and self.foreign is not Foreign.KEEP:
            return [*found.strangers.data, *found.strangers.others]
        return [*found.left_over, *adopted, *found.changed]

    def _show(self) -> None:
        """Make others see the newest version. If another comes meanwhile it is that one, whoever showed what of it."""
        # One after the other: whoever comes second finds it shown, or shows what several have committed meanwhile.
        with self._in_turn("show"):
            self._show_newest()

    def _show_newest(self) -> None:
        half_shown: list[CommitRecord] = []  # copies of it may have been made after the next version was shown
        while True:
            commits, done = self._list_records()
            newest = max(commits, default=0)
            if not newest or (newest in done and not half_shown):
                return
            seen = self._versions_to_read(commits, done)
            if seen:
                show(self._store, self.path, seen[0], [*seen[1:], *half_shown])
            half_shown = list(seen[:1])
            if max(self._commits(), default=0) == newest:
                half_shown = []
                self._store.write_new(self._place(newest).removesuffix(RECORD) + _SHOWN, b"")

    def _versions_to_read(self, commits: Mapping[int, str], done: Mapping[int, str]) -> Sequence[CommitRecord]:
        """The newest version, and those before it back to the last that was shown whole, or may have been."""
        last = max((number for number in done if number in commits), default=0)
        return list(self._records({number: path for number, path in commits.items() if number >= last}))

    @contextlib.contextmanager
    def _in_turn(self, what: str) -> Iterator[None]:
        """Wait for a thread of this process that is doing the same with this table, but not for ever.

        Nothing but work is saved by it: other processes do not wait, and a commit or a copy holds without it.
        """
        with self._turns_lock:
            turn = self._turns.setdefault((what, self.path), threading.Lock())
        is_ours = turn.acquire(timeout=TURN_SECONDS)
        try:
            yield
        finally:
            if is_ours:
                turn.release()

    def _commits(self) -> Mapping[int, str]:
        """The records' paths by their numbers."""
        return self._list_records()[0]

    def _list_records(self) -> tuple[Mapping[int, str], Mapping[int, str]]:
        """The paths of the records, and of what says that others see them, by their numbers."""
        paths = [each.path for each in self._store.below(f"{self.room}/{COMMITS}")]
        return number_paths(paths, RECORD), number_paths(paths, _SHOWN)

    def _find_commit_of(self, number: int) -> str | None:
        record = self._read(self._place(number))
        return record.id if record else None

    def _remove(self, job: str) -> None:
        self._store.delete([each.path for each in self._store.below(f"{self.room}/{DATA}/{job}")])

    def _place(self, number: int) -> str:
        return f"{self.room}/{COMMITS}/{number:08}{RECORD}"

    def _write(self, record: CommitRecord) -> bool:
        return self._store.write_new(self._place(record.number), encode_record(record)) is not None

    def _read(self, path: str) -> CommitRecord | None:
        found = self._store.read(path)
        return read_record(found[0], path, _ADVICE) if found else None
