"""Glue's data catalog as metastore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mason.clients.aws.service import clock_troubles
from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.role import verb
from mason.clients.glue.catalog import GlueCatalog, check_name, glue_service
from mason.clients.glue.summaries import partition_from_glue, summary_from_glue
from mason.clients.response import Response
from mason.engines.metastore.models.database import Database
from mason.engines.metastore.models.partition import Partition
from mason.engines.metastore.models.table import Table, TableSummary
from mason.errors import AlreadyExists, DatabaseNotFound, MasonError, NotFound


class GlueMetastoreClient(MetastoreClient):
    """Databases, tables and partitions of a Glue data catalog. Names are kept in lower case there."""

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._glue = glue_service(configuration)
        self._catalog = GlueCatalog(self._glue)

    def catalog(self) -> str:
        return self._glue.name

    def describe_place(self) -> str:
        return self._glue.describe_place()

    def check(self) -> list[str]:
        try:
            answer = self._glue.call("get_databases", MaxResults=1)
            for database in answer["DatabaseList"]:
                self._glue.call("get_tables", DatabaseName=database["Name"], MaxResults=1)
        except MasonError as error:
            return [str(error)]
        return clock_troubles(answer)

    @verb
    def list_databases(self, *, response: Response) -> Sequence[Database]:
        found = [_database(each) for each in self._glue.pages("get_databases", "DatabaseList")]
        return sorted(found, key=lambda each: each.name)

    @verb
    def get_database(self, database: str, *, response: Response) -> Database:
        return _database(self._catalog.database(database))

    @verb
    def create_database(self, database: str, *, response: Response) -> Database:
        name = check_name(database, "database")
        try:
            self._glue.call("create_database", DatabaseInput={"Name": name})
        except AlreadyExists as error:
            raise AlreadyExists(f'Database "{database}" exists already.') from error
        return Database(name)

    @verb
    def delete_database(self, database: str, *, response: Response) -> None:
        # Glue itself deletes a database together with its tables.
        self.require_empty_database(database, response=response)
        self._glue.call("delete_database", Name=database.lower())

    @verb
    def list_tables(self, database: str, *, response: Response) -> Sequence[TableSummary]:
        name = check_name(database, "database")
        try:
            found = [summary_from_glue(each) for each in self._glue.pages("get_tables", "TableList", DatabaseName=name)]
        except NotFound as error:
            self._catalog.database(database)
            raise DatabaseNotFound(database) from error
        return sorted(found, key=lambda each: each.name)

    @verb
    def get_table(self, database: str, table: str, *, response: Response) -> Table:
        return self._read(database, table, response)

    @verb
    def save_table(self, table: Table, *, response: Response) -> Table:
        from mason.clients.glue.saving import save

        saved = save(self._glue, table, response)
        return self._read(saved.database_name, saved.name, response)

    @verb
    def delete_table(self, database: str, table: str, *, response: Response) -> None:
        where = {"DatabaseName": check_name(database, "database"), "Name": check_name(table, "table")}
        try:
            self._glue.call("delete_table", **where)
        except NotFound as error:
            self._catalog.database(database)  # Glue has one code for both
            raise self._catalog.missing_table(database, table) from error

    @verb
    def list_partitions(self, database: str, table: str, *, response: Response) -> Sequence[Partition]:
        described = self._catalog.table(database, table)
        keys = [each["Name"] for each in described.get("PartitionKeys", ())]
        if not keys:
            return []
        where = {"DatabaseName": described["DatabaseName"], "TableName": described["Name"]}
        pages = self._glue.pages("get_partitions", "Partitions", **where, ExcludeColumnSchema=True)
        found = [partition_from_glue(keys, each) for each in pages]
        return sorted(found, key=lambda each: [str(value) for value in each.values.values()])

    def _read(self, database: str, table: str, response: Response) -> Table:
        from mason.clients.glue.tables import table_from_glue, unknown_types

        described = self._catalog.table(database, table)
        found = table_from_glue(described)
        for sentence in unknown_types(found, described):
            response.add_warning(sentence)
        return found


def _database(found: Mapping[str, Any]) -> Database:
    return Database(found["Name"], found.get("LocationUri", ""))
