"""Where a table lies that an operator's parameters name: by its path, or by its database and name."""

from __future__ import annotations

from dataclasses import dataclass

from mason.clients.engines.storage import StorageClient
from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.errors import InvalidParameters, OtherStorage
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
    return place_of(config, path) if path else named_place(config, database, table, resp)


def find_other_table(
    config: ValidConfig, parameters: ValidatedParameters, first: TablePlace, resp: Response
) -> TablePlace | None:
    """Return where the second table of two lies; none if the parameters name only one.

    What is not said of its name is as with the first: the same database, or the same name in another one.

    Raises:
        OtherStorage: it lies in another storage than the first.
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
    place = place_of(config, path) if path else named_place(config, database, table, resp)
    if place.storage is not first.storage:
        raise OtherStorage(f"{place.path} is not in the storage that {first.path} is in.")
    return place


def place_of(config: ValidConfig, path: str) -> TablePlace:
    """Return the place of a path, in the storage that serves it."""
    storage = config.storage.client_for(path)
    return TablePlace(storage, storage.path(path).path)


def written_path(config: ValidConfig, parameters: ValidatedParameters, name: str, read: TablePlace) -> str:
    """Return the path that a parameter names for what is written; "" where it is not given.

    A job reads and writes one storage, so the path has to be one of the storage that is read. To ask that storage for
    the path is not enough: to S3, `/data/x` is the bucket `data`.

    Raises:
        OtherStorage: another storage of the configuration serves the path.
    """
    text: str = parameters.get_optional(name) or ""
    if not text:
        return ""
    storage = config.storage.client_for(text)
    if storage is read.storage:
        return storage.path(text).path
    near, far = config.storage.name_of(read.storage), config.storage.name_of(storage)
    scheme = read.storage.schemes[0]
    raise OtherStorage(
        f'"{name}" ({text}) is in the storage {far}, but the input ({scheme}://{read.path}) is in {near}: '
        "a job reads and writes one storage.",
        hint=f"Give {name} as a path in {near} ({scheme}://…), or read an input in {far}.",
    )


def named_place(config: ValidConfig, database: str, table: str, resp: Response) -> TablePlace:
    """Return where a table lies that the metastore knows.

    Raises:
        TableNotFound: there is no such table.
    """
    found, _ = config.metastore.client.get_table(database, table, response=resp)
    return place_of(config, found.path)
