"""Zip archives: their members are files of a table, as if the archive were a folder.

`orders.zip` with `may.csv` in it is the file `orders.zip/may.csv`. Nothing is unpacked to a disk under a name that an
archive gives. A member is read from its start to its end; where a format needs to go back and forth in it, as Parquet
does, it is unpacked to memory or to a file without a name.
"""

from __future__ import annotations

import io
import lzma
import re
import stat
import struct
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, pairwise
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.storage.address import abilities_of_files
from mason.pipeline.storage.blocks import open_bytes, translate_read_errors
from mason.pipeline.storage.file_stamp import FileStamp, file_stamp
from mason.pipeline.storage.files import DataFile, describe_links, partition_of
from mason.pipeline.storage.format_names import is_archive, is_data
from mason.pipeline.storage.object_store import StreamingFiles

MOST_UNPACKED = 1024 * 1024 * 1024
"""From here on an archive may not unpack to more than `MOST_TIMES` what it has."""
MOST_TIMES = 200
_IN_MEMORY = 64 * 1024 * 1024
_BUFFER = 256 * 1024
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_ENCRYPTED = 0x1
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # before each member; its last two numbers say how long name and extras are
_LOCAL_MARK = b"PK\x03\x04"
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, ValueError)
_ODD_NAME = re.compile(r"^/|\\|^[A-Za-z]:|(^|/)\.{0,2}(/|$)|[\x00-\x1f]").search
_UNPACK = "Unpack it, and merge the files."


@dataclass(frozen=True)
class Expanded:
    """Files of which archives are replaced by their members, and what is to be said of archives."""

    files: Sequence[DataFile]
    problems: Mapping[str, UnreadableFile] = field(default_factory=dict)
    """Archives that cannot be read."""
    notes: Sequence[tuple[str, str]] = ()
    """Names of archives, with what is odd about each."""


def expand_archives(filesystem: pafs.FileSystem, files: Sequence[DataFile]) -> Expanded:
    """Return the files, with the members of archives for these; an archive that cannot be read is a problem."""
    if not any(is_archive(file.name) for file in files):
        return Expanded(files)
    found: list[DataFile] = []
    problems: dict[str, UnreadableFile] = {}
    notes: list[tuple[str, str]] = []
    for file in files:
        if not is_archive(file.name):
            found.append(file)
            continue
        try:
            members = _list_members(filesystem, file)
        except UnreadableFile as error:
            problems[file.name] = error
            continue
        found += members
        notes += [(file.name, "there are no data files in it")] if not members else []
        notes += [(file.name, describe_links(file).removeprefix(f"{file.name}: ").rstrip("."))] if file.links else []
    return Expanded(found, problems, notes)


def find_bomb(members: Sequence[zipfile.ZipInfo]) -> str:
    """Return why members are not to be unpacked, if they become far too much; else nothing."""
    unpacked, packed = sum(each.file_size for each in members), sum(each.compress_size for each in members)
    is_bomb = unpacked > MOST_UNPACKED and unpacked > MOST_TIMES * packed
    return f"its {packed:,} bytes would unpack to {unpacked:,}, which no data do." if is_bomb else ""


def inside(filesystem: pafs.FileSystem, archive: str) -> Any:
    """Return what files are read from: the members of an archive, where there is one, else the file system itself."""
    return ArchiveMembers(filesystem, archive) if archive else filesystem


def stamp_of_file(filesystem: pafs.FileSystem, path: str, archive: str, size: int) -> FileStamp | None:
    """Return the stamp of a file; that of a member is the archive's, beside a size of its own."""
    if not archive:
        return file_stamp(filesystem, path)
    found = file_stamp(filesystem, archive)
    return found and FileStamp(size, found.number)


class ArchiveMembers:
    """The members of an archive as the files of a file system that can only be read."""

    type_name = "zip"

    def __init__(self, filesystem: pafs.FileSystem, archive: str) -> None:
        self._filesystem, self._archive = filesystem, archive

    def open_range(self, path: str, offset: int = 0, length: int | None = None) -> io.RawIOBase:
        """Open a member, to be read from its start to its end; no part of it can be read alone."""
        assert not offset and length is None
        return _MemberStream(self._filesystem, self._archive, path.removeprefix(f"{self._archive}/"))

    def open_input_stream(self, path: str, compression: str | None = None, buffer_size: int = 0) -> IO[bytes]:
        """Open a member as Arrow's file systems do."""
        return io.BufferedReader(self.open_range(path), buffer_size or _BUFFER)

    def open_input_file(self, path: str) -> pa.NativeFile:
        """Open a member for who goes back and forth in it."""
        # The caller closes it, and with it the file that has no name.
        unpacked = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        with self.open_input_stream(path) as member:
            while piece := member.read(_BUFFER):
                unpacked.write(piece)
        unpacked.seek(0)
        return pa.PythonFile(unpacked, mode="r")

    def why_unreadable(self, path: str, error: OSError) -> str:
        """Return why a member cannot be read: since the archive cannot, or by what unpacking it says."""
        if isinstance(self._filesystem, StreamingFiles):
            return self._filesystem.why_unreadable(self._archive, error)
        return error.strerror or str(error)


