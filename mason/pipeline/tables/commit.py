"""The versions of a plain-Parquet table: readers see the old one or the new one, never a mixture.

The truth is the newest commit record in the table's room, see `room`. How the next one becomes it depends on where the
table lies: `folder` is for disks, `objects` for stores that know neither folders nor renames.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from mason.engines.storage.models.location import Location
from mason.errors import BadPath, Conflict, Unprocessable
from mason.pipeline.storage.address import abilities_of, open_objects
from mason.pipeline.storage.scratch import SCRATCH
from mason.pipeline.tables.foreign_files import Foreign, Strangers
from mason.pipeline.tables.room import COMMITS, FORMER_FOLDER, OWN_FOLDER, RECORD, room_of

if TYPE_CHECKING:
    from mason.pipeline.storage.file_stamp import FileStamp

FORMAT = "format"
"""The detail of a commit that names the format of its files, where that is not Parquet."""
ADOPTED = "adopted"
"""The detail of a commit that names the files of others whose rows it has taken over, with their sizes."""
KEEPS = "keeps_foreign"
"""The detail of a commit that was to leave the files of others where they are."""
STRANGERS = "strangers"
"""On an object store: the detail of a commit that names what lay below the prefix and was not Mason's."""
WRITTEN_UNTIL = "written_until"
"""On a disk: the detail of a commit that says when the last of its files was written, in nanoseconds."""
_OF_A_JOB = re.compile(rf"(^|/){re.escape(SCRATCH)}/[0-9a-f]{{32}}/")
"""Where a job on an object store makes tables for itself alone."""
NO_STRANGERS = Strangers()
NO_FILES: Mapping[str, FileStamp] = MappingProxyType({})
AGAIN = "Nothing of this one was kept; run it again."


@dataclass(frozen=True)
class CommittedFile:
    """A file of a committed table."""

    path: str
    rows: int
    bytes: int
    home: str = ""
    """Where it lies in the table's room, if that is not where others are shown it."""

    def place_in(self, table: str) -> str:
        """Return where Mason reads it, by the path of the table."""
        return f"{room_of(table)}/{self.home}" if self.home else f"{table}/{self.path}"


@dataclass(frozen=True)
class CommitRecord:
    """What a version of a table consists of."""

    id: str
    number: int
    parent: str | None
    job: str
    files: Sequence[CommittedFile]
    rows: int
    quarantined: int
    schema: str
    """The Arrow schema, encoded."""
    created_at: str = ""
    partition_keys: Sequence[str] = ()
    adds: bool = False
    """The version adds to its parent; one that does not replaces it."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the job wants to know later of how it made this version."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """On an object store: what else was staged, and where in the table's room it lies."""
    aside: Sequence[str] = ()
    """On an object store: what was found below the table's folder, and had to make room."""

    @property
    def format(self) -> str:
        """The format of the files."""
        return str(self.details.get(FORMAT, "parquet"))

    @property
    def child_folders(self) -> Sequence[str]:
        """The folders below the table's of tables that came with it: those of what was exploded."""
        return [each["folder"] for each in self.details.get("tables", {}).values()]

    @property
    def has_files(self) -> bool:
        """Whether the version has files, or tables that came with it have."""
        return bool(self.files) or any(each["files"] for each in self.details.get("tables", {}).values())

    @property
    def place(self) -> str:
        """The file that keeps the record, in the table's room."""
        return f"{COMMITS}/{self.number:08}-{self.id}{RECORD}"

    def to_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "files": [each.__dict__ for each in self.files]}

    @classmethod
    def of(cls, value: dict[str, Any]) -> CommitRecord:
        return cls(**{**value, "files": [CommittedFile(**each) for each in value["files"]]})


class ChangedMeanwhile(Conflict):
    """Raised when another job committed to the table first. 409 · exit 1"""

    def __init__(self, path: str, current: CommitRecord | None, *, hint: str = AGAIN) -> None:
        self.path, self.current = path, current
        who = current.job if current else "removed"
        super().__init__(f"{path} was changed by another job ({who}) meanwhile.", hint=hint)


