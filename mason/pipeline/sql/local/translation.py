"""A statement of Spark SQL as a statement of DuckDB."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from mason.pipeline.sql.local.macros import macros_of
from mason.pipeline.sql.local.queries import translate_query
from mason.pipeline.sql.local.refusal import Refusal, unlike_spark
from mason.pipeline.sql.local.scope import Columns, Scope
from mason.pipeline.sql.query import spark_type_of, time_text
from mason.pipeline.sql.spark_dialect import SparkAsWritten
from mason.pipeline.sql.statement import as_select, bad_query, statements_in, too_deep


@dataclass(frozen=True)
class Translation:
    """A statement for DuckDB, and the columns that it has in Spark."""

    text: str
    columns: Columns
    macros: Sequence[str]
    """The statements that must be run before it."""

    @property
    def kinds(self) -> Sequence[pa.DataType]:
        return [kind for _, kind in self.columns]

    @property
    def names(self) -> Sequence[str]:
        return [name for name, _ in self.columns]


def translate_statement(statement: str, parameters: Mapping[str, Any], schemas: Mapping[str, pa.Schema]) -> Translation:
    """Return a statement of Spark SQL in the words of DuckDB, with its parameters in place as values.

    Raises:
        BadQuery: the local engine would give another answer than Spark, or Spark gives none.
    """
    tree = as_select(_parse(statement))
    for open_one in list(tree.find_all(exp.Placeholder)):
        open_one.replace(_literal_of(parameters[open_one.name]))
    tables: dict[str, Columns] = {
        name.lower(): [(each.name, each.type) for each in schema] for name, schema in schemas.items()
    }
    try:
        columns = translate_query(tree, Scope(tables=tables))
        text = str(tree.sql(dialect="duckdb", identify=True, normalize_functions=False))
    except Refusal as error:
        raise error if error.start is None else bad_query(statement, error.start, str(error)) from error
    except RecursionError as error:
        raise too_deep() from error
    return Translation(text, columns, macros_of(text))


def _parse(statement: str) -> Any:
    try:
        (given,) = statements_in(statement, SparkAsWritten)
    except SqlglotError as error:
        said = str(getattr(error, "errors", [{}])[0].get("highlight") or "a part of the query")
        raise unlike_spark(f'"{said}" as it stands here') from error
    return given


def _literal_of(value: Any) -> Any:
    """A value of a parameter as a literal of Spark's: a floating point is no decimal."""
    if isinstance(value, dt.date):  # a moment is one, too
        return exp.Cast(this=exp.Literal.string(time_text(value)), to=exp.DataType.build(spark_type_of(value), "spark"))
    if isinstance(value, float):
        return exp.Cast(this=exp.Literal.number(repr(value)), to=exp.DataType.build("DOUBLE"))
    return exp.convert(value)
