"""Which files are a table's data, and what their folders say of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import pyarrow.fs as pafs

from mason.engines.metastore.models.partition import NULL_PARTITION, Partition
from mason.engines.storage.models.location import Location
from mason.errors import Forbidden, PathNotFound, Unprocessable, UnreadableFile
from mason.pipeline.storage.address import abilities_of_files, explain_error, open_filesystem, scheme_of
from mason.pipeline.storage.confined_disks import ConfinedDisks
from mason.pipeline.storage.format_names import format_of_name, is_data
from mason.util.confinement import is_home, require_below

Identity = tuple[int, int] | None
"""Which file it is, under whatever name; a store tells nothing of the kind."""

_LOGS = {"_delta_log": "Delta", ".hoodie": "Hudi"}


class OtherTableFormat(Unprocessable):
    """Raised when a folder is a table whose rows are not simply those of its files. 422 · exit 1"""

    def __init__(self, path: str, name: str) -> None:
        super().__init__(
            f"{path} is a table of {name}: its files hold rows that were deleted or replaced, too.",
            hint=f"Mason does not read {name} yet: write its rows to plain files with a tool that does.",
        )


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A file with data. `name` is its path below the table's path; `partition` is what its `k=v` folders say."""

    path: str
    name: str
    size: int
    partition: Mapping[str, str | None] = field(default_factory=dict)
    links: Sequence[str] = ()
    """Other names of the same file among those that were listed: its rows count once."""
    archive: str = ""
    """The path of the archive that it is a member of."""


def list_files(filesystem: pafs.FileSystem, path: str, *, strict: bool = False) -> list[DataFile]:
    """Return the data files at a path, which is a file or a folder, in sorted order.

    Hidden files, and names that begin with `_`, are no data, at any depth below the path. Where links make one file
    several, in the same partition, it is there once.

    Raises:
        PathNotFound: there is nothing at that path.
        Forbidden: a folder may not be listed.
        OtherTableFormat: a table of Delta, Iceberg or Hudi is among them, whose files do not say what is in it.
        UnreadableFile: a file's name is not UTF-8, or has an empty part; if `strict`, what is named like data is none.
        BadPath: a link among them leads out of the folders that may be used.
        ClientFailed: the storage fails.
    """
    try:
        return _list_files(filesystem, path, strict)
    except PermissionError as error:
        raise Forbidden(f'"{error.filename or path}" may not be listed: permission denied.') from error
    except FileNotFoundError as error:
        raise _not_found(filesystem, path) from error
    except OSError as error:
        raise explain_error(filesystem, path, error) from error


def is_file(location: Location) -> bool:
    """Say whether there is a file at a place, and no folder.

    Raises:
        ClientFailed: the storage fails.
    """
    filesystem = open_filesystem(location.storage)
    try:
        return bool(filesystem.get_file_info(location.path).is_file)
    except OSError as error:
        raise explain_error(filesystem, location.path, error) from error


def describe_links(file: DataFile) -> str:
    """Return the warning for a file that has several names."""
    names = ", ".join(file.links[:3]) + (f" and {len(file.links) - 3:,} more" if len(file.links) > 3 else "")
    return f"{file.name}: {names} {'is' if len(file.links) == 1 else 'are'} the same file by a link; it is read once."


def require_inside(filesystem: pafs.FileSystem, path: str) -> None:
    """Check that links on the way to a path do not lead out of the folders that may be used.

    Raises:
        BadPath: they do.
    """
    if isinstance(filesystem, ConfinedDisks):
        require_below(path, filesystem.roots, path)


def without_strangers(files: Sequence[DataFile]) -> tuple[list[DataFile], list[DataFile]]:
    """Return the files that belong to a table, and those that merely lie beside them.

    Where some names end as data do (`.csv`), one that ends otherwise (`README.md`) is a stranger. A name without an
    ending counts: many programs write `part-00000`.
    """
    if not any(format_of_name(file.name) for file in files):
        return list(files), []
    belong: list[DataFile] = []
    strangers: list[DataFile] = []
    for file in files:
        (belong if _may_be_data(file.name) else strangers).append(file)
    return belong, strangers


def _may_be_data(name: str) -> bool:
    return bool(format_of_name(name)) or not PurePosixPath(name).suffix


def partitions_of(files: Sequence[DataFile]) -> list[Partition]:
    """Return the Hive-style partitions that files are in, in their order."""
    found: dict[str, Partition] = {}
    for file in files:
        if file.partition:
            folder = _partition_folder(file)
            found.setdefault(folder, Partition(file.partition, folder))
    return list(found.values())


def make_folder(filesystem: pafs.FileSystem, path: str, *, recursive: bool = True) -> None:
    """Make a folder, unless the storage has none: on an object store a name with slashes is enough."""
    if abilities_of_files(filesystem).has_folders:
        filesystem.create_dir(path, recursive=recursive)


def partition_of(folder: str) -> Mapping[str, str | None]:
    """Return what the `key=value` parts of a folder's path say."""
    values: dict[str, str | None] = {}
    for part in folder.split("/"):
        key, equals, value = part.partition("=")
        if equals and key:
            values[unquote(key)] = None if value == NULL_PARTITION else unquote(value)
    return values


