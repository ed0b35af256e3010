"""Catalogs elsewhere that show a table on an object store: who reads through one goes by the location that it names.

The location is a folder that holds the files of one version and nothing else, so that a catalog that names the next
one has switched in one step. Which entries have to follow a commit stands beside the table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from mason.errors import UnreadableFile
from mason.pipeline.storage.object_store import ObjectStore
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.room import CATALOGS, DATA, ENTRY, room_of

_AT_ONCE = 16


@dataclass(frozen=True)
class CatalogEntry:
    """A table of a catalog, and the commit that it shows."""

    catalog: str
    database: str
    table: str
    commit: str


def read_entries(store: ObjectStore, table: str) -> Sequence[CatalogEntry]:
    """Return the entries that show a table.

    Raises:
        UnreadableFile: what is kept of one is damaged.
    """
    paths = [each.path for each in store.below(f"{room_of(table)}/{CATALOGS}")]
    found = [(path, store.read(path)) for path in paths]
    return [_read(path, each[0]) for path, each in found if each]


def _read(path: str, content: bytes) -> CatalogEntry:
    try:
        entry = CatalogEntry(**json.loads(content))
        if not all(isinstance(each, str) for each in asdict(entry).values()):
            raise TypeError("one of its fields is not a text")
    except (ValueError, TypeError) as error:
        hint = "Delete it, and infer the table again into each catalog that shows it."
        reason = f"does not say which catalog shows the table, or is damaged: {error!r}."
        raise UnreadableFile(path, reason, hint=hint) from error
    return entry


def note_entry(store: ObjectStore, table: str, entry: CatalogEntry) -> None:
    """Remember what an entry shows, whatever it showed before."""
    path, content = _place(table, entry), json.dumps(asdict(entry), indent=1).encode()
    while not store.write_new(path, content):
        known = store.read(path)
        if known and (known[0] == content or store.rewrite(path, content, known[1])):
            return


def forget_entry(store: ObjectStore, table: str, entry: CatalogEntry) -> None:
    """Forget an entry that does not show the table any more."""
    store.delete([_place(table, entry)])


def version_folder(store: ObjectStore, table: str, record: CommitRecord) -> str:
    """Return the path of the folder with the files of a version and no others.

    A version that replaced its parent lies in the folder of its job. Of one that has files of others, too, copies are
    put beside its own.
    """
    homes = {each.place_in(table).removesuffix(f"/{each.path}") for each in record.files}
    if len(homes) == 1 and _files(store, *homes) == {each.path for each in record.files}:
        return homes.pop()
    folder = f"{room_of(table)}/{DATA}/{record.id}"
    there = _files(store, folder)
    missing = [each for each in record.files if each.path not in there]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda each: store.copy(each.place_in(table), f"{folder}/{each.path}"), missing))
    return folder


def _files(store: ObjectStore, folder: str) -> set[str]:
    """The files of a folder as others see them: what begins with _ or a dot is hidden from them."""
    names = {each.path[len(folder) + 1 :] for each in store.below(folder)}
    return {name for name in names if name and not name.endswith("/") and not name.startswith(("_", "."))}


def _place(table: str, entry: CatalogEntry) -> str:
    name = json.dumps([entry.catalog, entry.database, entry.table])
    return f"{room_of(table)}/{CATALOGS}/{hashlib.sha256(name.encode()).hexdigest()[:32]}{ENTRY}"
