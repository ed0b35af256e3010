"""What is kept of the versions of a table on an object store: every file stays where it was written, until a vacuum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from uuid import uuid4

from mason.errors import Conflict
from mason.pipeline.storage.object_store import ObjectStore
from mason.pipeline.tables.catalog_entries import read_entries
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.tables.kept_versions import Kept, Removable
from mason.pipeline.tables.object_lease import EXPIRY_SECONDS, Lease
from mason.pipeline.tables.object_strangers import is_own_name
from mason.pipeline.tables.object_view import sizes_of
from mason.pipeline.tables.objects import TableObjects
from mason.pipeline.tables.room import DATA, LEASE, LEASES, room_of

_VACUUM = "vacuum-"


class ObjectVersions:
    """The versions of a table below a prefix. Those that share files name the same ones.

    A vacuum and a job that goes back to a version must not meet, for the store has no lock: each leaves word of itself
    first and then looks for the other, so that one of them at least sees the other and gives way.
    """

    def __init__(self, store: ObjectStore, path: str, foreign: Foreign = Foreign.REFUSE) -> None:
        self._store, self._path = store, path
        self._table = TableObjects(store, path, foreign, goes_back=True)

    def history(self) -> Sequence[Kept]:
        commits = list(self._table.history())  # first: the files of a version are there before it is
        there = set(self._sizes())
        return [Kept(commit, self._path if _places(self._path, commit) <= there else None) for commit in commits]

    def restore(self, version: Kept, record: CommitRecord, job_id: str, *, expected: CommitRecord) -> CommitRecord:
        with self._table.stage(job_id) as staging:
            if self._others(_VACUUM) or not _places(self._path, version.commit) <= set(self._sizes()):
                raise Conflict(f"Former versions of {self._path} are being removed.", hint="Run it again later.")
            record = replace(record, files=[])
            return self._table.publish(staging, record, expected=expected, kept=version.commit.files)

    def removable(self, versions: Sequence[Kept]) -> Removable:
        shown = {each.commit for path in self._tables for each in read_entries(self._store, path)}
        versions = [each for each in versions if each.commit.id not in shown]
        freed = self._sizes_to_free(versions)
        going = [each for each in versions if not freed.keys().isdisjoint(_places(self._path, each.commit))]
        copied = {self._split(place)[1] for place in freed}
        only_copies = [each for each in versions if each not in going and each.commit.id in copied]
        return Removable(going, sum(freed.values()), only_copies)

    def remove(self, versions: Sequence[Kept]) -> Sequence[str]:
        self._table.sweep()  # what a dead job left is of no version, and would stay until somebody writes
        job = f"{_VACUUM}{uuid4().hex[:16]}"
        with Lease(self._store, f"{self._table.room}/{LEASES}/{job}{LEASE}", job) as lease:
            try:
                if self._others("", but=job):
                    raise Conflict(f"A job is writing to {self._path}.", hint="Run the vacuum when it is done.")
                self._store.delete(self._sizes_to_free(versions))
                self._store.abandon_uploads(f"{self._table.room}/{DATA}")
            finally:
                lease.end()
        folders = [f"{room_of(path)}/{DATA}" for path in self._tables]
        going = {f"{folder}/{each.commit.id}" for folder in folders for each in versions}
        left = [each.path for folder in folders for each in self._store.below(folder)]
        return sorted({folder for folder in going for path in left if path.startswith(f"{folder}/")})

    def _sizes_to_free(self, versions: Sequence[Kept]) -> dict[str, int]:
        """What is there and only these versions use, with the sizes."""
        going = {each.commit.id: each.commit for each in versions}
        staying = [commit for commit in self._table.history() if commit.id not in going]
        used, unused = _all(self._path, staying), _all(self._path, going.values())
        return {
            place: size
            for place, size in self._sizes().items()
            if place not in used and (place in unused or self._is_copy(place, going))
        }

    def _sizes(self) -> dict[str, int]:
        """All that was written for versions, by its paths."""
        found = [each for path in self._tables for each in self._store.below(f"{room_of(path)}/{DATA}")]
        return {each.path: each.size for each in found}

    @cached_property
    def _tables(self) -> Sequence[str]:
        """The path of the table, and of those that came with any of its versions."""
        folders = {folder for commit in self._table.history() for folder in commit.child_folders}
        return [self._path, *(f"{self._path}/{folder}" for folder in sorted(folders))]

    def _is_copy(self, place: str, going: Mapping[str, CommitRecord]) -> bool:
        """Say whether a place in the folder of a version is Mason's: a catalog's copy, or what a late task wrote."""
        folder, version, name = self._split(place)
        commit = going.get(version)
        if commit is None:
            return False
        return not name or name.endswith("/") or is_own_name(name, commit.id) or f"{folder}{name}" in sizes_of(commit)

    def _split(self, place: str) -> tuple[str, str, str]:
        """Return the folder of the table below this one in whose room a place is, the version, and the name in it."""
        for path in self._tables:
            start = f"{room_of(path)}/{DATA}/"
            if place.startswith(start):
                version, _, name = place.removeprefix(start).partition("/")
                return f"{path}/"[len(self._path) + 1 :], version, name
        return "", "", ""

    def _others(self, beginning: str, but: str = "") -> bool:
        """Whether others are at work on the table."""
        return any(
            lease.path.rpartition("/")[2].startswith(beginning) and lease.path.rpartition("/")[2] != f"{but}{LEASE}"
            for lease in self._store.below(f"{self._table.room}/{LEASES}")
            if lease.age_seconds <= EXPIRY_SECONDS
        )


def _places(table: str, commit: CommitRecord) -> set[str]:
    room = room_of(table)
    homes = (f"{room}/{home}" for home in commit.beside.values())
    return {*(each.place_in(table) for each in commit.files), *homes}


def _all(table: str, commits: Iterable[CommitRecord]) -> set[str]:
    return {place for commit in commits for place in _places(table, commit)}
