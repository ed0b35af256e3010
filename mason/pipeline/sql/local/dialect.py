"""Spark SQL as sqlglot reads it for the local engine: a call of a function stays what it is written as."""

from __future__ import annotations

from typing import Any

from sqlglot.dialects.databricks import Databricks
from sqlglot.parsers.databricks import DatabricksParser
from sqlglot.tokenizer_core import TokenType

from mason.pipeline.sql.local.values import mark_cast
from mason.pipeline.sql.spark_dialect import colon_cast, negative, suffix

# Of these alone sqlglot knows how they make rows, or their arguments are no plain list.
_ROW_MAKERS = ("EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER")
_SPECIAL = ("CAST", "TRY_CAST", "EXTRACT", "POSITION", "SUBSTRING", "SUBSTR", "TRIM")


def _colon_cast(parser: Any, value: Any, kind: Any) -> Any:
    """`4::smallint` is a cast that stands in the statement, and `4S` is none."""
    cast = colon_cast(parser, value, kind)
    return cast if suffix(cast) else mark_cast(cast)


class Spark4(Databricks):
    """Spark 4 raises where Spark 3 gave null, as Databricks does, and doubles a quote to have it in a text."""

    class Tokenizer(Databricks.Tokenizer):
        STRING_ESCAPES = ["\\", "'", '"']

    class Parser(DatabricksParser):
        FUNCTIONS = {name: DatabricksParser.FUNCTIONS[name] for name in _ROW_MAKERS}
        FUNCTION_PARSERS = {
            name: parse
            for name, parse in DatabricksParser.FUNCTION_PARSERS.items()
            if name in _SPECIAL or name.startswith(("BROADCAST", "MAPJOIN", "MERGE", "SHUFFLE"))  # the latter are hints
        } | {"CAST": lambda parser: mark_cast(DatabricksParser.FUNCTION_PARSERS["CAST"](parser))}
        COLUMN_OPERATORS = DatabricksParser.COLUMN_OPERATORS | {TokenType.DCOLON: _colon_cast}
        UNARY_PARSERS = DatabricksParser.UNARY_PARSERS | {TokenType.DASH: negative}
        NO_PAREN_FUNCTION_PARSERS = {
            name: parse
            for name, parse in DatabricksParser.NO_PAREN_FUNCTION_PARSERS.items()
            if name in ("CASE", "IF", "ANY")
        }
