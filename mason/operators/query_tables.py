"""The tables that a user's SQL names, as the metastore knows them."""

from __future__ import annotations

from collections.abc import Mapping

from mason.clients.engines.storage import StorageClient
from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.pipeline.sql.statement import Statement, unknown_table


def table_paths(
    config: ValidConfig, database: str, statement: Statement, resp: Response
) -> tuple[StorageClient, Mapping[str, str]]:
    """Return the tables that a statement names, each with the path where it lies, and the storage of them all.

    Raises:
        DatabaseNotFound: there is no such database.
        BadQuery: it names a table that is not there, or one of another database or storage.
    """
    listed, _ = config.metastore.client.list_tables(database, response=resp)
    _, name = config.metastore.client.resolve_database(database)
    known = {each.name.casefold(): each for each in listed}
    storage: StorageClient = config.storage.client
    paths: dict[str, str] = {}
    for table in statement.tables:
        if table.database and table.database.casefold() != name.casefold():
            told = f'"{table.database}.{table.name}" is not in the database "{database}", which this query is about.'
            raise statement.problem(table.start, told)
        if table.name.casefold() not in known:
            raise unknown_table(statement, table, database, [each.name for each in listed])
        found = known[table.name.casefold()]
        path = found.path or config.metastore.client.get_table(database, found.name, response=resp)[0].path
        place = config.storage.client_for(path)
        if paths and place.address() != storage.address():
            raise statement.problem(table.start, f'"{table.name}" lies in another storage than the tables before it.')
        storage = place
        paths[found.name] = storage.path(path).path
    return storage, paths
