"""What is kept of a table's versions, wherever it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mason.engines.storage.models.location import Location
from mason.pipeline.storage.address import abilities_of, open_objects
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.foreign_files import Foreign


@dataclass(frozen=True)
class Kept:
    """A version, and the path below which its files are; none if they were removed."""

    commit: CommitRecord
    place: str | None


@dataclass(frozen=True)
class Removable:
    """What can be removed of versions: those whose files go, and the bytes that are freed."""

    versions: Sequence[Kept]
    bytes: int
    only_copies: Sequence[Kept] = ()
    """Versions that stay, and lose what was copied for the catalogs that showed them."""


class KeptVersions(Protocol):
    """The versions of a table, as far as they are kept."""

    def history(self) -> Sequence[Kept]:
        """Return the versions, the newest first; none where there is no table of Mason's."""

    def restore(self, version: Kept, record: CommitRecord, job_id: str, *, expected: CommitRecord) -> CommitRecord:
        """Commit the files of a version anew, with this record.

        Raises:
            Conflict: another job committed to the table meanwhile.
        """

    def removable(self, versions: Sequence[Kept]) -> Removable:
        """Return those of the versions of which something is still there, and the bytes that only they use."""

    def remove(self, versions: Sequence[Kept]) -> Sequence[str]:
        """Remove what only these versions use; return the folders in which something is left that is not Mason's.

        Raises:
            Conflict: a job is going back to one of them at this moment.
        """


def open_versions(location: Location, foreign: str = Foreign.REFUSE) -> KeptVersions:
    """Return what is kept of the table at a place; `foreign` is for who goes back to a version."""
    # Each kind imports what is above.
    from mason.pipeline.tables.folder_versions import FolderVersions
    from mason.pipeline.tables.object_versions import ObjectVersions

    kind, path = Foreign(foreign), location.path
    if abilities_of(location.storage).exchanges_folders:
        return FolderVersions(path, kind)
    return ObjectVersions(open_objects(location.storage), path, kind)
