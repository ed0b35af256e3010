"""The records of a table on an object store: how they are named, completed and written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mason.pipeline.storage.object_store import ObjectStore, StoredObject
from mason.pipeline.tables.commit import CommitRecord, CommittedFile
from mason.pipeline.tables.room import QUARANTINE

if TYPE_CHECKING:
    from mason.pipeline.storage.file_stamp import FileStamp


def complete_record(
    store: ObjectStore,
    room: str,
    staging: str,
    record: CommitRecord,
    current: CommitRecord | None,
    kept: Sequence[CommittedFile],
) -> CommitRecord:
    """Return the record of what was staged, with what stays of the version before it."""
    home = staging.removeprefix(f"{room}/")
    files = [*kept, *(replace(each, home=f"{home}/{each.path}") for each in record.files)]
    staged = [each.path[len(staging) + 1 :] for each in store.below(staging) if not each.path.endswith("/")]
    data = {each.path for each in record.files}
    beside = {name: f"{home}/{name}" for name in staged if name not in data}
    carried = _quarantine(current) if current and record.adds else {}
    return replace(
        record,
        number=current.number + 1 if current else 1,
        parent=current.id if current else None,
        files=files,
        rows=sum(each.rows for each in files),
        created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        beside={**record.beside, **carried, **beside},
    )


def files_in_the_way(current: CommitRecord | None, following: CommitRecord) -> Sequence[str]:
    """Return what the next version does not have of a table of an explode, whose files lie where others see them."""
    staying = {each.path for each in following.files}
    return [each.path for each in (current.files if current else ()) if not each.home and each.path not in staying]


def is_still(found: StoredObject | None, stamp: FileStamp) -> bool:
    """Say whether an object is what it was."""
    from mason.pipeline.storage.file_stamp import stamp_of_tag  # heavy: only who adopts files needs it

    return found is not None and stamp_of_tag(found.size, found.tag) == stamp


def number_paths(paths: Iterable[str], ending: str) -> Mapping[int, str]:
    """Return the paths that end so by the numbers that their names begin with."""
    names = {path: path.rpartition("/")[2] for path in paths if path.endswith(ending)}
    return {int(name[:8]): path for path, name in names.items() if name[:8].isdigit()}


def _quarantine(record: CommitRecord) -> Mapping[str, str]:
    return {name: home for name, home in record.beside.items() if name.startswith(f"{QUARANTINE}/")}


def encode_record(record: CommitRecord) -> bytes:
    """Return a record as it is written."""
    return json.dumps(record.to_dict(), indent=1).encode()
