"""Which tables a database's folder has: entries that were saved, and data files and folders that are found there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from mason.clients.shared.folder_catalogs import OWN_FOLDER, describe_damaged_entry, is_visible, name_tables
from mason.engines.metastore.models.table import Table
from mason.pipeline.storage.format_names import format_of_name
from mason.pipeline.tables.places import has_records

_SMALL = 256 * 1024
_NOT_IN_FILE_NAMES = re.compile(r"[/%\0]|^\.")


@dataclass(frozen=True)
class FoundTable:
    """A table as it was found: the place of its data on this machine, and its entry when one was saved."""

    name: str
    place: Path | None
    entry: Path | None = None
    elsewhere: str = ""
    """The path of data in another storage, such as `s3://…`."""
    content: bytes = field(default=b"", repr=False, compare=False)
    """What stands in the entry."""

    @property
    def path(self) -> str:
        return self.elsewhere or str(self.place or "")

    def shares_data_with(self, other: FoundTable) -> bool:
        """Say whether some file belongs to both tables."""
        if self.place is None or other.place is None:
            return False
        return self.place == other.place or self.place in other.place.parents or other.place in self.place.parents


def find_tables(folder: Path) -> dict[str, FoundTable]:
    """Return the tables of a database by their names; a saved entry wins over a file or folder of its name."""
    places = {each.name: each.is_file() for each in visible(folder) if _is_table(each)}
    files = [name for name, is_file in places.items() if is_file]
    named = name_tables([name for name, is_file in places.items() if not is_file], files)
    tables = {name: FoundTable(name, folder / place) for name, place in named.items()}
    for entry in sorted((folder / OWN_FOLDER).glob("*.json")):
        name = unquote(entry.stem)
        tables[name] = _read_entry(folder, name, entry)
    return tables


def find_saved_table(folder: Path, table: str) -> FoundTable | None:
    """Return the table that an entry of exactly this name was saved for, if there is one."""
    entry = entry_file(folder, table)
    try:
        return _read_entry(folder, table, entry)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _read_entry(folder: Path, name: str, entry: Path) -> FoundTable:
    content = _content(entry)
    path = read_entry(entry, content).get("Path", "")
    elsewhere = path if "://" in path else ""
    return FoundTable(name, folder / path if path and not elsewhere else None, entry, elsewhere, content)


def visible(folder: Path) -> list[Path]:
    """Return what is in a folder and not hidden, sorted."""
    return sorted(each for each in folder.iterdir() if is_visible(each.name))


def entry_file(folder: Path, table: str) -> Path:
    """Return the file that a table's entry is kept in."""
    return Path(f"{folder}/{OWN_FOLDER}/{file_name(table)}.json")


def file_name(table: str) -> str:
    """Return a name for a file out of a table's name, changing only what cannot stand in one."""
    return _NOT_IN_FILE_NAMES.sub(lambda match: f"%{ord(match[0]):02X}", table)


def read_entry(file: Path, content: bytes) -> Mapping[str, Any]:
    """Return what an entry says by what stands in its file.

    Raises:
        UnreadableFile: it is damaged.
    """
    try:
        entry = _parse_entry(content)
    except ValueError as error:
        raise describe_damaged_entry(str(file), error) from error
    if not isinstance(entry, dict):
        raise describe_damaged_entry(str(file), "it is not a mapping")
    return entry


def _content(file: Path) -> bytes:
    """Return what is in a small file. A server reads many: fewer calls of the system are fewer turns of its threads."""
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, _SMALL)
        return content if len(content) < _SMALL else file.read_bytes()
    finally:
        os.close(descriptor)


@lru_cache(256)
def _parse_entry(content: bytes) -> Any:
    """Return what an entry says; nobody changes it. The same tables are asked for again and again."""
    return json.loads(content)


def read_table(file: Path, content: bytes, path: str) -> Table:
    """Return the table that an entry describes by what stands in its file, with the path that its data are at.

    Raises:
        UnreadableFile: it is damaged.
    """
    try:
        return _table(content, path)
    except (KeyError, TypeError, ValueError) as error:
        raise describe_damaged_entry(str(file), repr(error)) from error


@lru_cache(256)
def _table(content: bytes, path: str) -> Table:
    from mason.engines.metastore.models.table_entry import table_of  # imports pyarrow, which a listing does without

    return replace(table_of(_parse_entry(content)), path=path)


def _is_table(place: Path) -> bool:
    if place.is_file():
        return bool(format_of_name(place.name))
    return any(_data_files(place)) or has_records(place)  # a table of Mason's may have no rows, and no files


def _data_files(folder: Path) -> Iterator[str]:
    for _, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (name for name in files if not name.startswith((".", "_")))
