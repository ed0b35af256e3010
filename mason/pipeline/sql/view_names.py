"""The names that an engine has for the tables of a statement, put into its text: what it means stays what it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp

from mason.pipeline.sql.statement import Statement, TableName, names_defined_above


def with_view_names(statement: Statement, database: str, views: Mapping[str, str]) -> str:
    """Return the text with every table by the name that an engine has for it; all places in it stay where they are.

    That is its own name, with `database.` blanked out before it; or, where two databases have one of that name,
    `database_name`, as long as both words.

    Args:
        database: that of the tables that name none.
        views: the engine's names, each with the table that it stands for, such as `crm.orders`.

    Raises:
        BadQuery: by the name that the engine has for a table, the text would mean something else.
    """
    text = statement.text
    for node, place in _qualified_places(statement, database):
        view = _view_of(place, database, views)
        if view is None or place.start == place.end:
            continue
        if isinstance(node, exp.Table):
            _check_meant(statement, node, place, view)
        between = " " * (place.end - place.start)
        if view.casefold() != place.name.casefold():
            written = text[place.start : place.end]
            if "`" in text[place.start : place.end + 1] or written.casefold() != f"{place.database}.".casefold():
                said = f'Two databases have a table "{place.name}"; this one'
                said += " stands in backticks, or apart from its database."
                raise statement.problem(place.start, said, f"Write it as {place.database}.{place.name}.")
            between = written.replace(".", "_")
        text = text[: place.start] + between + text[place.end :]
    return text


def _check_meant(statement: Statement, table: Any, place: TableName, view: str) -> None:
    """See that nothing else has the name that the engine has for a table, and nothing calls the table otherwise."""
    if view.casefold() in names_defined_above(table):
        said = f'WITH defines "{view}", so that {place.database}.{place.name} cannot be told from it.'
        raise statement.problem(place.end, said, "Give what WITH defines another name.")
    select = table.find_ancestor(exp.Select)
    if view.casefold() == place.name.casefold() or table.alias or select is None:
        return
    for column in select.find_all(exp.Column):
        if column.table.casefold() == place.name.casefold() and not column.db:
            said = f'Two databases have a table "{place.name}": which one is it?'
            hint = f"Give the table a short name: {place.database}.{place.name} AS o, and o.{column.name}."
            raise statement.problem(column.args["table"].meta["start"], said, hint)


def _view_of(place: TableName, database: str, views: Mapping[str, str]) -> str | None:
    """The engine's name for a table: its own wherever it is unique; None for what is not a table, such as a field."""
    wanted = f".{place.database}.{place.name}".casefold()
    view = next((view for view, table in views.items() if f".{table}".casefold().endswith(wanted)), None)
    return view or (place.name if place.database.casefold() == database.casefold() else None)


def _qualified_places(statement: Statement, database: str) -> Iterator[tuple[Any, TableName]]:
    """The tables, and what names them before a column, as in `shop.orders.id`, each with its node."""
    yield from statement.placed_tables()
    for column in statement.tree.find_all(exp.Column):
        qualifiers = [each for each in (column.args.get("catalog"), column.args.get("db")) if each is not None]
        if qualifiers:
            owner, owned = column.args["table"], ".".join(each.name for each in qualifiers)
            place = TableName(owner.name, owned, qualifiers[0].meta["start"], owner.meta["start"])
            if _is_in_sight(column, place, database):
                yield column, place


def _is_in_sight(column: Any, place: TableName, database: str) -> bool:
    """Whether a table that is called so stands where the column could be of it; else this is `alias.field.id`."""
    wanted = (place.database.casefold(), place.name.casefold())
    select = column.find_ancestor(exp.Select)
    while select is not None:
        sources = [each for each in (select.args.get("from_"), *(select.args.get("joins") or ())) if each is not None]
        tables = [table for each in sources for table in each.find_all(exp.Table)]
        own = [table for table in tables if table.find_ancestor(exp.Select) is select]
        if any(table.alias.casefold() == wanted[0] for table in own):
            return False
        if any(_shown_name(table, database) == wanted for table in own):
            return True
        select = select.find_ancestor(exp.Select)
    return False


def _shown_name(table: Any, database: str) -> tuple[str, str]:
    """The database of a table, and what the statement calls it."""
    named = ".".join(each for each in (table.catalog, table.db) if each) or database
    return named.casefold(), table.alias_or_name.casefold()