class Overtaken(ChangedMeanwhile):
    """Raised when another job committed just now: what is staged is as good for the next version. 409 · exit 1"""


class ForeignMeanwhile(ChangedMeanwhile):
    """Raised when a file of somebody else's that a job takes over has changed while it ran. 409 · exit 1"""

    def __init__(self, path: str, current: CommitRecord | None, name: str) -> None:
        self.path, self.current = path, current
        Conflict.__init__(self, f"{name} in {path} came, changed or went while its rows were read.", hint=AGAIN)


MayFollow = Callable[[CommitRecord, Iterable[CommitRecord]], bool]
"""Says whether a job's files can be added to a commit that it was not planned for.

The others are all commits that came since, that one first; they are read when they are asked for.
"""


class TableStore(Protocol):
    """A table's versions, wherever it lies: what is in the table, and how the next version becomes it.

    Tasks write into the staging folder through the storage's file system. How a version is switched to is the storage's
    own affair: folders are exchanged on a disk, and an object store has no such thing.
    """

    foreign: Foreign
    """What becomes of data files in the folder that Mason did not write, when the next version is published."""

    @property
    def room(self) -> str:
        """The folder beside the table's in which Mason keeps what is not its data."""

    def current(self) -> CommitRecord | None:
        """Return the newest commit, if there is one; none where the table's folder was removed by hand.

        Raises:
            FormerLayout: the table has its records inside of its folder.
        """

    def history(self) -> Iterator[CommitRecord]:
        """Yield the commits, the newest first."""

    def lineage(self) -> Iterator[CommitRecord]:
        """Yield the commits that the current version consists of."""

    def quarantine(self) -> Sequence[str]:
        """Return the paths of the files with the records that the current version has set aside."""

    def check_room(self) -> None:
        """See that nothing is below the table's folder that must not be moved aside with it.

        Raises:
            BadPath: there is.
        """

    def strangers(self) -> Strangers:
        """Return what lies in the table's folder and is not Mason's; all that lies in one that is no table yet.

        Raises:
            ChangedFiles: somebody else has written over files of the table.
        """

    def stage(self, job: str) -> AbstractContextManager[str]:
        """Give a folder to write the next version into; see that there is room for it first."""

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
        """Make the staged version the table, if the current one is still what was expected, or may be followed.

        `kept` are files of the expected version that stay. Where another version came since, and `may_follow` allows
        it, all files of that one stay, and what is staged is added to them. `adopted` are files of others in the
        table's folder whose rows are staged, by their paths below it, as they were when these were read.

        Raises:
            ChangedMeanwhile: another job was faster, and the work has to be planned again.
            Overtaken: another job was faster by a moment: publishing again may do.
            ForeignFiles: there are data files of others, and nobody has said what becomes of them.
            ForeignMeanwhile: an adopted file is not what it was, or there is another one.
            ChangedFiles, MissingFiles: somebody else has written over files of the table, or removed some that stay.
        """


def open_table(location: Location, foreign: str = Foreign.REFUSE) -> TableStore:
    """Return the table at a place.

    `foreign` says what becomes of data files in its folder that Mason did not write.
    """
    # Each kind of table imports what is above.
    from mason.pipeline.tables.folder import TableFolder
    from mason.pipeline.tables.objects import TableObjects

    kind, path = Foreign(foreign), location.path
    if abilities_of(location.storage).exchanges_folders:
        return TableFolder(path, kind)
    return TableObjects(open_objects(location.storage), path, kind)


class DamagedRecord(Unprocessable):
    """Raised when a commit record is damaged: nobody knows which files are the table's. 422 · exit 1"""


class FormerLayout(Unprocessable):
    """422 · exit 1 · the table was written by an earlier version of Mason, with its records inside of its folder"""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} is a table in the former layout, with its records in {FORMER_FOLDER} inside of its folder.",
            hint="Merge it into another folder (table merge with this input_path): that reads its data files.",
        )


