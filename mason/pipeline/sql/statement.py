"""What a user's SQL reads, seen before any engine runs it: its tables and columns, and what it must not do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError, TokenError
from sqlglot.tokenizer_core import TokenType

from mason.pipeline.sql.allowed import check_parts, is_of_the_machine
from mason.pipeline.sql.gaps import find_continued_comment, find_gap, open_quote
from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.spark_dialect import SparkAsWritten, function_start, simplify_tree
from mason.util.names import did_you_mean

_ROW_MAKERS = {"range", "explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack"}
_READS = (exp.Select, exp.SetOperation, exp.Values, exp.Subquery)
_LONGEST_LINE = 160
_MAKES_COLUMNS = (exp.Explode, exp.Posexplode, exp.Aliases)
_NAMES_OF_MAKERS = {"inline", "inline_outer", "json_tuple", "stack", "variant_explode", "variant_explode_outer"}
_NAMES_OF_SPARK = ("col", "pos", "key", "value", "id")  # what explode, posexplode, maps and range call their columns
_NAMES_OF_THE_TIME = ("current_time", "localtimestamp")  # functions that stand without parentheses


@dataclass(frozen=True)
class TableName:
    """A table as the statement names it, and where."""

    name: str
    database: str
    start: int
    end: int


@dataclass(frozen=True)
class Statement:
    """A statement that reads and does nothing else."""

    text: str
    tree: Any

    @property
    def tables(self) -> Sequence[TableName]:
        """The tables that it names, those apart that it defines itself."""
        return [place for _, place in self.placed_tables()]

    @property
    def database(self) -> str:
        """The database that all of its tables name, if it is one; else nothing."""
        databases = {each.database for each in self.tables}
        return databases.pop() if len(databases) == 1 else ""

    @property
    def parameters(self) -> Sequence[str]:
        """The names of the parameters that it leaves open, as in `:since`."""
        names = (str(each.this) for each in self.tree.find_all(exp.Placeholder) if each.this)
        return list(dict.fromkeys(names))

    @property
    def names(self) -> Sequence[str] | None:
        """The names of the result's columns; None where a star leaves them to the tables.

        What has no name is called as it is written, in one spelling: each engine would have its own.
        """
        select = _first_query(self.tree)
        if not isinstance(select, exp.Select) or any(each.is_star for each in select.expressions):
            return None
        if any(map(_makes_columns, select.expressions)):
            return None
        named = (exp.Alias, exp.Column, exp.Dot)
        return [
            each.alias_or_name if isinstance(each, named) else each.sql(dialect=SparkAsWritten, comments=False)
            for each in select.expressions
        ]

    def problem(self, start: int, message: str, hint: str = "") -> BadQuery:
        """Return an error that points at a place of the statement."""
        return bad_query(self.text, start, message, hint)

    def placed_tables(self) -> Iterator[tuple[Any, TableName]]:
        """Yield the nodes of the tables that it names, with what they name and where."""
        hints = {id(table) for hint in self.tree.find_all(exp.Hint) for table in hint.find_all(exp.Table)}
        for table in self.tree.find_all(exp.Table):
            name = table.this
            if id(table) in hints or not isinstance(name, exp.Identifier):
                continue
            if not table.db and name.name.casefold() in names_defined_above(table):
                continue
            first = next((each for each in (table.args.get("catalog"), table.args.get("db")) if each), name)
            database = ".".join(each for each in (table.catalog, table.db) if each)
            yield table, TableName(name.name, database, first.meta["start"], name.meta["start"])


def parse_statement(text: str) -> Statement:
    """Return the statement in a caller's text.

    Raises:
        BadQuery: it is not one statement that reads, or reaches beyond the tables.
    """
    statement = read_statement(text, _WHAT_IT_IS)
    _check_reach(statement)
    check_parts(statement)
    _check_whole(text)
    return statement


def read_statement(text: str, advice: str = "Begin it with SELECT, WITH or VALUES.") -> Statement:
    """Return the statement in a text, whatever functions it calls.

    Raises:
        BadQuery: it is not one statement that reads.
    """
    try:
        trees = statements_in(text, SparkAsWritten)
    except SqlglotError as error:
        raise _not_understood(text, error) from error
    if not trees:
        raise BadQuery("The query is empty.")
    if len(trees) > 1:
        raise bad_query(text, _second_start(text), "A query is one statement, and here begins another.")
    statement = Statement(text, simplify_tree(trees[0]))
    if not isinstance(trees[0], _READS):
        raise bad_query(text, _first_word(text), "A query reads, and this statement does something else.", advice)
    writes = statement.tree.find(exp.DML, exp.DDL, exp.Into, exp.Command)
    if writes is not None and not isinstance(writes, _READS):
        raise statement.problem(_start(writes), "A query cannot write or change anything.", advice)
    return statement


_BEGINNINGS = ("SELECT", "WITH", "VALUES", "FROM")
_WHAT_IT_IS = "Begin it with SELECT, WITH or VALUES; give output_path to write its rows to a table."


def statements_in(text: str, dialect: str | type[Dialect]) -> list[Any]:
    """Return the statements of a text; what stands behind the last semicolon is none if it is only a comment.

    Raises:
        SqlglotError: they cannot be read.
        BadQuery: a part lies deeper in others than can be followed, or a function lacks arguments.
    """
    try:
        trees = sqlglot.parse(text, dialect=dialect)
    except RecursionError as error:
        raise too_deep() from error
    except IndexError as error:  # sqlglot takes what is not there, as the value for the key in map('a')
        raise BadQuery("The query cannot be understood: a function has too few arguments.") from error
    return [each for each in trees if each and not isinstance(each, exp.Semicolon)]


def too_deep() -> BadQuery:
    """Return the error for parts in parts without measure."""
    return BadQuery("The query is nested too deeply to be understood.", hint="Name parts of it with WITH.")


def as_select(tree: Any) -> Any:
    """Return a bare VALUES as a query of it, with the names of Spark: col1, col2 …"""
    if not isinstance(tree, exp.Values):
        return tree
    first = tree.expressions[0]
    count = len(first.expressions) if isinstance(first, exp.Tuple) else 1
    columns = [exp.to_identifier(f"col{number}") for number in range(1, count + 1)]
    tree.set("alias", exp.TableAlias(this=exp.to_identifier("rows_given"), columns=columns))
    return exp.select("*").from_(tree)


def check_columns(statement: Statement, schemas: Mapping[str, pa.Schema]) -> Mapping[str, Sequence[str]]:
    """Return the columns of each table that the statement may read.

    A name counts as unknown only if nothing in sight could be called so: where more than names must be understood, the
    engine's own analysis has the last word.

    Raises:
        BadQuery: it names a column that is nowhere.
    """
    named = {part.name.casefold() for part in _column_parts(statement.tree)}
    for problem in find_unknown_columns(statement, schemas):
        raise problem
    for column in statement.tree.find_all(exp.Column):
        parts = [part for part in column.parts if isinstance(part, exp.Identifier)]
        if is_of_the_machine(column.name) and not column.table and not _has_such_column(column, schemas):
            said = f'Spark takes "{column.name}" for a function that tells of the machine.'
            hint = f"Name the table of a column that is called so, as in orders.{column.name}."
            raise statement.problem(parts[-1].meta.get("start", 0), said, hint)
    everything = any(not _is_count(each.parent) for each in statement.tree.find_all(exp.Star))
    return {
        table: [name for name in schema.names if everything or name.casefold() in named]
        for table, schema in schemas.items()
    }


def find_unknown_columns(statement: Statement, schemas: Mapping[str, pa.Schema]) -> Iterator[BadQuery]:
    """Yield an error for each name of a column that is nowhere."""
    known = _collect_known_names(statement.tree, schemas)
    for column in statement.tree.find_all(exp.Column):
        parts = [part for part in column.parts if isinstance(part, exp.Identifier)]
        if parts and not any(part.name.casefold() in known for part in parts):
            name = parts[-1].name
            hint = did_you_mean(name, sorted(known.values())) or _describe_columns(schemas)
            yield statement.problem(parts[-1].meta.get("start", 0), f'There is no column "{name}".', hint)


def _has_such_column(column: Any, schemas: Mapping[str, pa.Schema]) -> bool:
    """Whether a table that the column's own SELECT names has a column of this name."""
    select = column.find_ancestor(exp.Select)
    sources = [select.args.get("from_"), *(select.args.get("joins") or ())] if select is not None else []
    tables = [each.this.name.casefold() for each in sources if each is not None and isinstance(each.this, exp.Table)]
    found = [schema for table, schema in schemas.items() if table.casefold() in tables]
    return column.name.casefold() in {name.casefold() for schema in found for name in schema.names}


