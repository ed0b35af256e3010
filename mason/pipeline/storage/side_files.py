"""Files that Mason writes beside tables because a parameter names them: a page, an export.

The state keeps the digest of each. A file that is there and has another is somebody else's, or was edited since, and is
not replaced unless the caller says so.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from mason.errors import AlreadyExists, BadPath, Conflict
from mason.state.home import open_state, read_state
from mason.state.models import Record, RecordKind
from mason.state.store import StateStore
from mason.util.atomic_file import write_file, write_new_file
from mason.util.environment import MasonEnvironment

_WRITTEN = "written"
_CLAIM_SECONDS = 60.0
_CHUNK = 1024 * 1024


def check_side_file(path: str, *, overwrite: bool) -> None:
    """See that a file can be written: nothing is there, or what Mason wrote, or a file that may be replaced.

    Raises:
        BadPath: what is there is no plain file.
        AlreadyExists: what is there is not Mason's, and `overwrite` is false.
    """
    _check(read_state(MasonEnvironment.of()), Path(path), overwrite=overwrite)


def write_side_file(path: str, content: bytes, *, overwrite: bool) -> None:
    """Write a file; whoever reads it meanwhile sees the old one or the new one.

    The new digest is kept before the file is replaced, beside that of the old one: whenever this process is killed, the
    file that is there is known.

    Raises:
        BadPath: what is there is no plain file.
        OSError: it cannot be written.
        AlreadyExists: what is there is not Mason's, and `overwrite` is false.
        Conflict: another process writes the same file, and takes long.
    """
    store, file = open_state(MasonEnvironment.of()), Path(path)
    with _claim_file(store, file):
        known = _check(store, file, overwrite=overwrite)
        is_new = not os.path.lexists(file)
        before = {} if is_new else _stamp(file)
        _keep(store, known, file, {**_stamp_of(content), "Before": before})
        try:
            # What somebody else puts there in this moment stays: a new file takes no other's place.
            (write_new_file if is_new else write_file)(file, content)
        except FileExistsError as error:
            raise _foreign(file) from error


def is_side_file(path: str) -> bool:
    """Say whether the file at a path is one that Mason wrote, and unchanged."""
    found = read_state(MasonEnvironment.of()).get_record(RecordKind.FILE, _id(Path(path)))
    return found is not None and _is_ours(found, Path(path))


def _check(store: StateStore, file: Path, *, overwrite: bool) -> Record | None:
    """Return what is known of a file that can be written."""
    known = store.get_record(RecordKind.FILE, _id(file))
    if not os.path.lexists(file):
        return known
    if not stat.S_ISREG(file.lstat().st_mode):
        kind = "a link" if file.is_symlink() else "a folder" if file.is_dir() else "no plain file"
        raise BadPath(f"{file} cannot be written: it is {kind}.", hint="Choose another name.")
    if not overwrite and not (known and _is_ours(known, file)):
        raise _foreign(file)
    return known


def _foreign(file: Path) -> AlreadyExists:
    return AlreadyExists(
        f"{file} exists, and Mason did not write it, or it was changed since.",
        hint="Choose another name, or replace it with overwrite:true.",
    )


def _is_ours(known: Record, file: Path) -> bool:
    """Say whether a file is as it was written last, or as it was before a write that was cut short."""
    stamps = [known.document, known.document.get("Before") or {}]
    sizes = {each["Bytes"] for each in stamps if each}
    # Of a file of another size nobody need know more: it may be large.
    return file.is_file() and file.stat().st_size in sizes and _digest(file) in {each.get("Digest") for each in stamps}


def _keep(store: StateStore, known: Record | None, file: Path, document: Mapping[str, Any]) -> None:
    if known is None:
        store.add_record(RecordKind.FILE, _id(file), _WRITTEN, document)
    else:
        store.update_record(known, _WRITTEN, document)


@contextmanager
def _claim_file(store: StateStore, file: Path) -> Iterator[None]:
    """Have a file to oneself: of two who write it at once, one would not know what the other wrote."""
    name, owner, end = RecordKind.FILE.lease(_id(file)), uuid4().hex, time.monotonic() + _CLAIM_SECONDS
    while (lease := store.acquire_lease(name, owner, _CLAIM_SECONDS)) is None:
        if time.monotonic() > end:
            raise Conflict(f"{file} is being written by another process.", hint="Try again.")
        time.sleep(0.05)
    try:
        yield
    finally:
        store.release_lease(lease)


def _id(file: Path) -> str:
    """A file has one record, whichever links lead to its folder."""
    return str(file.parent.resolve() / file.name)


def _stamp(file: Path) -> Mapping[str, Any]:
    return {"Digest": _digest(file), "Bytes": file.stat().st_size}


def _stamp_of(content: bytes) -> Mapping[str, Any]:
    return {"Digest": hashlib.sha256(content).hexdigest(), "Bytes": len(content)}


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with open(file, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
