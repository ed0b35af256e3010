"""The tables that a user's SQL names, as the metastore knows them."""

from __future__ import annotations

from collections.abc import Mapping

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.location import TableRef
from mason.pipeline.sql.statement import Statement, unknown_table


def find_tables(config: ValidConfig, database: str, statement: Statement, resp: Response) -> Mapping[str, TableRef]:
    """Return the tables that a statement names, each with where it lies.

    Raises:
        DatabaseNotFound: there is no such database.
        BadQuery: it names a table that is not there, or one of another database.
    """
    listed, _ = config.metastore.client.list_tables(database, response=resp)
    _, name = config.metastore.client.resolve_database(database)
    known = {each.name.casefold(): each for each in listed}
    tables: dict[str, TableRef] = {}
    for table in statement.tables:
        if table.database and table.database.casefold() != name.casefold():
            told = f'"{table.database}.{table.name}" is not in the database "{database}", which this query is about.'
            raise statement.problem(table.start, told)
        if table.name.casefold() not in known:
            raise unknown_table(statement, table, database, [each.name for each in listed])
        found = known[table.name.casefold()]
        path = found.path or config.metastore.client.get_table(database, found.name, response=resp)[0].path
        tables[found.name] = TableRef(f"{database}.{found.name}", config.location_of_table(path))
    return tables
