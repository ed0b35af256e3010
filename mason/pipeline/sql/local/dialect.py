"""Spark SQL as sqlglot reads it for the local engine: a call of a function stays what it is written as."""

from __future__ import annotations

from sqlglot.dialects.databricks import Databricks
from sqlglot.parsers.databricks import DatabricksParser

from mason.pipeline.sql.local.values import mark_cast

# Of these alone sqlglot knows how they make rows, or their arguments are no plain list.
_ROW_MAKERS = ("EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER")
_SPECIAL = ("CAST", "TRY_CAST", "EXTRACT", "POSITION", "SUBSTRING", "SUBSTR", "TRIM")


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
        NO_PAREN_FUNCTION_PARSERS = {
            name: parse
            for name, parse in DatabricksParser.NO_PAREN_FUNCTION_PARSERS.items()
            if name in ("CASE", "IF", "ANY")
        }