def _is_count(node: Any) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.casefold() == "count"


def bad_query(text: str, start: int, message: str, hint: str = "") -> BadQuery:
    """Return an error that points at a place: line and column, the line itself, and a caret below it."""
    line, column = position(text, start)
    source_line = text.splitlines()[line - 1] if text.splitlines() else ""
    picture = f"\n  {source_line}\n  {' ' * (column - 1)}^" if len(source_line) <= _LONGEST_LINE else ""
    explanation = f"{message} {hint}".strip()  # the hint before the picture, which ends the message
    return BadQuery(f"query:{line}:{column}: {explanation}{picture}")


def position(text: str, start: int) -> tuple[int, int]:
    """Return line and column, both from 1, of a place in a text."""
    before = text[:start]
    return before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1


def column_start(text: str, name: str) -> int:
    """Return the place at which a statement first names a column."""
    (tree,) = statements_in(text, SparkAsWritten)
    parts = (part for part in _column_parts(tree) if part.name.casefold() == name.casefold())
    return min((part.meta["start"] for part in parts if "start" in part.meta), default=0)


def offset_of(text: str, line: int, column: int) -> int:
    """Return the place of a line and a column, both from 1."""
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + column - 1


def _not_understood(text: str, error: SqlglotError) -> BadQuery:
    if isinstance(error, TokenError):
        said = "The query cannot be understood: a quote or a comment is opened and not closed."
        return bad_query(text, open_quote(text) or 0, said)
    problems = getattr(error, "errors", None) or [{}]
    first = problems[0]
    begin = _first_word(text)
    word = text[begin:].split(maxsplit=1)[0]
    if word.upper() not in _BEGINNINGS and did_you_mean(word.upper(), _BEGINNINGS):
        return bad_query(text, begin, f'A query does not begin with "{word}".', did_you_mean(word.upper(), _BEGINNINGS))
    if str(first.get("highlight")).casefold() == "using" and "transform" in text.casefold():
        said = "TRANSFORM … USING would run a script; a query only reads tables."
        return bad_query(text, function_start(text, "transform"), said)
    if "highlight" not in first:
        return BadQuery(f"The query cannot be understood: {str(error).splitlines()[0]}")
    start = text.find(str(first["start_context"]) + str(first["highlight"])) + len(str(first["start_context"]))
    said = re.sub(r" but got <Token.*", "", str(first["description"]))
    said = re.sub(r"Required keyword: .* missing for .*", "Something is missing behind it", said)
    near = f' near "{first["highlight"]}"' if first["highlight"] else ""
    return bad_query(text, max(start, 0), f"The query cannot be understood{near}: {said[0].lower()}{said[1:]}.")


