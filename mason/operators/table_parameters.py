"""The parameters of operators that name tables: where one lies, how its files are written, which ones a query names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.metastore.models.table import Table
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
            message = f'"{table.database}.{table.name}" is not in the database "{database}", which this query is about.'
            raise statement.problem(table.start, message)
        if table.name.casefold() not in known:
            raise _unknown_table(statement, table, database, [each.name for each in listed])
        found = known[table.name.casefold()]
        path = found.path or config.metastore.client.get_table(database, found.name, response=resp)[0].path
        tables[found.name] = TableRef(f"{database}.{found.name}", config.location_of_table(path))
    return tables


def _unknown_table(statement: Statement, table: TableName, database: str, known: Collection[str]) -> BadQuery:
    hint = did_you_mean(table.name, sorted(known)) or f"Tables: {', '.join(sorted(known)[:50]) or 'none'}."
    return statement.problem(table.end, f'There is no table "{table.name}" in the database "{database}".', hint)
