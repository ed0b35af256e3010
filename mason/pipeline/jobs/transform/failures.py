"""What stands against a transformation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mason.errors import Conflict, Problems, Unprocessable
from mason.pipeline.sql.own_statement import in_file
from mason.pipeline.sql.query import BadQuery


class BadTransform(Unprocessable, Problems):
    """Raised when the code of an operator cannot be run on these tables, or its result is not a table. 422 · exit 1"""


class OwnCodeFailed(Unprocessable):
    """Raised when the code of an operator has raised; the message has its author's file and line. 422 · exit 1"""


class NothingToPublish(Unprocessable):
    """Raised when no rows at all would replace those of a table. 422 · exit 1"""


class OtherColumns(Conflict):
    """Raised when rows cannot be added to a table that has other columns, or other folders. 409 · exit 1"""


@contextmanager
def told_in_file(file: str) -> Iterator[None]:
    """Tell of places in a statement as of those in its file; without a file errors stay as they are."""
    try:
        yield
    except BadQuery as error:
        if not file:
            raise
        raise BadTransform([in_file(error, file)]) from error
