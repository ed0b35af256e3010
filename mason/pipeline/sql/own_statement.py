"""The statement of an operator's own `transform.sql`: its author's code, so that no list of functions binds it.

It is one statement that reads tables which the operator declares. All that is wrong with it is told at once, each with
its place in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.statement import Statement, find_unknown_columns, read_statement
from mason.util.names import did_you_mean

_PLACE = "query:"


def check_own_statement(text: str, file: str, tables: Collection[str], parameters: Collection[str]) -> list[str]:
    """Return what is wrong with a statement, by what its operator declares."""
    try:
        statement = read_statement(text)
    except BadQuery as error:
        return [in_file(error, file)]
    return [in_file(each, file) for each in _find_problems(statement, tables, parameters)]


def find_column_problems(statement: Statement, file: str, schemas: Mapping[str, pa.Schema]) -> list[str]:
    """Return each name of a column that none of the tables has."""
    unknown = [*find_unknown_columns(statement, schemas), *_find_unknown_of_tables(statement, schemas)]
    return [in_file(each, file) for each in unknown]


def in_file(error: BadQuery, file: str) -> str:
    """Return what an error says, with its place in the file: `transform.sql:3:8: There is no column "x".`"""
    said = str(error)
    return f"{file}:{said.removeprefix(_PLACE)}" if said.startswith(_PLACE) else f"{file}: {said}"


def list_tables_read(statement: Statement) -> Sequence[str]:
    """Return the names of the tables that a statement reads."""
    return list(dict.fromkeys(each.name.casefold() for each in statement.tables))


def _find_problems(statement: Statement, tables: Collection[str], parameters: Collection[str]) -> Iterator[BadQuery]:
    known = {each.casefold() for each in tables}
    for table in statement.tables:
        if table.database:
            said = f'"{table.database}.{table.name}" is not a parameter: name a table by the parameter that is it.'
            yield statement.problem(table.start, said)
        elif table.name.casefold() not in known:
            near = did_you_mean(table.name, tables) or f"Declared: {', '.join(tables) or 'none'}."
            said = f'operator.yaml declares no table "{table.name}" that is read.'
            yield statement.problem(table.end, said, near)
    for each in statement.tree.find_all(exp.Placeholder):
        name = str(each.this or "")
        if name not in parameters:
            near = did_you_mean(name, parameters) or f"Declared: {', '.join(parameters) or 'none'}."
            start = statement.text.find(f":{name}") if name else statement.text.find("?")
            yield statement.problem(max(start, 0), f'operator.yaml declares no parameter "{name}".', near)


def _find_unknown_of_tables(statement: Statement, schemas: Mapping[str, pa.Schema]) -> Iterator[BadQuery]:
    """Yield an error for each column that a table is said to have, as in `o.day`, and does not have."""
    known = {name.casefold(): schema for name, schema in schemas.items()}
    by_alias: dict[str, list[pa.Schema | None]] = {}
    for source in statement.tree.find_all(exp.Table, exp.Subquery, exp.CTE, exp.Lateral):
        schema = known.get(source.name.casefold()) if isinstance(source, exp.Table) else None
        by_alias.setdefault(source.alias_or_name.casefold(), []).append(schema)
    for column in statement.tree.find_all(exp.Column):
        sources = (
            by_alias.get(column.table.casefold(), [None]) if column.table and not column.args.get("db") else [None]
        )
        names = [name for schema in sources if schema is not None for name in schema.names]
        is_there = None in sources or column.name.casefold() in {name.casefold() for name in names}
        if not is_there and isinstance(column.this, exp.Identifier):
            near = did_you_mean(column.name, names) or f"Its columns: {', '.join(names[:30])}."
            said = f'{column.table} has no column "{column.name}".'
            yield statement.problem(column.this.meta.get("start", 0), said, near)