class _MemberStream(io.RawIOBase):
    """The bytes of a member, held against its checksum; what is broken in an archive is an error of the disk's."""

    def __init__(self, filesystem: pafs.FileSystem, archive: str, member: str) -> None:
        stamp = file_stamp(filesystem, archive)
        if stamp is None:
            raise FileNotFoundError(archive)
        self._raw = _open_raw(filesystem, archive)
        try:
            info = _members_of(_Archive(archive, stamp, filesystem)).get(member)
            if info is None:
                raise FileNotFoundError(f"{archive}/{member}")
            self._raw.seek(info.header_offset)
            mark, name, extra = _LOCAL_HEADER.unpack(self._raw.read(_LOCAL_HEADER.size).ljust(_LOCAL_HEADER.size))
            if mark != _LOCAL_MARK:
                raise OSError("the archive is broken: its list of members says another place for it")
            self._raw.seek(info.header_offset + _LOCAL_HEADER.size + name + extra)
            self._member = zipfile.ZipExtFile(self._raw, "r", info)
        except BaseException:
            self._raw.close()
            raise

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        try:
            piece = self._member.read(len(view))
        except _BROKEN as error:
            raise OSError(f"the archive is broken: {error}") from error
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


@dataclass(frozen=True)
class _Archive:
    """One version of an archive, in whichever file system it was found."""

    path: str
    stamp: FileStamp
    filesystem: Any = field(compare=False)


@lru_cache(maxsize=8)
def _members_of(archive: _Archive) -> Mapping[str, zipfile.ZipInfo]:
    """The list of members; it is kept, since each of thousands of members asks for it."""
    with _open_raw(archive.filesystem, archive.path) as raw:
        try:
            with zipfile.ZipFile(raw) as opened:
                found = opened.infolist()
        except (*_BROKEN, struct.error, OverflowError) as error:
            raise OSError(f"it is not a zip archive, or a broken one: {error}") from error
    names = Counter(each.filename for each in found)
    if twice := next((name for name, times in names.items() if times > 1), ""):
        raise OSError(f'it has more than one member "{twice}"')
    return {each.filename: each for each in found}


def _open_raw(filesystem: pafs.FileSystem, archive: str) -> IO[bytes]:
    if abilities_of_files(filesystem).opens_paths:
        return cast(IO[bytes], open_bytes(filesystem, archive, buffer=_BUFFER))
    # Without a buffer each of the tiny pieces that a list of members is read in would be a request to the store.
    return io.BufferedReader(filesystem.open_input_file(archive), _BUFFER)


def _list_members(filesystem: pafs.FileSystem, file: DataFile) -> list[DataFile]:
    """The members that are data, by the rules for files below a folder."""
    with translate_read_errors(file, filesystem):
        stamp = file_stamp(filesystem, file.path)
        if stamp is None:
            raise FileNotFoundError(file.path)
        members = [
            each
            for each in _members_of(_Archive(file.path, stamp, filesystem)).values()
            if not each.filename.endswith("/")
        ]
    data = [each for each in members if is_data(each.filename)]
    odd = (f"its member {each.orig_filename!r} has a name that no file has." for each in members if _is_odd(each))
    if problem := next(chain(odd, _problems(data)), ""):
        raise UnreadableFile(file.name, problem, hint=_UNPACK)
    return [
        DataFile(
            path=f"{file.path}/{each.filename}",
            name=f"{file.name}/{each.filename}",
            size=each.file_size,
            partition={**file.partition, **partition_of(each.filename.rpartition("/")[0])},
            archive=file.path,
        )
        for each in sorted(data, key=lambda each: each.filename)
    ]


def _is_odd(member: zipfile.ZipInfo) -> bool:
    """Whether a name leads out of the folder that it is unpacked to, here or on another system."""
    return bool(_ODD_NAME(member.orig_filename))


def _problems(members: Sequence[zipfile.ZipInfo]) -> Iterator[str]:
    """Yield why an archive is not read."""
    for each in members:
        name = each.filename
        if each.flag_bits & _ENCRYPTED:
            yield f'its member "{name}" is encrypted.'
        if is_archive(name):
            yield f'its member "{name}" is an archive itself.'
        if stat.S_ISLNK(each.external_attr >> 16):
            yield f'its member "{name}" is a link.'
        if each.compress_type not in _METHODS:
            yield f'its member "{name}" is packed by method {each.compress_type}, which is not read.'
    if bomb := find_bomb(members):
        yield bomb
    by_place = sorted(members, key=lambda each: each.header_offset)
    for one, next_one in pairwise(by_place):
        if one.header_offset + _LOCAL_HEADER.size + one.compress_size > next_one.header_offset:
            yield f'its members "{one.filename}" and "{next_one.filename}" have bytes in common.'
