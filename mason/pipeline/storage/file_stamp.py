"""By what a file is known again: if it was changed or replaced, it has another stamp."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import Unsupported
from mason.pipeline.storage.address import abilities_of_files
from mason.pipeline.storage.object_store import TaggedFiles


@dataclass(frozen=True)
class FileStamp:
    """The size of a file, and a number that is another one for another content."""

    size: int
    number: int


def file_stamp(filesystem: pafs.FileSystem, path: str) -> FileStamp | None:
    """Return the stamp of a file; none where there is no such file.

    On a disk it is the time of the last change, in nanoseconds. An object store counts that in seconds, too few to tell
    a file from one that takes its place at once; but it has a tag for every content.
    """
    if abilities_of_files(filesystem).opens_paths:
        info = filesystem.get_file_info(path)
        return FileStamp(info.size, info.mtime_ns or 0) if info.type == pafs.FileType.File else None
    own = filesystem.handler if isinstance(filesystem, pafs.PyFileSystem) else filesystem
    try:
        if isinstance(own, TaggedFiles):
            return stamp_of_tag(*own.size_and_tag(path))
        with filesystem.open_input_file(path) as file:
            return stamp_of(file)
    except FileNotFoundError:
        return None


def stamp_of(opened: pa.NativeFile) -> FileStamp:
    """Return the stamp of an object that was opened.

    Raises:
        Unsupported: the store says nothing by which the object could be known again.
    """
    return FileStamp(opened.size(), _number(opened.metadata() or {}))


def stamp_of_tag(size: int, tag: str) -> FileStamp:
    """Return the stamp of an object of which a listing says the size and the tag."""
    return FileStamp(size, _hash_tag(tag.encode()))


def _number(metadata: Mapping[str, bytes]) -> int:
    tag = metadata.get("ETag") or metadata.get("Last-Modified")
    if not tag:
        raise Unsupported(
            "The store gives neither ETag nor Last-Modified of an object: a change of it would not be noticed."
        )
    return _hash_tag(tag)


def _hash_tag(tag: bytes) -> int:
    return int.from_bytes(hashlib.sha256(tag).digest()[:7])
