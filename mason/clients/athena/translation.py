"""Spark SQL in the words of Athena, with the answers that Spark would give.

Athena is Trino. It knows no text that becomes a date or a number by being compared with one, divides integers into
integers and doubles by zero, rounds means and quotients of decimals to the digits of what they came from, and tells the
values of arrays, maps and rows only as a text for people. What is written differently here is written so for that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError, UnsupportedError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from mason.clients.athena.arithmetic import keep_decimals, keep_quotients
from mason.clients.athena.results import is_number
from mason.clients.athena.sql_types import arrow_type, cast_to
from mason.pipeline.sql.engine_types import duckdb_type
from mason.pipeline.sql.local.translation import translate_statement
from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.statement import as_select, check_names, statements_in

_SPARK = "databricks"  # Spark 4 raises where Spark 3 gave null, as Databricks does
_TYPE = exp.DataType.Type
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_CAST_FROM_TEXT = {*exp.DataType.TEMPORAL_TYPES, *exp.DataType.NUMERIC_TYPES, _TYPE.BOOLEAN}
_NESTED = (_TYPE.ARRAY, _TYPE.LIST, _TYPE.MAP, _TYPE.STRUCT)


@dataclass(frozen=True)
class AthenaSql:
    """A statement for Athena, and what is known of its answer beyond what Athena will tell."""

    text: str
    names: Sequence[str] | None
    """What the columns are called; None where the tables decide it."""
    types: Sequence[pa.DataType | None]
    """The types of columns as far as the catalog's types tell; none at all for a statement that cannot be typed."""
    in_spark: Sequence[pa.DataType] = ()
    """The types that the columns have in Spark; none at all where that is not known."""


@dataclass(frozen=True)
class Question:
    """A statement of Spark SQL with the values of its parameters, and the tables that it is about."""

    statement: str
    parameters: Mapping[str, Any]
    schemas: Mapping[str, pa.Schema]
    names: Sequence[str] | None = None

    def rows(self, limit: int) -> AthenaSql:
        """Return the statement that tells at most so many rows; nested values are told as JSON."""
        tree, types = self._translate()
        _limit(tree, limit)
        for select in _selects(tree):
            for output, kind in zip(select.selects, types, strict=False):
                if kind is not None and pa.types.is_nested(kind):
                    _tell_as_json(output)
        return AthenaSql(_text(tree), self.names or self._names_of_tables(tree), types, self._in_spark())

    def unload(self, place: str) -> AthenaSql:
        """Return the statement that writes all rows as Parquet below a place where there is nothing yet."""
        tree, types = self._translate()
        in_spark = self._in_spark()
        tree = _with_types(tree, in_spark)
        folder = exp.Literal.string(place).sql(dialect="athena")
        text = f"UNLOAD ({_text(tree)}) TO {folder} WITH (format = 'PARQUET', compression = 'SNAPPY')"
        return AthenaSql(text, self.names, types, in_spark)

    def _in_spark(self) -> Sequence[pa.DataType]:
        """The types of the columns in Spark, whose words the statement is in; a length is no bigint there."""
        try:
            return translate_statement(self.statement, self.parameters, self.schemas).kinds
        except BadQuery:
            return ()

    def _names_of_tables(self, tree: Any) -> Sequence[str] | None:
        """What the columns of a star are called in the tables; Athena would tell all names in lower case."""
        known = {name.lower(): name for schema in self.schemas.values() for name in schema.names}
        return None if tree.is_star else [known.get(each.alias_or_name, each.alias_or_name) for each in tree.selects]

    def _translate(self) -> tuple[Any, Sequence[pa.DataType | None]]:
        (tree,) = statements_in(self.statement, _SPARK)
        for open_one in list(tree.find_all(exp.Placeholder)):
            open_one.replace(exp.convert(self.parameters[open_one.name]))
        tree = _type_statement(as_select(tree), self.schemas)
        _compare_like_with_like(tree)
        keep_decimals(tree)
        keep_quotients(tree)
        _name_outputs(tree, self.names)
        if not tree.is_star:
            check_names([each.alias_or_name for each in tree.selects])
        made_here = {each.alias for each in tree.find_all(exp.Lateral, exp.Unnest)}
        return tree, [None if _is_of(each, made_here) else arrow_type(each.type) for each in tree.selects]


