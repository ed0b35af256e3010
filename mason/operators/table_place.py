"""Where a table lies that an operator's parameters name: by its path, or by its database and name."""

from __future__ import annotations

from dataclasses import dataclass

from mason.clients.engines.storage import StorageClient
from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.errors import InvalidParameters
from mason.parameters.validated_parameters import ValidatedParameters


@dataclass(frozen=True)
class TablePlace:
    """A path and the storage that it is in."""

    storage: StorageClient
    path: str


def find_table(config: ValidConfig, parameters: ValidatedParameters, resp: Response) -> TablePlace:
    """Return where the table lies.

    Raises:
        InvalidParameters: neither a path nor a database and a table are given.
        TableNotFound: there is no such table.
    """
    path: str = parameters.get_optional("path") or ""
    database, table = parameters.get_optional("database_name"), parameters.get_optional("table_name")
    if not path and not (database and table):
        raise InvalidParameters(['Which table? Give its "path", or its "database_name" and "table_name".'])
    if not path:
        found, _ = config.metastore.client.get_table(database, table, response=resp)
        path = found.path
    storage = config.storage.client_for(path)
    return TablePlace(storage, storage.path(path).path)
