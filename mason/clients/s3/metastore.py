"""S3 as metastore.

A database is a bucket, or a prefix in one. A table is an entry that was saved (below the database's `.mason/`), or an
object with data or a prefix that is found there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from botocore.exceptions import BotoCoreError, ClientError

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.role import verb
from mason.clients.response import Response
from mason.clients.s3.objects import S3Objects
from mason.clients.s3.storage import S3StorageClient
from mason.clients.s3.table_finder import (
    FoundTable,
    entry_path,
    find_table,
    find_tables,
)
from mason.clients.shared.folder_catalogs import (
    OWN_FOLDER,
    check_only_owner,
    describe_damaged_entry,
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
    PathNotFound,
    TableNotFound,
    Unsupported,
)
from mason.pipeline.tables.room import room_of

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_AT_ONCE = 16
_SHOWN_NAME = 40
"""So much of a table's name is in that of its place in the trash: all of it may be too long for a key."""


class S3MetastoreClient(MetastoreClient):
    """Databases and tables as buckets, prefixes and objects."""

    errors = {ClientError: ClientFailed, BotoCoreError: ClientFailed, OSError: ClientFailed}

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._storage = S3StorageClient(configuration)

    def check(self) -> list[str]:
        return self._storage.check()

    def describe_place(self) -> str:
        return self._storage.describe_place()

    @property
    def _objects(self) -> S3Objects:
        return self._storage.objects

    @verb
    def list_databases(self, *, response: Response) -> Sequence[Database]:
        return sorted((_database(each["Name"]) for each in self._objects.buckets()), key=lambda each: each.name)

    @verb
    def get_database(self, database: str, *, response: Response) -> Database:
        return _database(self._place(database))

    @verb
    def create_database(self, database: str, *, response: Response) -> Database:
        if not _BUCKET.fullmatch(database):
            raise BadPath(f'"{database}" cannot be created: a database is a bucket, of 3 to 63 plain characters.')
        if not self._objects.make_bucket(database):
            raise AlreadyExists(f'Database "{database}" exists already.')
        return _database(database)

    @verb
    def delete_database(self, database: str, *, response: Response) -> None:
        if "/" in self._place(database):
            raise Unsupported(f'"{database}" is a prefix: it is there as long as something is below it.')
        self.require_empty_database(database, response=response)
        self._objects.remove_bucket(database)

    def require_empty_database(self, database: str, response: Response) -> None:
        super().require_empty_database(database, response=response)
        other = next(self._objects.below(self._place(database)), None)
        if other:
            raise NotEmpty(f'Database "{database}" is not empty: s3://{other.path}.', hint="Remove that first.")

    @verb
    def list_tables(self, database: str, *, response: Response) -> Sequence[TableSummary]:
        found = find_tables(self._objects, self._place(database))
        return [_summary(database, found[name]) for name in sorted(found)]

    @verb
    def get_table(self, database: str, table: str, *, response: Response) -> Table:
        from mason.engines.metastore.models.table_entry import table_of

        found = self._find(database, table)
        if found.entry:
            try:
                return table_of(found.document)
            except (KeyError, TypeError, ValueError) as error:
                raise describe_damaged_entry(f"s3://{found.entry}", repr(error)) from error
        path = self._storage.path(found.path)
        try:
            return self._storage.infer_table(path, database, found.name, InferOptions(), response=response)[0]
        except PathNotFound as error:
            raise TableNotFound(database, table) from error

    @verb
    def save_table(self, table: Table, *, response: Response) -> Table:
        place = self._place(table.database_name)
        stamped = stamp_table(table)
        self._objects.write(entry_path(place, _check_name(table.name, "table")), encode_entry(stamped))
        return stamped

    @verb
    def delete_table(self, database: str, table: str, *, response: Response) -> None:
        place = self._place(database)
        found = self._find(database, table)
        tables = find_tables(self._objects, place).values()
        others = [each.name for each in tables if each.name != found.name and each.shares_data_with(found)]
        check_only_owner(table, others, has_entry=bool(found.entry))
        # Data inside the database are the table's own and go with it; data elsewhere belong to somebody else.
        if found.place.startswith(f"{place}/") and not others:
            trash = f"{place}/{OWN_FOLDER}/trash/{trash_name(quote(table[:_SHOWN_NAME], safe=' '))}"
            is_moved = self._move(found.place, trash)
            if self._move(room_of(found.place), f"{trash}.records") or is_moved:
                message = f'The data of table "{table}" are now at s3://{trash}; remove that to free their space.'
                response.add_info(message)
        if found.entry:
            self._objects.delete([found.entry])

    @verb
    def list_partitions(self, database: str, table: str, *, response: Response) -> Sequence[Partition]:
        from mason.pipeline.tables.files import find_files, list_visible_partitions
        from mason.pipeline.tables.objects import TableObjects

        found = self._find(database, table)
        if not found.path:
            return []
        if not found.place:
            raise Unsupported(f'The data of table "{table}" are at {found.path}, which is not in S3.')
        TableObjects(self._objects, found.place).settle()
        files = find_files(self._storage.filesystem(), Location(found.place, self._storage.address()))
        partitions = [replace(each, path=f"s3://{each.path}") for each in list_visible_partitions(files, found.place)]
        return sort_partitions(partitions)

    def _place(self, database: str) -> str:
        place = self._storage.path(_check_name(database, "database")).path
        try:
            if self._objects.is_folder(place):
                return place
        except PathNotFound:
            pass
        raise DatabaseNotFound(database, self._buckets())

    def _buckets(self) -> list[str]:
        """The names of the buckets; none for who may not list them, as many may not."""
        try:
            return [each["Name"] for each in self._objects.buckets()]
        except Forbidden:
            return []

    def _find(self, database: str, table: str) -> FoundTable:
        place = self._storage.path(_check_name(database, "database")).path
        try:
            found = find_table(self._objects, place, _check_name(table, "table"))
        except PathNotFound:
            found = None  # there is no such bucket
        if found is None:
            raise TableNotFound(database, table, list(find_tables(self._objects, self._place(database))))
        return found

    def _move(self, place: str, target: str) -> bool:
        """Move an object or what is below a prefix; S3 has no such thing, so each object is copied and deleted."""
        found = self._objects.find(place)
        paths = [found.path] if found else [each.path for each in self._objects.below(place)]
        data = [path for path in paths if not path.endswith("/")]  # the others only stand for folders
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda path: self._objects.copy(path, target + path[len(place) :]), data))
        self._objects.delete(paths)
        if not found:
            self._objects.remove_empty_folders(place)
        return bool(paths)


def _check_name(name: str, what: str) -> str:
    if "\0" in name or {"", ".", ".."} & set(name.removesuffix("/").split("/")):
        raise BadPath(f'"{name}" cannot be a {what}: it must name something below the folder that it belongs to.')
    return name


def _database(place: str) -> Database:
    return Database(place, f"s3://{place}")


def _summary(database: str, found: FoundTable) -> TableSummary:
    made_at, made_by = found.document.get("CreatedAt", ""), found.document.get("CreatedBy", "")
    return TableSummary(found.name, database, found.path, made_at, made_by if found.entry else "mason")
