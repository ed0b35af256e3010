"""Local folders as metastore.

A database is a folder below `root`. A table is an entry that was saved (in the database's `.mason/` folder), or a data
file or a folder of data files that is found there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.role import verb
from mason.clients.local.storage import LocalStorageClient, local_root
from mason.clients.local.table_finder import (
    FoundTable,
    entry_file,
    file_name,
    find_saved_table,
    find_tables,
    read_entry,
    read_table,
    visible,
)
from mason.clients.response import Response
from mason.clients.shared.folder_catalogs import (
    OWN_FOLDER,
    check_only_owner,
    encode_entry,
    sort_partitions,
    stamp_table,
    trash_name,
)
from mason.engines.metastore.models.database import Database
from mason.engines.metastore.models.partition import Partition
from mason.engines.metastore.models.table import Table, TableSummary
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.errors import (
    AlreadyExists,
    BadPath,
    ClientFailed,
    DatabaseNotFound,
    Forbidden,
    NotEmpty,
    NotFound,
    TableNotFound,
    Unsupported,
)
from mason.pipeline.tables.room import ROOMS, room_of
from mason.util.atomic_file import write_file


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
        return [Database(each.name, str(each)) for each in self._folders()]

    @verb
    def get_database(self, database: str, *, response: Response) -> Database:
        return Database(database, str(self._folder(database)))

    @verb
    def create_database(self, database: str, *, response: Response) -> Database:
        folder = _below(self.root, database, "database")
        if folder.name != database or database.startswith((".", "_")):
            raise BadPath(f'"{database}" cannot be created: a database is one folder, not named with . or _ in front.')
        if folder.exists():
            raise AlreadyExists(f'Database "{database}" exists already ({folder}).')
        folder.mkdir(parents=True)
        return Database(database, str(folder))

    @verb
    def delete_database(self, database: str, *, response: Response) -> None:
        self.require_empty_database(database, response=response)
        folder = self._folder(database)
        if (folder / OWN_FOLDER).exists():
            for each in (folder / ROOMS, folder / OWN_FOLDER):
                if each.exists():
                    each.rmdir()
        folder.rmdir()

    def require_empty_database(self, database: str, response: Response) -> None:
        super().require_empty_database(database, response=response)
        folder = self._folder(database)
        others, trash = visible(folder), folder / OWN_FOLDER / "trash"
        if others:
            names = ", ".join(each.name for each in others)
            raise NotEmpty(f'Database "{database}" is not empty: {names}.', hint="Remove what is in it first.")
        if trash.exists():
            raise NotEmpty(
                f'Database "{database}" still has deleted tables in {trash}.',
                hint="Remove that folder when nobody needs them.",
            )
        rooms = folder / ROOMS
        if rooms.exists() and any(rooms.iterdir()):
            raise NotEmpty(
                f'Database "{database}" still has the records of removed tables in {rooms}.',
                hint="Remove what is in that folder when nobody needs the former versions of these tables.",
            )

    @verb
    def list_tables(self, database: str, *, response: Response) -> Sequence[TableSummary]:
        found = find_tables(self._folder(database))
        return [_summary(database, found[name]) for name in sorted(found)]

    @verb
    def get_table(self, database: str, table: str, *, response: Response) -> Table:
        found = self._find(database, table)
        if found.entry is None:
            path = self._storage.path(str(found.place))
            return self._storage.infer_table(path, database, found.name, InferOptions(), response=response)[0]
        saved = read_table(found.entry, found.content, found.path)
        if found.place is not None and not found.place.exists():
            response.add_warning(f'The data of table "{table}" are no longer at {found.place}.')
        return saved

    @verb
    def save_table(self, table: Table, *, response: Response) -> Table:
        folder = self._folder(table.database_name)
        _below(folder, table.name, "table")
        stamped = stamp_table(table)
        entry = encode_entry(replace(stamped, path=_relative_to_folder(folder, table.path)))
        write_file(entry_file(folder, table.name), entry)
        return stamped

    @verb
    def delete_table(self, database: str, table: str, *, response: Response) -> None:
        folder = self._folder(database)
        found = self._find(database, table)
        others = [each.name for each in find_tables(folder).values() if each != found and each.shares_data_with(found)]
        check_only_owner(table, others, has_entry=found.entry is not None)
        # Data inside the database are the table's own and go with it; data elsewhere belong to somebody else.
        if found.place is not None and found.place.exists() and folder in found.place.parents and not others:
            trash = folder / OWN_FOLDER / "trash" / trash_name(file_name(table))
            trash.parent.mkdir(parents=True, exist_ok=True)
            found.place.rename(trash)
            room = Path(room_of(str(found.place)))
            if room.exists():  # what belongs to the table and is not its data
                room.rename(trash.with_name(f"{trash.name}.records"))
            response.add_info(f'The data of table "{table}" are now in {trash}; remove that to free their space.')
        if found.entry is not None:
            found.entry.unlink()

    @verb
    def list_partitions(self, database: str, table: str, *, response: Response) -> Sequence[Partition]:
        from mason.pipeline.tables.files import find_files, list_visible_partitions

        found = self._find(database, table)
        if found.elsewhere:
            raise Unsupported(f'The data of table "{table}" are at {found.elsewhere}, which is not on this machine.')
        if found.place is None:
            return []
        place = str(found.place)
        files = find_files(self._storage.filesystem(), Location(place, self._storage.address()))
        partitions = list_visible_partitions(files, place)
        return sort_partitions(partitions)

    def _folder(self, database: str) -> Path:
        folder = _below(self.root, database, "database")
        if not folder.is_dir():
            raise DatabaseNotFound(database, [each.name for each in self._folders()])
        self._storage.require_allowed(str(folder), database)  # a link may lead out of what may be used
        return folder

    def _folders(self) -> list[Path]:
        if not self.root.is_dir():
            raise NotFound(
                f'{self.root}, the root of the client "local", is not a folder.',
                hint="Create it, or choose another configuration with -c (the built-in one is called local).",
            )
        return [each for each in visible(self.root) if each.is_dir()]

    def _find(self, database: str, table: str) -> FoundTable:
        folder = _below(self.root, database, "database")
        _place_below(folder, table, "table")
        self._storage.require_allowed(str(folder), database)
        found = find_saved_table(folder, table)  # it would win over a file of its name: the rest need not be listed
        if found is None:
            found = self._find_in(self._folder(database), database, table)
        if found.place is not None:  # it may be a link that leads out of what may be used
            self._storage.require_allowed(str(found.place), table)
        return found

    def _find_in(self, folder: Path, database: str, table: str) -> FoundTable:
        tables = find_tables(folder)
        by_file = {each.place.name: each for each in tables.values() if each.place and each.entry is None}
        found = tables.get(table) or by_file.get(table)
        if found is None:
            raise TableNotFound(database, table, list(tables))
        return found


def _below(folder: Path, name: str, what: str) -> Path:
    return Path(_place_below(folder, name, what))


def _place_below(folder: Path, name: str, what: str) -> str:
    above = str(folder).rstrip("/") + "/"
    place = os.path.normpath(os.path.join(above, name))  # noqa: PTH118 (pathlib takes longer than all the rest)
    if not name or "\0" in name or not place.startswith(above):
        raise BadPath(f'"{name}" cannot be a {what}: it must name something below the folder that it belongs to.')
    return place


def _summary(database: str, found: FoundTable) -> TableSummary:
    if found.entry is None:
        return TableSummary(found.name, database, found.path, created_by="mason")
    said = read_entry(found.entry, found.content)
    made = said.get("CreatedAt", ""), said.get("CreatedBy", "")
    return TableSummary(found.name, database, found.path, *made)


def _relative_to_folder(folder: Path, path: str) -> str:
    # Relative where it can be: the database can then be moved as a whole.
    place = Path(path)
    return str(place.relative_to(folder)) if path and folder in place.parents else path
