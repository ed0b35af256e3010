"""Glue's data catalog: how it is reached, and what is found in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mason.clients.aws.connection import AwsConnection
from mason.clients.aws.service import AwsService
from mason.errors import BadInput, DatabaseNotFound, MasonError, NotFound, TableNotFound

_LONGEST_NAME = 255


def glue_service(configuration: Mapping[str, Any]) -> AwsService:
    """Return Glue as a configuration reaches it.

    `aws_role_arn` is the role that crawlers run with. It is not assumed here: it trusts Glue, not whoever calls Glue.
    """
    asker = {**configuration, "aws_role_arn": configuration.get("assume_role_arn")}
    return AwsService("glue", "Glue", AwsConnection.of("glue", asker))


class GlueCatalog:
    """Databases and tables as Glue describes them, by their names."""

    def __init__(self, glue: AwsService) -> None:
        self._glue = glue

    def database(self, name: str) -> Mapping[str, Any]:
        """Return a database.

        Raises:
            DatabaseNotFound: there is no such database.
        """
        wanted = check_name(name, "database")
        try:
            found: Mapping[str, Any] = self._glue.call("get_database", Name=wanted)["Database"]
        except NotFound as error:
            raise DatabaseNotFound(name, self._some("get_databases", "DatabaseList")) from error
        return found

    def table(self, database: str, name: str) -> Mapping[str, Any]:
        """Return a table.

        Raises:
            DatabaseNotFound: there is no such database.
            TableNotFound: the database has no such table.
        """
        found = self.find_table(database, name)
        if found is None:
            raise self.missing_table(database, name)
        return found

    def find_table(self, database: str, name: str) -> Mapping[str, Any] | None:
        """Return a table, if there is one.

        Raises:
            DatabaseNotFound: there is no such database.
        """
        where = {"DatabaseName": check_name(database, "database"), "Name": check_name(name, "table")}
        try:
            found: Mapping[str, Any] = self._glue.call("get_table", **where)["Table"]
        except NotFound:
            self.database(database)  # Glue has one code for both
            return None
        return found

    def missing_table(self, database: str, name: str) -> TableNotFound:
        """Return the error of a table that is not there, with the names of some that are."""
        return TableNotFound(database, name, self._some("get_tables", "TableList", DatabaseName=database.lower()))

    def _some(self, operation: str, items: str, **where: str) -> list[str]:
        """The names of the first page, enough for a guess at what was meant; none for who may not list them."""
        try:
            return [str(each["Name"]) for each in self._glue.call(operation, **where).get(items, ())]
        except MasonError:
            return []


def check_name(name: str, what: str) -> str:
    """Return a name as Glue keeps it, which is in lower case.

    Raises:
        BadInput: it cannot be one.
    """
    if not 0 < len(name) <= _LONGEST_NAME:
        raise BadInput(f'"{name[:40]}" cannot be the name of a {what}: it must have 1 to {_LONGEST_NAME} characters.')
    if any(ord(each) < ord(" ") for each in name) or {"", ".", ".."} & set(name.split("/")):
        raise BadInput(f'"{name}" cannot be the name of a {what}: it reads like a path, or has control characters.')
    return name.lower()
