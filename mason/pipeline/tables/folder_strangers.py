"""What lies in the folder of a table on a disk besides Mason's own files: found, and never lost by an exchange.

A file of somebody else gets a second name in the next version before the folders are exchanged, so that it is there at
every moment. What is written in that very moment is brought back from the former version afterwards; a command that is
killed before it could do that is finished by the next one.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mason.errors import Conflict, Forbidden
from mason.pipeline.tables.commit import ADOPTED, WRITTEN_UNTIL, CommitRecord, CommittedFile
from mason.pipeline.tables.foreign_files import START_BYTES, Strangers, list_names
from mason.pipeline.tables.room import ROOMS, kept_name
from mason.util.atomic_file import sync_folder

LOG = logging.getLogger("mason.pipeline")


def own_files(folder: Path, record: CommitRecord | None) -> Mapping[str, CommittedFile]:
    """Return the files of a version by their paths below its folder, those of tables below it included.

    A table below may have versions of its own since it was made: what its newest one has is Mason's, too.
    """
    if record is None:
        return {}
    found = _files_of_commit(record)
    for child in record.child_folders:
        found |= {f"{child}/{each.path}": each for each in _newest_files(folder / child)}
    return found


def _files_of_commit(record: CommitRecord) -> dict[str, CommittedFile]:
    """The files that a commit has made, by their paths below its folder."""
    found = {each.path: each for each in record.files}
    for child in record.details.get("tables", {}).values():
        found |= {f"{child['folder']}/{each['path']}": CommittedFile(**each) for each in child["files"]}
    return found


def find_strangers(folder: Path, record: CommitRecord | None) -> Strangers:
    """Return what lies in a version's folder that is not Mason's.

    Raises:
        Forbidden: a folder of somebody else's may not be listed.
    """
    return Strangers.of(stranger_names(folder, record), lambda name: _read_start(folder / name))


def stranger_names(folder: Path, record: CommitRecord | None) -> Iterator[str]:
    """Yield the paths of what is not Mason's; those of folders without files end with a slash.

    Raises:
        Forbidden: a folder may not be listed.
    """
    own = own_files(folder, record)
    folders = {str(parent) for name in own for parent in Path(name).parents}
    hidden = {ROOMS} if record and record.child_folders else set[str]()
    for name in _walk(folder, "", hidden):
        if name not in own and name.rstrip("/") not in folders:
            yield name


def find_changed_files(
    folder: Path, record: CommitRecord, place: Path, *, is_former: bool = False
) -> dict[str, tuple[int, int]]:
    """Return the files of a version that others have written over, with the sizes that they have and had.

    `place` is the file of its record; the files of a former version have the names under which they are kept.

    They have another size than the commit says, or were written after it. The latter cannot be told where the times
    are those of a copy, which nobody has kept the times of: then its record has another one than it says itself.
    """
    until = record.details.get(WRITTEN_UNTIL, -1)
    timed = _files_of_commit(record) if place.exists() and place.stat().st_mtime_ns == until else {}
    found: dict[str, tuple[int, int]] = {}
    for name, each in own_files(folder, record).items():
        try:
            now = (folder / (kept_name(name) if is_former else name)).stat()
        except FileNotFoundError:
            continue
        if now.st_size != each.bytes or (name in timed and now.st_mtime_ns > until):
            found[name] = (now.st_size, each.bytes)
    return found


def time_of_last_write(folder: Path, record: CommitRecord) -> int:
    """Return when the last file of a version was written, by the clock of its disk, in nanoseconds."""
    return max(((folder / name).stat().st_mtime_ns for name in _files_of_commit(record)), default=0)


def carry(folder: Path, staging: Path, names: Iterable[str]) -> None:
    """Give files of others a second name in the next version.

    Raises:
        Forbidden: one can be given none, nor be moved.
        Conflict: the next version has something of that name itself.
    """
    folders = set[Path]()
    for name in names:
        source, target = folder / name, staging / name
        try:
            _make_folder(target if name.endswith("/") else target.parent)
            if not name.endswith("/"):
                _link(source, target)
        except (FileExistsError, NotADirectoryError) as error:
            raise Conflict(f"{source} is in the way of a file of the next version.", hint="Move it away.") from error
        folders.update(staging / parent for parent in Path(name).parents)
    for each in folders:
        sync_folder(each)


def bring_back(former: Path, table: Path, before: CommitRecord | None, after: CommitRecord) -> None:
    """Leave nothing of others in a former version's folder: what was not carried into the table is moved there now.

    What the next version has taken for rows of its own stays with the former one.
    """
    own, adopted = own_files(table, after), after.details.get(ADOPTED, {})
    stays: list[str] = []
    for name in list(stranger_names(former, before)):
        if name in adopted:
            continue
        if name in own:
            stays.append(name)
        elif name.endswith("/"):
            _make_folder(table / name)
            (former / name).rmdir()
        else:
            _bring_back(former / name, table / name)
    if stays:
        LOG.warning("%s has files of the same names as these, which stay in %s: %s.", table, former, list_names(stays))


def _bring_back(source: Path, target: Path) -> None:
    """Of two files of one name the newer is in the table: one was written while the folders were exchanged."""
    _make_folder(target.parent)
    there = target.lstat() if os.path.lexists(target) else None
    found = source.lstat()
    if there is None or (there.st_ino != found.st_ino and found.st_mtime_ns > there.st_mtime_ns):
        source.rename(target)
        sync_folder(target.parent)
    else:
        source.unlink()


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise
    except PermissionError as error:
        # Linux lets nobody link a file of somebody else's that he may not write. It is moved after the exchange.
        if not os.access(source.parent, os.W_OK | os.X_OK):
            told = f"{source} belongs to somebody else, and cannot be carried into the next version of the table."
            raise Forbidden(told, hint="Move it away, or give write access to its folder.") from error


def _make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


def _newest_files(child: Path) -> Iterable[CommittedFile]:
    from mason.pipeline.tables.folder import TableFolder  # it imports this module

    record = TableFolder(str(child)).current()
    return record.files if record else ()


def _walk(folder: Path, below: str, hidden: set[str]) -> Iterator[str]:
    """The files below a folder, links as what they are, and folders in which there is nothing."""
    empty = True
    try:
        with os.scandir(folder / below) as entries:
            for entry in entries:
                empty = False
                name = f"{below}{entry.name}"
                if name in hidden:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    yield from _walk(folder, f"{name}/", hidden)
                else:
                    yield name
    except FileNotFoundError:  # it was removed since its name was read
        return
    except PermissionError as error:
        raise Forbidden(f"{folder / below} may not be listed: permission denied.") from error
    if empty and below:
        yield below


def _read_start(file: Path) -> bytes:
    """The first bytes of a file; none of what is no file. One that nobody may read is no data for anybody either."""
    if not file.is_file():
        return b""
    try:
        with open(file, "rb") as stream:
            return stream.read(START_BYTES)
    except (PermissionError, FileNotFoundError):
        return b""
