"""The paths that a step reads and writes, on whichever storage, and by what one knows that they were changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.location import Location
from mason.operators.operator_definition import DataOperator
from mason.operators.operator_spec import OperatorSpec
from mason.operators.runner import PreparedOperator
from mason.pipeline.storage.address import abilities_of, open_filesystem, open_objects
from mason.util.redaction import hide_secrets

NOT_THERE = "not there"
_CHUNK = 1024 * 1024


@dataclass(frozen=True)
class StepPath(Location):
    """A place that a step reads or writes."""

    @classmethod
    def of(cls, text: str, config: ValidConfig) -> StepPath:
        """Return what a text stands for that `str` has made of a path."""
        return cls.at(config.location(text)) if "://" in text else cls(text)

    @classmethod
    def at(cls, location: Location) -> StepPath:
        """Return a place as one of a step."""
        return cls(location.path, location.storage)

    def exists(self) -> bool:
        """Say whether there is a file or a folder."""
        if abilities_of(self.storage).opens_paths:
            return Path(self.path).exists()
        from mason.pipeline.storage.file_stamp import file_stamp

        if any(True for _ in open_objects(self.storage).below(self.path)):  # the first says it: there may be millions
            return True
        return file_stamp(open_filesystem(self.storage), self.path) is not None

    def is_whole(self) -> bool:
        """Say whether what was written there still is: a file or a folder, and of a table each of its files."""
        from mason.pipeline.tables.commit import DamagedRecord, open_table
        from mason.pipeline.tables.room import DATA

        if not self.exists():
            return False
        try:
            commit = open_table(self).current()
        except DamagedRecord:  # nobody knows any more which files are the table's
            return False
        if commit is None:
            return True
        if abilities_of(self.storage).opens_paths:
            return all(Path(each.place_in(self.path)).exists() for each in commit.files)
        objects, table = open_objects(self.storage), open_table(self)
        there = {each.path for folder in (self.path, f"{table.room}/{DATA}") for each in objects.below(folder)}
        return all(each.place_in(self.path.rstrip("/")) in there for each in commit.files)

    def fingerprint(self) -> str:
        """Return what tells the files at the path from any other, without reading them.

        On a disk it is names, sizes, and times of change. The time of the last change of a file's record (ctime) is
        among them: an edit that keeps the size and sets the old modification time back is noticed.
        """
        if not abilities_of(self.storage).opens_paths:
            return self._stamp_of_object()
        found = sorted((name, os.stat(file)) for name, file in _files(self.path))  # noqa: PTH116
        return _digest(f"{name}\0{at.st_size}\0{at.st_mtime_ns}\0{at.st_ctime_ns}" for name, at in found)

    def content_digest(self) -> str:
        """Return a digest of the content of a file, or of all files in a folder with their names."""
        if not abilities_of(self.storage).opens_paths:
            return self._stamp_of_object() if self.exists() else NOT_THERE
        place = Path(self.path)
        if place.is_file():
            return _file_digest(self.path)
        if not place.is_dir():
            return NOT_THERE
        return _digest(f"{name}\0{_file_digest(file)}" for name, file in sorted(_files(self.path)))

    def _stamp_of_object(self) -> str:
        """What an object store says: a table's commit, or else the tag that it has for every content."""
        from mason.pipeline.storage.file_stamp import file_stamp
        from mason.pipeline.tables.commit import DamagedRecord, open_table

        with suppress(DamagedRecord):
            if commit := open_table(self).current():
                return _digest([f"commit\0{commit.id}"])
        found = sorted((each.path, each.size, each.tag) for each in open_objects(self.storage).below(self.path))
        if not found and (stamp := file_stamp(open_filesystem(self.storage), self.path)):
            found = [(self.path, stamp.size, str(stamp.number))]
        return _digest("\0".join(map(str, each)) for each in found)


def step_paths(prepared: PreparedOperator, spec: OperatorSpec) -> tuple[list[StepPath], list[StepPath]]:
    """Return the paths that a step is going to read, and those that it is going to write."""
    with hide_secrets(prepared.response.redactor):
        inputs, outputs = _find_paths(prepared, spec)
        # Only the operator knows that it changes what looks like an input. That the files are others after the step
        # than before it would not show it: somebody else may have changed them meanwhile, and that is for a resume to
        # notice.
        changed = prepared.operator.changed_paths(prepared.config, prepared.parameters)
    return inputs, list(dict.fromkeys([*outputs, *(StepPath.at(prepared.config.location(each)) for each in changed)]))


def foreseen_paths(prepared: PreparedOperator, spec: OperatorSpec) -> tuple[list[StepPath], list[StepPath]] | None:
    """Return the paths of a step that does not run yet; nothing where they cannot be known.

    Its author's code is asked, which may raise whatever it likes, secrets included. That is for the step to say when it
    is planned or run: its response knows what to hide.
    """
    try:
        return step_paths(prepared, spec)
    except (Exception, SystemExit):  # noqa: BLE001 (the author's code)
        return None


def places_of(path: str) -> Iterator[str]:
    """Yield a path, and the folders that it lies in, from the inside out."""
    while path := path.rstrip("/"):
        yield path
        path = path.rpartition("/")[0]


def _find_paths(prepared: PreparedOperator, spec: OperatorSpec) -> tuple[list[StepPath], list[StepPath]]:
    """Return what the job of a step says, or else the names of its parameters."""
    if isinstance(prepared.operator, DataOperator):
        job = prepared.operator.job(prepared.config, prepared.parameters)
        return [*map(StepPath.at, job.places_read)], [*map(StepPath.at, job.places_written)]
    names = [each.name for each in spec.parameters.all if each.type == "path"]
    given = {name: str(value) for name in names if (value := prepared.parameters.values.get(name))}
    placed = {name: StepPath.at(prepared.config.location(value)) for name, value in given.items()}
    written = [name for name in placed if name.startswith("output")]
    return [path for name, path in placed.items() if name not in written], [placed[name] for name in written]


def _files(path: str) -> Iterator[tuple[str, str]]:
    """Yield the files at a path, each with its name there and its own path."""
    if os.path.isfile(path):  # noqa: PTH113
        yield os.path.basename(path), path  # noqa: PTH119
    base = path.rstrip("/") + "/"
    yield from ((file.removeprefix(base), file) for file in _walk(base))


def _walk(folder: str, above: frozenset[tuple[int, int]] = frozenset()) -> Iterator[str]:
    """Yield the files below a folder. Links are followed, as by those who read the data; one may lead back up."""
    try:
        here = os.stat(folder)  # noqa: PTH116
        entries = list(os.scandir(folder))
    except OSError:  # it is gone, or nobody may look into it
        return
    identity = (here.st_dev, here.st_ino)
    if identity in above:
        return
    for entry in entries:
        if entry.is_file():  # what is none, such as a pipe, might never end
            yield entry.path
        elif entry.is_dir():
            yield from _walk(f"{entry.path}/", above | {identity})


def _digest(lines: Iterable[str]) -> str:
    total = hashlib.sha256()
    for line in lines:
        total.update(f"{line}\n".encode(errors="replace"))
    return total.hexdigest()


def _file_digest(file: str) -> str:
    total = hashlib.sha256()
    with open(file, "rb") as handle:
        while chunk := handle.read(_CHUNK):
            total.update(chunk)
    return total.hexdigest()