def read_record(content: bytes, place: str, advice: str) -> CommitRecord:
    """Return the commit record that stands in a file.

    Raises:
        DamagedRecord: it was cut off or written over; the advice says what to do about it.
    """
    try:
        import json  # what only lists files has no use for it

        record = CommitRecord.of(json.loads(content))
        _check_fields(record)
    except (ValueError, LookupError, TypeError, AttributeError, OSError, RecursionError) as error:
        told = f"The commit record {place} is damaged ({_reason(error)}): which files are the table's is not known."
        raise DamagedRecord(told, hint=advice) from error
    return record


def _check_fields(record: CommitRecord) -> None:
    """Raise ValueError where a field is of another kind than whoever reads it expects."""
    from mason.pipeline.types.evidence_json import decode_schema  # heavy: who lists tables knows them by their folders

    texts = [record.id, record.job, record.schema, record.created_at, *record.partition_keys, *record.aside]
    files = [(each.path, each.home) for each in record.files]
    beside = [*record.beside, *record.beside.values(), *(text for pair in files for text in pair)]
    numbers = [record.number, record.rows, record.quarantined]
    counts = [count for each in record.files for count in (each.rows, each.bytes)]
    if not all(isinstance(each, str) for each in (*texts, *beside)) or not isinstance(record.parent, str | None):
        raise ValueError("it has another kind of value where a text belongs")
    if not all(type(each) is int for each in (*numbers, *counts)) or not isinstance(record.details, dict):
        raise ValueError("it has another kind of value where a number belongs")
    if record.schema:
        decode_schema(record.schema)


def _reason(error: Exception) -> str:
    import json

    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
        return "it is not JSON"
    return f"a field is missing or of another kind: {error}"


def check_names(path: str, below: str) -> None:
    """Refuse a folder for a table among what Mason keeps beside and inside of tables.

    Raises:
        BadPath: a name on the way is that of such a folder.
    """
    own = next((part for part in below.split("/") if part in (OWN_FOLDER, FORMER_FOLDER)), "")
    if own and not _OF_A_JOB.search(below):
        raise no_room(path, f'what is below "{own}" is Mason\'s own')


def no_room(path: str, inside: str) -> BadPath:
    """Return the error for an output that holds what must not go."""
    return BadPath(f"{path} cannot become a table, since {inside}.", hint="Give the output a folder of its own.")


def follow_newest(
    path: str,
    history: Iterable[CommitRecord],
    record: CommitRecord,
    *,
    expected: CommitRecord | None,
    kept: Sequence[CommittedFile],
    may_follow: MayFollow | None,
) -> tuple[CommitRecord, Sequence[CommittedFile]]:
    """Return a record and the files that stay in the table, as they follow its newest version.

    `history` are the commits of the table, the newest first. Where a job adds to a version that is not the newest any
    more, its record adds to the newest, whose files all stay.

    Raises:
        ChangedMeanwhile: somebody else committed to the table since, and what was written does not fit that.
    """
    commits = iter(history)
    newest = next(commits, None)
    if (newest and newest.id) == (expected and expected.id):
        return record, kept
    if newest is None:
        raise ChangedMeanwhile(path, None)
    since = chain([newest], takewhile(lambda each: expected is None or each.id != expected.id, commits))
    if may_follow and may_follow(newest, since):
        return replace(record, adds=True), newest.files
    raise ChangedMeanwhile(path, newest)


def with_foreign(
    record: CommitRecord, foreign: Foreign, adopted: Mapping[str, FileStamp], strangers: Strangers = NO_STRANGERS
) -> CommitRecord:
    """Return a record that says what was done about files of others, so that whoever finishes the commit does it."""
    said: dict[str, Any] = {KEEPS: True} if foreign is Foreign.KEEP else {}
    if adopted:
        said[ADOPTED] = {name: stamp.size for name, stamp in adopted.items()}
    if staying := [name for name in (*strangers.data, *strangers.others) if name not in adopted]:
        said[STRANGERS] = staying
    before = {name: value for name, value in record.details.items() if name not in (ADOPTED, KEEPS, STRANGERS)}
    return replace(record, details={**before, **said})