def _check_whole(text: str) -> None:
    comment = find_continued_comment(text)
    if comment is not None:
        said = "This comment ends in a backslash, which makes the next line a part of it in Spark."
        raise bad_query(text, comment, said, "Leave the backslash out.")
    gap = find_gap(text)
    if gap is not None:
        said = f'The query cannot be understood near "{gap.word}": something is missing {gap.where} it.'
        raise bad_query(text, gap.start, said)
    for token in sqlglot.tokenize(text, dialect=SparkAsWritten):
        if token.token_type == TokenType.HEX_STRING and text[token.start] == "0":
            said = f'"{text[token.start : token.end + 1]}" is not a number: Spark takes it for a name.'
            raise bad_query(text, token.start, said, f"Bytes are X'{token.text}', and a name stands in backticks.")


def _first_word(text: str) -> int:
    token = next(iter(sqlglot.tokenize(text, dialect=SparkAsWritten)), None)
    return token.start if token else 0


def _second_start(text: str) -> int:
    tokens = sqlglot.tokenize(text, dialect=SparkAsWritten)
    ends = [number for number, token in enumerate(tokens) if token.text == ";"]
    return tokens[ends[0] + 1].start if ends and ends[0] + 1 < len(tokens) else 0


def _check_reach(statement: Statement) -> None:
    for table in statement.tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier):
            continue
        name = table.this.sql_name() if isinstance(table.this, exp.Func) else ""
        name = table.this.name if isinstance(table.this, exp.Anonymous) else name
        if name.casefold() not in _ROW_MAKERS:
            caller = f"{name}(…)" if name else "This"
            raise statement.problem(_find(statement, name), f"{caller} is not a table of the database.")


