"""Where a table lies that an operator's parameters name: by its path, or by its database and name."""

from __future__ import annotations

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.location import Location
from mason.errors import InvalidParameters
from mason.parameters.validated_parameters import ValidatedParameters


def find_table(config: ValidConfig, parameters: ValidatedParameters, resp: Response) -> Location:
    """Return where the table lies.

    Raises:
        InvalidParameters: neither a path nor a database and a table are given.
        TableNotFound: there is no such table.
    """
    path: str = parameters.get_optional("path") or ""
    database, table = parameters.get_optional("database_name"), parameters.get_optional("table_name")
    if not path and not (database and table):
        raise InvalidParameters(['Which table? Give its "path", or its "database_name" and "table_name".'])
    return config.location(path) if path else find_named_table(config, database, table, resp)


def find_other_table(config: ValidConfig, parameters: ValidatedParameters, resp: Response) -> Location | None:
    """Return where the second table of two lies; none if the parameters name only one.

    What is not said of its name is as with the first: the same database, or the same name in another one.

    Raises:
        InvalidParameters: it is named by half.
        TableNotFound: there is no such table.
    """
    path: str = parameters.get_optional("other_path") or ""
    names = [parameters.get_optional(name) for name in ("other_database_name", "other_table_name")]
    if not path and not any(names):
        return None
    firsts = [parameters.get_optional(name) for name in ("database_name", "table_name")]
    database, table = (other or own for other, own in zip(names, firsts, strict=True))
    if not path and not (database and table):
        raise InvalidParameters(['Which other table? Give "other_database_name" and "other_table_name".'])
    return config.location(path) if path else find_named_table(config, database, table, resp)


def find_written(config: ValidConfig, parameters: ValidatedParameters, name: str) -> Location | None:
    """Return the place that a parameter names for what is written; None where it is not given."""
    text: str = parameters.get_optional(name) or ""
    return config.location(text) if text else None


def find_named_table(config: ValidConfig, database: str, table: str, resp: Response) -> Location:
    """Return where a table lies that the metastore knows.

    Raises:
        TableNotFound: there is no such table.
    """
    found, _ = config.metastore.client.get_table(database, table, response=resp)
    return config.location_of_table(found.path)