def _list_files(filesystem: pafs.FileSystem, path: str, strict: bool) -> list[DataFile]:
    local = abilities_of_files(filesystem).is_near
    if local or format_of_name(path):  # on an object store this question costs as much as a page of the listing
        root = filesystem.get_file_info(path)
        if root.type == pafs.FileType.NotFound:
            raise _not_found(filesystem, path)
        if root.type == pafs.FileType.File:
            return [DataFile(path=root.path, name=root.base_name, size=root.size)]
    base = path.rstrip("/") + "/"
    partitions: dict[str, Mapping[str, str | None]] = {}
    files = []
    identities: dict[str, Identity] = {}
    roots = filesystem.roots if isinstance(filesystem, ConfinedDisks) else ()
    objects = [] if local else _objects(filesystem, base)
    if not local and not objects:
        return _single_object(filesystem, path)
    for where, size, identity in _walk_local(base, roots, strict=strict) if local else objects:
        name = where.removeprefix(base)
        _check_format(path, where, name)
        if is_data(name):
            if "" in name.split("/"):  # only a store without folders can have such a key
                reason = "there is an empty part (//) in its key, which tools take for different things."
                raise UnreadableFile(where, reason, hint="Give it another one.")
            folder = name.rpartition("/")[0]
            if folder not in partitions:
                partitions[folder] = partition_of(folder)
            files.append(DataFile(path=where, name=name, size=size, partition=partitions[folder]))
            identities[name] = identity
    return _without_links(sorted(files, key=lambda file: file.name), identities)


def _without_links(files: Sequence[DataFile], identities: Mapping[str, Identity]) -> list[DataFile]:
    """Leave each file its first name, and note the others. In another partition the same file makes other rows."""
    names: dict[object, list[str]] = {}
    for file in files:
        identity = identities[file.name]
        key = (identity, tuple(file.partition.items())) if identity else file.name
        names.setdefault(key, []).append(file.name)
    if len(names) == len(files):
        return list(files)
    others = {first: rest for first, *rest in names.values()}
    return [replace(file, links=others[file.name]) for file in files if file.name in others]


def _check_format(root: str, path: str, name: str) -> None:
    """Refuse what only looks like plain files: a log beside them says which of their rows count.

    Raises:
        OtherTableFormat: it is such a table.
    """
    parts = name.split("/")
    found = next(((number, _LOGS[part]) for number, part in enumerate(parts[:-1]) if part in _LOGS), None)
    if not found and parts[-2:-1] == ["metadata"] and name.endswith(".metadata.json"):
        found = (len(parts) - 2, "Iceberg")
    if found:
        table = "/".join([root.rstrip("/"), *parts[: found[0]]])
        raise OtherTableFormat(table, found[1])


def _objects(filesystem: pafs.FileSystem, base: str) -> list[tuple[str, int, Identity]]:
    """Paths and sizes of all files below a folder, in one call: on an object store each further call costs."""
    everything = pafs.FileSelector(base.rstrip("/"), allow_not_found=True, recursive=True)
    found = filesystem.get_file_info(everything)
    return [(info.path, info.size, None) for info in found if info.type == pafs.FileType.File]


def _single_object(filesystem: pafs.FileSystem, path: str) -> list[DataFile]:
    """The object of that very path; nothing in a bucket that is empty. A folder is there as long as it has objects."""
    found = filesystem.get_file_info(path)
    if found.type == pafs.FileType.File:
        return [DataFile(path=found.path, name=found.base_name, size=found.size)]
    if found.type == pafs.FileType.NotFound or "/" in path.strip("/"):
        raise _not_found(filesystem, path)
    return []


def _not_found(filesystem: pafs.FileSystem, path: str) -> PathNotFound:
    return PathNotFound(path if abilities_of_files(filesystem).opens_paths else f"{scheme_of(filesystem)}://{path}")


def _walk_local(
    folder: str, roots: Sequence[str], above: frozenset[tuple[int, int]] = frozenset(), *, strict: bool
) -> Iterator[tuple[str, int, Identity]]:
    """The same on local disks, where a link may lead back to a folder above or out of the roots, if there are any."""
    here = Path(folder).stat()
    identity = (here.st_dev, here.st_ino)
    if identity in above:
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if roots and entry.is_symlink() and is_data(entry.name):
                require_below(entry.path, roots, entry.path)
            if entry.is_file():
                _check_name(entry.path)  # it need not be UTF-8
                found = entry.stat()
                yield entry.path, found.st_size, (found.st_dev, found.st_ino)
            elif entry.is_dir():
                if entry.name in _LOGS:
                    raise OtherTableFormat(folder.rstrip("/"), _LOGS[entry.name])
                if is_data(f"{entry.name}/x") and not (roots and is_home(entry.path)):
                    yield from _walk_local(f"{entry.path}/", roots, above | {identity}, strict=strict)
            elif strict and is_data(entry.name) and _may_be_data(entry.name):
                kind = "a link to nothing" if entry.is_symlink() else "neither a file nor a folder"
                raise UnreadableFile(entry.path, f"it is {kind}.", hint="Remove it, or mend it.")


def _check_name(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        name = os.fsencode(path).decode(errors="backslashreplace")
        raise UnreadableFile(name, "its name is not valid UTF-8: give it another one.") from error


def _partition_folder(file: DataFile) -> str:
    """The deepest `key=value` folder: what lies below it is one partition's files."""
    parts = file.path.split("/")
    top = len(parts) - file.name.count("/") - 1
    deepest = max(index for index in range(top, len(parts) - 1) if "=" in parts[index])
    return "/".join(parts[: deepest + 1])
