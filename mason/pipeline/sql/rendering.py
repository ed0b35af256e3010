"""The text that Spark is given: written from the tree that was checked, never the caller's.

Spark and sqlglot may read the same text in two ways (a comment, an escape, a variable). So the tree is written anew in
one plain spelling, without comments and with every name in backticks, and read back: only a text that gives the same
tree again is sent.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from mason.pipeline.sql.allowed import check_parts
from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.spark_dialect import SparkAsWritten, is_unit, simplify_tree
from mason.pipeline.sql.statement import Statement, parse_statement


def render_for_spark(text: str) -> str:
    """Return a caller's statement in the spelling that Spark is given.

    Raises:
        BadQuery: it is not allowed, or cannot be written so that it is read in one way only.
    """
    checked = parse_statement(text).tree
    rendered = _write(checked)
    again = Statement(rendered, _read(rendered))
    check_parts(again)
    if _with_quotes(again.tree) != _with_quotes(checked) or _has_comments(rendered):
        raise BadQuery("The query can be read in more than one way.", hint="Write it in simpler parts, with WITH.")
    return rendered


def place_in_text(text: str, rendered: str, offset: int) -> int:
    """Return the place in a caller's text of what stands at an offset of the rendered one.

    The words of both are matched in their order, since the rendered text has the same ones with a few more around them.
    """
    theirs, ours = (sqlglot.tokenize(each, dialect=SparkAsWritten) for each in (text, rendered))
    wanted = next((number for number, token in enumerate(ours) if token.end >= offset), len(ours) - 1)
    matcher = SequenceMatcher(None, _words(theirs), _words(ours), autojunk=False)
    place = 0
    for block in matcher.get_matching_blocks():
        if block.size and block.b <= wanted:
            place = theirs[block.a + min(wanted - block.b, block.size - 1)].start
    return place


def _words(tokens: Any) -> list[str]:
    return [token.text.casefold() for token in tokens]


def _write(tree: Any) -> str:
    return str(tree.sql(dialect=SparkAsWritten, comments=False, normalize_functions=False, identify=True))


def _read(rendered: str) -> Any:
    try:
        trees = sqlglot.parse(rendered, dialect=SparkAsWritten)
    except SqlglotError as error:
        raise BadQuery("The query cannot be written for Spark.", hint="Write it in simpler parts.") from error
    if len(trees) != 1 or trees[0] is None:
        raise BadQuery("The query cannot be written for Spark as one statement.")
    return simplify_tree(trees[0])


def _with_quotes(tree: Any) -> Any:
    """The tree with every name in backticks, as it is written."""
    quoted = tree.copy()
    for name in quoted.find_all(exp.Identifier):
        if not is_unit(name.parent):
            name.set("quoted", True)
    return quoted


def _has_comments(rendered: str) -> bool:
    """Whether there is anything but white space between the words."""
    end = 0
    for token in sqlglot.tokenize(rendered, dialect=SparkAsWritten):
        if rendered[end : token.start].strip():
            return True
        end = token.end + 1
    return bool(rendered[end:].strip())
