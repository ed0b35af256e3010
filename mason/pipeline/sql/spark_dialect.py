"""Spark SQL as sqlglot reads what users write."""

from __future__ import annotations

import logging
from typing import Any

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

# It warns of statements that it does not know, which are refused in Mason's own words.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


def colon_cast(parser: Any, value: Any, kind: Any) -> Any:
    """Return the cast of `4::smallint`, or that which `4S` is read as: its type has the letter for a text."""
    cast = parser.build_cast(strict=parser.STRICT_CAST, this=value, to=kind)
    letter = parser._prev.text.upper()
    if letter in Spark.Tokenizer.NUMERIC_LITERALS:
        cast.meta[_SUFFIX] = letter
    return cast


def suffix(node: Any) -> str | None:
    """Return the letter that a number has behind it, if it is read as a cast for that."""
    letter: str | None = node.meta.get(_SUFFIX)
    return letter


def negative(parser: Any) -> Any:
    """Return what a minus stands before: of a number it is a part, before any cast, so that `-1::string` is '-1'."""
    is_number = parser._curr.token_type is TokenType.NUMBER
    value = number = parser._parse_unary()
    while is_number and isinstance(number, exp.Cast) and suffix(number) not in _FLOATING:
        number = number.this
    if number is value:
        return parser.expression(exp.Neg(this=value))
    number.replace(exp.Neg(this=number.copy()))
    return value


_SUFFIX = "suffix"
_FLOATING = ("D", "F")  # -0.0D has its sign, which the decimal -0.0 has not


class SparkAsWritten(Spark):
    """Spark SQL as Spark 4 reads it: a quote that stands twice in a text is one, and does not end it."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES = ["\\", "'", '"']

    class Parser(SparkParser):
        COLUMN_OPERATORS = SparkParser.COLUMN_OPERATORS | {TokenType.DCOLON: colon_cast}
        UNARY_PARSERS = SparkParser.UNARY_PARSERS | {TokenType.DASH: negative}