def _start(node: Any) -> int:
    return min((each.meta["start"] for each in node.find_all(exp.Identifier) if "start" in each.meta), default=0)


def _find(statement: Statement, name: str) -> int:
    return max(statement.text.casefold().find(name.casefold()), 0)


def _first_query(tree: Any) -> Any:
    """The query that gives a result its names: of a union, however many it unites, the first."""
    while isinstance(tree, exp.SetOperation | exp.Subquery):
        tree = tree.this
    return tree


def _makes_columns(node: Any) -> bool:
    """Whether an expression may become several columns, whose names the engine knows."""
    return isinstance(node, _MAKES_COLUMNS) or (
        isinstance(node, exp.Anonymous) and node.name.casefold() in _NAMES_OF_MAKERS
    )


def names_defined_above(table: Any) -> set[str]:
    """The names that WITH defines for the place of a table."""
    names: set[str] = set()
    node, inside = table, None
    while node is not None:
        with_ = node.args.get("with_") or node.args.get("with")
        for each in with_.expressions if with_ is not None else ():
            if each is inside and not with_.args.get("recursive"):
                break  # it sees those before it, and not itself
            names.add(each.alias.casefold())
        inside = node if isinstance(node, exp.CTE) else inside
        node = node.parent
    return names


def _column_parts(tree: Any) -> Iterator[Any]:
    for column in tree.find_all(exp.Column):
        yield from (part for part in column.parts if isinstance(part, exp.Identifier))
    for using in tree.find_all(exp.Join):
        yield from using.args.get("using") or ()


def _collect_known_names(tree: Any, schemas: Mapping[str, pa.Schema]) -> Mapping[str, str]:
    """Every name that a column could have here: of tables, of what the statement itself names, of nested fields."""
    names = {name: name for name in (*_NAMES_OF_SPARK, *_NAMES_OF_THE_TIME)}
    names.update({f"col{number}": f"col{number}" for number in range(1, 100) if tree.find(exp.Values)})
    for table, schema in schemas.items():
        names[table.casefold()] = table
        for field in schema:
            names.update({name.casefold(): name for name in _names_inside(field)})
    for node in tree.find_all(exp.Alias, exp.TableAlias, exp.CTE, exp.Subquery, exp.Lambda, exp.Lateral):
        for identifier in node.find_all(exp.Identifier):
            if not isinstance(identifier.parent, exp.Column):
                names[identifier.name.casefold()] = identifier.name
    return names


def _names_inside(field: pa.Field) -> Iterator[str]:
    yield field.name
    kind = field.type
    for number in range(kind.num_fields if pa.types.is_nested(kind) else 0):
        yield from _names_inside(kind.field(number))


def _describe_columns(schemas: Mapping[str, pa.Schema]) -> str:
    tables = [f"{table}: {', '.join(schema.names[:30])}" for table, schema in schemas.items()]
    return f"Columns: {'; '.join(tables[:5])}." if tables else ""


def check_names(names: Sequence[str]) -> None:
    """See that the columns of a result can be told apart.

    Raises:
        BadQuery: two have the same name.
    """
    seen: set[str] = set()
    for name in names:
        if name.casefold() in seen:
            raise BadQuery(
                f'The result has two columns called "{name}".', hint="Give one of them another name with AS."
            )
        seen.add(name.casefold())
