"""Local folders as metastore.

A database is a folder below `root`. A table is an entry that was saved (in the database's `.mason/` folder), or a data
file or a folder of data files that is found there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.role import verb
from mason.clients.local.storage import LocalStorageClient, local_root
from mason.clients.response import Response
from mason.engines.metastore.models.database import Database
from mason.engines.metastore.models.partition import Partition
from mason.engines.metastore.models.table import Table, TableSummary
from mason.engines.storage.models.infer_options import InferOptions
from mason.errors import (
    AlreadyExists,
    BadPath,
    ClientFailed,
    DatabaseNotFound,
    Forbidden,
    NotEmpty,
    NotFound,
    TableNotFound,
    UnreadableFile,
)
from mason.pipeline.formats import format_of_name
from mason.util.atomic_file import write_file

_OWN = ".mason"


@dataclass(frozen=True)
class _Found:
    """A table as it was found: the place of its data, and its entry when one was saved."""

    name: str
    place: Path | None
    entry: Path | None = None


class LocalMetastoreClient(MetastoreClient):
    """Databases and tables as folders and files."""

    errors = {FileNotFoundError: NotFound, PermissionError: Forbidden, OSError: ClientFailed}

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self.root = local_root(configuration)
        self._storage = LocalStorageClient(configuration)

    def check(self) -> list[str]:
        return self._storage.check()

    @verb
    def list_databases(self, *, response: Response) -> Sequence[Database]:
        folders = [each for each in _visible(self.root) if each.is_dir()]
        return [Database(each.name, str(each)) for each in folders]

    @verb
    def get_database(self, database: str, *, response: Response) -> Database:
        return Database(database, str(self._folder(database)))

    @verb
    def create_database(self, database: str, *, response: Response) -> Database:
        folder = _below(self.root, database, "database")
        if folder.exists():
            raise AlreadyExists(f'Database "{database}" exists already ({folder}).')
        folder.mkdir(parents=True)
        return Database(database, str(folder))

    @verb
    def delete_database(self, database: str, *, response: Response) -> None:
        folder = self._folder(database)
        tables = sorted(_find_tables(folder))
        others = [each.name for each in _visible(folder)]
        if tables or others:
            shown = ", ".join(tables or others)
            raise NotEmpty(f'Database "{database}" is not empty: {shown}.', hint="Delete what is in it first.")
        if (folder / _OWN / "trash").exists():
            raise NotEmpty(
                f'Database "{database}" still has deleted tables in {folder / _OWN / "trash"}.',
                hint="Remove that folder when nobody needs them.",
            )
        if (folder / _OWN).exists():
            (folder / _OWN).rmdir()
        folder.rmdir()

    @verb
    def list_tables(self, database: str, *, response: Response) -> Sequence[TableSummary]:
        found = _find_tables(self._folder(database))
        return [_summary(database, found[name]) for name in sorted(found)]

    @verb
    def get_table(self, database: str, table: str, *, response: Response) -> Table:
        found = self._find(database, table)
        if found.entry is None:
            path = self._storage.path(str(found.place))
            return self._storage.infer_table(path, database, found.name, InferOptions(), response=response)[0]
        saved = _read_table(found.entry)
        if found.place is not None and not found.place.exists():
            response.add_warning(f'The data of table "{table}" are no longer at {found.place}.')
        return replace(saved, path=str(found.place or ""))

    @verb
    def save_table(self, table: Table, *, response: Response) -> Table:
        from mason.clients.local.table_entry import entry_of

        folder = self._folder(table.database_name)
        stamped = replace(table, created_at=_now(), created_by=table.created_by or "mason")
        write_file(_entry_file(folder, table.name), entry_of(replace(stamped, path=_kept_path(folder, table.path))))
        return stamped

    @verb
    def delete_table(self, database: str, table: str, *, response: Response) -> None:
        found = self._find(database, table)
        folder = self._folder(database)
        # Data inside the database are the table's own and go with it; data elsewhere belong to somebody else.
        if found.place is not None and found.place.exists() and folder in found.place.parents:
            trash = folder / _OWN / "trash" / f"{_now().replace(':', '')}-{quote(table, safe='')}"
            trash.parent.mkdir(parents=True, exist_ok=True)
            found.place.rename(trash)
            response.add_info(f'The data of table "{table}" are now in {trash}; remove that to free their space.')
        if found.entry is not None:
            found.entry.unlink()

    @verb
    def list_partitions(self, database: str, table: str, *, response: Response) -> Sequence[Partition]:
        from mason.pipeline.files import find_partitions

        found = self._find(database, table)
        if found.place is None:
            return []
        partitions = find_partitions(self._storage.filesystem(), str(found.place))
        return sorted(partitions, key=lambda each: [str(value) for value in each.values.values()])

    def _folder(self, database: str) -> Path:
        folder = _below(self.root, database, "database")
        if not folder.is_dir():
            raise DatabaseNotFound(database, [each.name for each in _visible(self.root) if each.is_dir()])
        return folder

    def _find(self, database: str, table: str) -> _Found:
        folder = self._folder(database)
        _below(folder, table, "table")
        tables = _find_tables(folder)
        by_file = {each.place.name: each for each in tables.values() if each.place and each.entry is None}
        found = tables.get(table) or by_file.get(table)
        if found is None:
            raise TableNotFound(database, table, list(tables))
        return found


def _find_tables(folder: Path) -> dict[str, _Found]:
    places = [each for each in _visible(folder) if _is_table(each)]
    names = [_table_name(each) for each in places]
    tables = {}
    for place, name in zip(places, names, strict=True):
        unique = name if names.count(name) == 1 else place.name  # orders.csv beside orders.json: each keeps its ending
        tables[unique] = _Found(unique, place)
    for entry in sorted((folder / _OWN).glob("*.json")):
        name = unquote(entry.stem)
        path = _read_entry(entry).get("Path", "")
        tables[name] = _Found(name, folder / path if path else None, entry)
    return tables


def _is_table(place: Path) -> bool:
    if place.is_file():
        return bool(format_of_name(place.name))
    return any(True for _ in _data_files(place))


def _data_files(folder: Path) -> Iterator[str]:
    for _, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (name for name in files if not name.startswith((".", "_")))


def _table_name(place: Path) -> str:
    """Return the name without the endings that say its format: `orders.csv.gz` → `orders`."""
    name = place.name
    while place.is_file() and format_of_name(name):
        name = name.rpartition(".")[0]
    return name


def _visible(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if not each.name.startswith((".", "_")))


def _below(folder: Path, name: str, what: str) -> Path:
    place = Path(os.path.normpath(folder / name))
    if not name or "\0" in name or folder not in place.parents:
        raise BadPath(f'"{name}" cannot be a {what}: it must name something below {folder}.')
    return place


def _summary(database: str, found: _Found) -> TableSummary:
    path = str(found.place or "")
    if found.entry is None:
        return TableSummary(found.name, database, path, created_by="mason")
    entry = _read_entry(found.entry)
    return TableSummary(found.name, database, path, entry.get("CreatedAt", ""), entry.get("CreatedBy", ""))


def _entry_file(folder: Path, table: str) -> Path:
    return folder / _OWN / f"{quote(table, safe='')}.json"


def _kept_path(folder: Path, path: str) -> str:
    # Relative where it can be: the database can then be moved as a whole.
    place = Path(path)
    return str(place.relative_to(folder)) if path and folder in place.parents else path


def _read_entry(file: Path) -> dict[str, Any]:
    try:
        entry = json.loads(file.read_bytes())
    except ValueError as error:
        raise UnreadableFile(
            str(file), f"is not the entry of a table: {error}", hint="Infer the table again."
        ) from error
    if not isinstance(entry, dict):
        raise UnreadableFile(str(file), "is not the entry of a table", hint="Infer the table again.")
    return entry


def _read_table(file: Path) -> Table:
    from mason.clients.local.table_entry import table_of

    try:
        return table_of(_read_entry(file))
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableFile(
            str(file), f"is not the entry of a table: {error!r}", hint="Infer the table again."
        ) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
