"""The parameters of operators that name tables: where one lies, how its files are written, which ones a query names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.metastore.models.table import Table, TableSummary
from mason.engines.storage.models.infer_options import DelimitedOptions
from mason.engines.storage.models.location import Location, TableRef
from mason.errors import BadInput, InvalidParameters
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.statement import Statement, TableName
from mason.util.names import did_you_mean


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


def read_delimited_options(parameters: ValidatedParameters) -> DelimitedOptions:
    """Return what the parameters say of delimited files.

    Raises:
        BadInput: a width is not a number.
    """
    return DelimitedOptions(
        quote=parameters.get_optional("quote") or "",
        escape=parameters.get_optional("escape") or "",
        comment=parameters.get_optional("comment") or "",
        skip_rows=parameters.get_optional("skip_rows"),
        skip_footer=parameters.get_optional("skip_footer") or 0,
        widths=tuple(map(_width, parameters.get_optional("widths") or ())),
        ragged=parameters.get_optional("ragged") or "",
        sheet=parameters.get_optional("sheet") or "",
    )


def _width(text: object) -> int:
    try:
        return int(str(text))
    except ValueError:
        raise BadInput(f'widths: "{text}" is not a number.', hint="Give one number for each field: 10,5,20.") from None


@dataclass(frozen=True)
class InferredTable(Table):
    """A table that says how its files were read, too."""

    @classmethod
    def of(cls, table: Table) -> InferredTable:
        return cls(**{each.name: getattr(table, each.name) for each in fields(table)})

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "Readings": list(self.readings)}


def find_tables(config: ValidConfig, database: str, statement: Statement, resp: Response) -> Mapping[str, TableRef]:
    """Return the tables that a statement names, each with where it lies, by the names that an engine has for them.

    Args:
        database: that of the tables that name none; nothing if each must.

    Raises:
        DatabaseNotFound: there is no such database.
        BadQuery: it names a table that is not there, or none of which it is known in which database it is.
    """
    finder = _TableFinder(config, database, resp)
    found = {(each.database, each.name): each for each in (finder.find(statement, table) for table in statement.tables)}
    names = Counter(each.name.casefold() for each in found.values())
    views = {
        # One of two that is of the database of the statement may be named without it, so it keeps its name.
        each.view_name(is_unique=each.database == database or names[each.name.casefold()] == 1): each.to_ref()
        for each in found.values()
    }
    if len({view.casefold() for view in views}) < len(found):
        tables = ", ".join(f"{database}.{name}" for database, name in found)
        raise BadInput(f"Some of these tables cannot be told apart: {tables}.", hint="Rename one of them.")
    return views


@dataclass(frozen=True)
class _FoundTable:
    """A table that a statement names, as the metastore has it."""

    database: str
    name: str
    location: Location

    def view_name(self, *, is_unique: bool) -> str:
        """Return its own name, or with its database's where another database has one of that name, too."""
        return self.name if is_unique else f"{self.database}_{self.name}".replace(".", "_")

    def to_ref(self) -> TableRef:
        return TableRef(f"{self.database}.{self.name}", self.location)


class _TableFinder:
    """Finds tables by their names; each database is listed once."""

    def __init__(self, config: ValidConfig, database: str, resp: Response) -> None:
        self._config, self._database, self._resp = config, database, resp
        self._listed: dict[str, Mapping[str, TableSummary]] = {}
        if database:
            self._list(database)  # one that is not there is named, also where the statement needs none

    def find(self, statement: Statement, table: TableName) -> _FoundTable:
        database = self._database_of(statement, table)
        known = self._list(database)
        if table.name.casefold() not in known:
            raise _unknown_table(statement, table, database, [each.name for each in known.values()])
        found = known[table.name.casefold()]
        client = self._config.metastore.client
        path = found.path or client.get_table(database, found.name, response=self._resp)[0].path
        return _FoundTable(database, found.name, self._config.location_of_table(path))

    def _database_of(self, statement: Statement, table: TableName) -> str:
        client = self._config.metastore.client
        if not table.database and not self._database:
            raise statement.problem(
                table.end, f'In which database is "{table.name}"?', f"Write it as database.{table.name}."
            )
        own = client.resolve_database(self._database)[1] if self._database else ""
        if not table.database or table.database.casefold() in (own.casefold(), self._database.casefold()):
            return self._database
        return table.database

    def _list(self, database: str) -> Mapping[str, TableSummary]:
        if database not in self._listed:
            listed, _ = self._config.metastore.client.list_tables(database, response=self._resp)
            self._listed[database] = {each.name.casefold(): each for each in listed}
        return self._listed[database]


def _unknown_table(statement: Statement, table: TableName, database: str, known: Collection[str]) -> BadQuery:
    hint = did_you_mean(table.name, sorted(known)) or f"Tables: {', '.join(sorted(known)[:50]) or 'none'}."
    return statement.problem(table.end, f'There is no table "{table.name}" in the database "{database}".', hint)
