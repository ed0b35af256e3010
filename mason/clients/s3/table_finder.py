"""Which tables a bucket or prefix has: entries that were saved, and objects and prefixes that are found there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from mason.clients.s3.objects import S3Objects, split
from mason.clients.shared.folder_catalogs import OWN_FOLDER, is_visible, name_tables, parse_entry
from mason.pipeline.storage.format_names import format_of_name
from mason.pipeline.tables.room import ROOMS

_AT_ONCE = 16
_LONGEST_KEY = 1024


@dataclass(frozen=True)
class FoundTable:
    """A table as it was found: the path of its data, and its entry when one was saved."""

    name: str
    path: str
    """As a user writes it, with its scheme; empty for an entry that has none."""
    entry: str = ""
    """The path of the object that keeps the entry."""
    document: Mapping[str, Any] = field(default_factory=dict)
    """What the entry says."""

    @property
    def place(self) -> str:
        """The data's bucket and key; empty where they are not in S3."""
        return self.path.removeprefix("s3://").rstrip("/") if self.path.startswith("s3://") else ""

    def shares_data_with(self, other: FoundTable) -> bool:
        """Say whether some object belongs to both tables."""
        mine, others = f"{self.place}/", f"{other.place}/"
        return bool(self.place and other.place) and (mine.startswith(others) or others.startswith(mine))


def find_tables(objects: S3Objects, database: str) -> dict[str, FoundTable]:
    """Return the tables of a database by their names; a saved entry wins over an object or prefix of its name."""
    folders, files = objects.children(database)
    tables = _without_entry(database, folders, files)
    if OWN_FOLDER in folders:
        tables = {**_without_files(objects, database, tables), **tables}
        tables |= {each.name: each for each in _entries(objects, database)}
    return tables


def find_table(objects: S3Objects, database: str, name: str) -> FoundTable | None:
    """Return a table by its name, or by that of its object; no entries of others are read for it."""
    folders, files = objects.children(database)
    has_entries = OWN_FOLDER in folders
    saved = _find_saved(objects, database, name) if has_entries else None
    if saved:
        return saved
    tables = _without_entry(database, folders, files)
    by_object = {each.path.rpartition("/")[2]: each for each in tables.values()}
    found = tables.get(name) or by_object.get(name)
    if found is None and has_entries:
        return _without_files(objects, database, tables).get(name)
    # An entry stands for the object of its name: whoever names the object must not get past what was saved of it.
    if found and found.name != name and has_entries and _find_saved(objects, database, found.name):
        return None
    return found


def _find_saved(objects: S3Objects, database: str, name: str) -> FoundTable | None:
    entry = entry_path(database, name)
    may_be = len(split(entry)[1].encode()) <= _LONGEST_KEY
    content = objects.read(entry) if may_be else None
    return _parse_entry(entry, content[0]) if content else None


def _without_entry(database: str, folders: Sequence[str], files: Sequence[str]) -> dict[str, FoundTable]:
    # What begins with a slash lies in a folder without a name: nobody could ask for that table.
    visible = [name for name in folders if name and is_visible(name)]
    named = name_tables(visible, [name for name in files if format_of_name(name) and is_visible(name)])
    return {name: FoundTable(name, f"s3://{database}/{place}") for name, place in named.items()}


def _without_files(objects: S3Objects, database: str, others: Mapping[str, FoundTable]) -> dict[str, FoundTable]:
    """The tables of Mason's that have no rows: nothing lies where they are, but there are records of them."""
    from mason.pipeline.tables.objects import TableObjects  # most listings do without

    rooms = [name for name in objects.children(f"{database}/{ROOMS}")[0] if name not in others]
    newest = {name: TableObjects(objects, f"{database}/{name}").current() for name in rooms}
    return {
        name: FoundTable(name, f"s3://{database}/{name}")
        for name, commit in newest.items()
        if commit and not commit.has_files
    }


def entry_path(database: str, table: str) -> str:
    """Return the path of the object that keeps a table's entry."""
    return f"{database}/{OWN_FOLDER}/{quote(table, safe=' ')}.json"


def _entries(objects: S3Objects, database: str) -> list[FoundTable]:
    _, names = objects.children(f"{database}/{OWN_FOLDER}")
    paths = [f"{database}/{OWN_FOLDER}/{name}" for name in names if name.endswith(".json")]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        contents = pool.map(objects.read, paths)
    entries = zip(paths, contents, strict=True)
    return [_parse_entry(path, content[0]) for path, content in entries if content]  # what vanished was just deleted


def _parse_entry(path: str, content: bytes) -> FoundTable:
    document = parse_entry(f"s3://{path}", content)
    name = unquote(path.rpartition("/")[2].removesuffix(".json"))
    return FoundTable(name, document.get("Path", ""), path, document)
