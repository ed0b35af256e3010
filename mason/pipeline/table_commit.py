"""The commit of a plain-Parquet table in a local folder: readers see the old table or the new one, never a mixture.

The truth is the newest commit record in `_mason/commits/`. A new version is staged in a folder beside the table and
the two folders are exchanged in one step. The old version's files move to `_mason/kept/`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from mason.errors import Conflict, Unsupported
from mason.util.atomic_file import sync_folder
from mason.util.exchange import exchange_folders

OWN_FOLDER = "_mason"
_OWNER = f"{OWN_FOLDER}/owner.lock"
_COMMITS = f"{OWN_FOLDER}/commits"
FORMAT = "format"
"""The detail of a commit that names the format of its files, where that is not Parquet."""


@dataclass(frozen=True)
class CommittedFile:
    """A file of a committed table."""

    path: str
    rows: int
    bytes: int


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

    @property
    def format(self) -> str:
        """The format of the files."""
        return str(self.details.get(FORMAT, "parquet"))

    @property
    def place(self) -> str:
        """The file that keeps the record, below the table's folder."""
        return f"{_COMMITS}/{self.number:08}-{self.id}.json"

    def to_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "files": [each.__dict__ for each in self.files]}

    @classmethod
    def of(cls, value: dict[str, Any]) -> CommitRecord:
        return cls(**{**value, "files": [CommittedFile(**each) for each in value["files"]]})


class TableStore(Protocol):
    """A table's versions, wherever it lies: what is in the table, and how the next version becomes it.

    Tasks write into the staging folder through the storage's file system. How a version is switched to is the storage's
    own affair: folders are exchanged on a disk, and an object store has no such thing.
    """

    def current(self) -> CommitRecord | None:
        """Return the newest commit, if there is one."""

    def history(self) -> Iterator[CommitRecord]:
        """Yield the commits, the newest first."""

    def lineage(self) -> Iterator[CommitRecord]:
        """Yield the commits that the current version consists of."""

    def stage(self, job: str) -> AbstractContextManager[str]:
        """Give a folder to write the next version into."""

    def publish(
        self,
        staging: str,
        record: CommitRecord,
        *,
        expected: CommitRecord | None,
        kept: Sequence[CommittedFile] = (),
    ) -> CommitRecord:
        """Make the staged version the table, if the current one is still what was expected."""


def open_table(storage: str, path: str) -> TableStore:
    """Return the table at a path of a storage, which is named by its address.

    Raises:
        Unsupported: nothing can be committed there yet.
    """
    if not storage.startswith("file:"):
        raise Unsupported(f"Tables at {storage} cannot be written yet.", hint="Write to a local folder.")
    return TableFolder(path)


class TableFolder:
    """A table in a local folder, and the versions of it."""

    def __init__(self, output: str) -> None:
        self.path = Path(output)

    def current(self) -> CommitRecord | None:
        """Return the newest commit; none for a folder that is no table of Mason's, or is not there."""
        return next(self.history(), None)

    def history(self) -> Iterator[CommitRecord]:
        """Yield the commits, the newest first."""
        for file in sorted((self.path / _COMMITS).glob("*.json"), reverse=True):
            yield CommitRecord.of(json.loads(file.read_bytes()))

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
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        staging = self.path.with_name(f".{self.path.name}.mason-{job}")
        with self._made(staging, self.path.with_name(f".{self.path.name}.making-{job}")):
            try:
                yield str(staging)
            finally:
                if (staging / _OWNER).exists():
                    shutil.rmtree(staging)

    @contextlib.contextmanager
    def _made(self, staging: Path, making: Path) -> Iterator[None]:
        """Make the staging folder and hold its lock; under the name that others sweep it appears locked."""
        with contextlib.ExitStack() as stack:
            with self._locked():
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
    ) -> CommitRecord:
        """Make the staged version the table. `kept` are files of the current version that stay in it.

        Raises:
            Conflict: somebody else committed to the table since `expected` was read.
        """
        with self._locked():
            current = self.current()
            if (current and current.id) != (expected and expected.id):
                raise Conflict(
                    f"{self.path} was changed by another job ({current.job if current else 'removed'}) meanwhile.",
                    hint="Nothing of this one was kept; run it again.",
                )
            published = self._complete(Path(staging), record, current, kept)
            self._switch(Path(staging))
        return published

    def sweep(self) -> None:
        """Remove what killed jobs left behind; finish what one had published but not tidied up."""
        with self._locked():
            self._sweep_all()

    def _sweep_all(self) -> None:
        for left in self.path.parent.glob(f".{self.path.name}.making-*"):
            shutil.rmtree(left)  # whoever makes one holds the table's lock: this one's maker was killed
        for left in self.path.parent.glob(f".{self.path.name}.mason-*"):
            if left.is_dir():
                self._sweep(left)

    def _sweep(self, left: Path) -> None:
        if not (left / _OWNER).exists():
            if self._was_table(left):
                self._keep(left)
            else:
                shutil.rmtree(left)
            return
        with open(left / _OWNER) as owner, contextlib.suppress(BlockingIOError):
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left)

    def _was_table(self, left: Path) -> bool:
        """Whether a folder without an owner was exchanged already: what is in it then is not of its own job."""
        job = left.name.rpartition("-")[2]
        own = (f"{_COMMITS}/*-{job}.json", f"{OWN_FOLDER}/quarantine/{job}-*", f"part-{job}-*", f"*=*/**/part-{job}-*")
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
        place = staging / completed.place
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(completed.to_dict(), indent=1))
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
        """Move a former version below the table, with those that it had kept itself."""
        kept = self.path / OWN_FOLDER / "kept"
        kept.mkdir(parents=True, exist_ok=True)
        for earlier in (old / OWN_FOLDER / "kept").glob("*"):
            earlier.rename(kept / earlier.name)
        old.rename(kept / old.name.rpartition("-")[2])

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self.path.with_name(f".{self.path.name}.mason-lock"), "w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def _sync_tree(folder: Path) -> None:
    """Make all that is in a folder survive a power cut, before anybody is pointed to it."""
    for place, _, files in os.walk(folder):
        for name in files:
            with open(Path(place) / name, "rb") as file:
                os.fsync(file.fileno())
        sync_folder(Path(place))
