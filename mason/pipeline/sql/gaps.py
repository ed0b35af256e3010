"""What sqlglot reads over and Spark does not: a list with nothing in it, open quotes, comments that go on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot.tokenizer_core import Token, TokenType

from mason.pipeline.sql.spark_dialect import SparkAsWritten

_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.SEMICOLON, TokenType.COMMA}
_CLAUSES = {
    *(TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY),
    *(TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT),
}
_WANTS_MORE = {TokenType.SELECT, TokenType.COMMA, TokenType.GROUP_BY, TokenType.ON}
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET}
_NAMES = {TokenType.DOT, TokenType.ALIAS}
# Possessive, so that a quote which stands twice never ends a text after all.
_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+"|`(?:[^`]|``)*+`|--[^\n]*|/\*.*?\*/|(?:(?!/\*|--)[^'"`])++""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Gap:
    """A place behind which, or before which, something is missing."""

    word: str
    start: int
    where: str


def find_gap(text: str) -> Gap | None:
    """Return the first place of a statement at which something is missing that no parser of Spark's would miss."""
    tokens = sqlglot.tokenize(text, dialect=SparkAsWritten)
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        if before is not None and before.token_type in _NAMES:
            continue  # a word behind a dot or AS is a name
        if token.token_type == TokenType.COMMA and before is not None and before.token_type in _OPENING:
            return Gap(token.text, token.start, "before")
        if _wants_more(tokens, number) and _ends(tokens, number + 1):
            return Gap(token.text, token.start, "behind")
    return None


def open_quote(text: str) -> int | None:
    """Return where the quote, or the comment, begins that is not closed."""
    place = 0
    while place < len(text):
        piece = _PIECE.match(text, place)
        if piece is None:
            return place
        place = piece.end()
    return None


def find_continued_comment(text: str) -> int | None:
    """Return where a comment begins that ends in a backslash: to Spark the next line belongs to it, too."""
    place = 0
    while piece := _PIECE.match(text, place):
        if piece[0].startswith("--") and piece[0].rstrip("\r").endswith("\\") and piece.end() < len(text):
            return place
        place = piece.end()
    return None


def _wants_more(tokens: Sequence[Token], number: int) -> bool:
    kind = tokens[number].token_type
    if kind == TokenType.DISTINCT:  # not that of IS DISTINCT FROM
        return number > 0 and tokens[number - 1].token_type == TokenType.SELECT
    return kind in _WANTS_MORE


def _ends(tokens: Sequence[Token], number: int) -> bool:
    return number >= len(tokens) or tokens[number].token_type in _CLOSING | _CLAUSES