def _text(tree: Any) -> str:
    try:
        return str(tree.sql(dialect="athena", identify=True, unsupported_level=ErrorLevel.RAISE))
    except UnsupportedError as error:
        raise BadQuery(f"Athena has nothing for a part of the query: {error}") from error


def _is_of(output: Any, tables: Collection[str]) -> bool:
    """Whether a column is made of what LATERAL VIEW or UNNEST made: what type that has cannot be known here."""
    return any(each.table in tables for each in output.find_all(exp.Column))


def _type_statement(tree: Any, schemas: Mapping[str, pa.Schema]) -> Any:
    """The statement with every star spelled out, every column with its table, and every type that can be known."""
    known: dict[str, object] = {
        table: {each.name: exp.DataType.build(duckdb_type(each.type), dialect="duckdb") for each in schema}
        for table, schema in schemas.items()
    }
    try:
        full = qualify(tree.copy(), dialect=_SPARK, schema=known, validate_qualify_columns=False)
        return annotate_types(full, schema=known, dialect=_SPARK)
    except SqlglotError:
        return tree  # Athena has the last word on what cannot be understood here


def _compare_like_with_like(tree: Any) -> None:
    """Cast a text to the type of what it is compared with."""
    for node in list(tree.find_all(*_COMPARISONS)):
        _fit(node.left, node.right)
        _fit(node.right, node.left)
    for node in list(tree.find_all(exp.Between)):
        _fit(node.this, node.args["low"])
        _fit(node.this, node.args["high"])
    for node in list(tree.find_all(exp.In)):
        for each in node.expressions:
            _fit(node.this, each)
    for node in list(tree.find_all(exp.DateDiff)):
        for each in (node.this, node.expression):
            if each.is_type(*exp.DataType.TEXT_TYPES):
                each.replace(cast_to(each.copy(), "DATE"))


def _fit(measure: Any, text: Any) -> None:
    if text.is_type(*exp.DataType.TEXT_TYPES) and measure.is_type(*_CAST_FROM_TEXT):
        text.replace(cast_to(text.copy(), measure.type))


def _name_outputs(tree: Any, names: Sequence[str] | None) -> None:
    for select in list(_selects(tree))[:1]:
        for name, output in zip(names or (), select.selects, strict=False):
            named = exp.alias_(output.unalias().copy(), name, quoted=True)
            named.type = output.type
            output.replace(named)


def _limit(tree: Any, most: int) -> None:
    """Ask for no more rows than are shown. What cannot have a limit of its own is cut off when it is read."""
    if not isinstance(tree, exp.Select | exp.SetOperation):
        return
    given = tree.args.get("limit")
    if given is None:
        tree.set("limit", exp.Limit(expression=exp.Literal.number(most)))
    elif isinstance(given, exp.Limit) and given.expression.is_int and int(given.expression.name) > most:
        given.set("expression", exp.Literal.number(most))


def _selects(tree: Any) -> Iterator[Any]:
    """The SELECTs whose columns are those of the result."""
    if isinstance(tree, exp.SetOperation):
        yield from _selects(tree.left)
        yield from _selects(tree.right)
    elif isinstance(tree, exp.Subquery):
        yield from _selects(tree.this)
    elif isinstance(tree, exp.Select):
        yield tree


def _with_types(tree: Any, kinds: Sequence[pa.DataType]) -> Any:
    """The statement with every number that it works out in the type that it has in Spark."""
    worked_out = [
        is_number(kind) and not isinstance(each.unalias(), exp.Column) for kind, each in _pair_columns(kinds, tree)
    ]
    if tree.is_star or not any(worked_out):
        return tree
    outputs = []
    for (kind, each), is_new in zip(_pair_columns(kinds, tree), worked_out, strict=True):
        column = exp.column(each.alias_or_name, quoted=True)
        fitted = cast_to(column, exp.DataType.build(duckdb_type(kind), dialect="duckdb")) if is_new else column
        outputs.append(exp.alias_(fitted, each.alias_or_name, quoted=True))
    return exp.select(*outputs).from_(tree.subquery("answer"))


def _pair_columns(kinds: Sequence[pa.DataType], tree: Any) -> list[tuple[pa.DataType, Any]]:
    return list(zip(kinds, tree.selects, strict=False))


def _tell_as_json(output: Any) -> None:
    name, value = output.alias_or_name, output.unalias().copy()
    if value.is_type(*_NESTED):
        output.replace(exp.alias_(exp.JSONFormat(this=cast_to(value, "JSON"), is_json=True), name, quoted=True))
