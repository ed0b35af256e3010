"""Where the tables lie that parameters of the type `table` name: by a database, or by a path."""

from __future__ import annotations

from dataclasses import dataclass

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.location import TableRef
from mason.errors import BadInput, TableNotFound
from mason.parameters.values import is_path, split_version


@dataclass(frozen=True)
class TablePlace:
    """A table, and the version of it that is meant; "" for the newest."""

    table: TableRef
    version: str = ""


def find_read_table(config: ValidConfig, text: str, resp: Response) -> TablePlace:
    """Return the table that is to be read.

    Raises:
        TableNotFound, DatabaseNotFound: the metastore does not know it.
        BadPath: no storage serves its path.
    """
    written, version = split_version(text)
    if is_path(written):
        return TablePlace(TableRef(written, config.location(written)), version)
    database, _, name = written.partition(".")
    found, _ = config.metastore.client.get_table(database, name, response=resp)
    return TablePlace(TableRef(written, config.location_of_table(found.path)), version)


def find_written_table(config: ValidConfig, text: str, resp: Response) -> TablePlace:
    """Return the table that is to be written; one that the metastore does not know will lie in its database.

    Raises:
        DatabaseNotFound: there is no such database.
        BadInput: a version is named, or the database has no folder in which the table could lie.
    """
    written, version = split_version(text)
    if version:
        raise BadInput(f"{text}: a version can be read, and not written.")
    if is_path(written):
        return TablePlace(TableRef(written, config.location(written)))
    database, _, name = written.partition(".")
    try:
        found, _ = config.metastore.client.get_table(database, name, response=resp)
    except TableNotFound:
        known, _ = config.metastore.client.get_database(database, response=resp)
        if not known.path:
            said = f'The database "{database}" has no folder in which the table "{name}" could lie.'
            raise BadInput(said, hint="Give the path of the table, and register it with table infer.") from None
        path = f"{known.path.rstrip('/')}/{name}"
        return TablePlace(TableRef(written, config.location_of_table(path)))
    return TablePlace(TableRef(written, config.location_of_table(found.path)))
