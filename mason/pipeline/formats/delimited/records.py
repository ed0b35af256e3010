"""Delimited text as records of a sample, without losing whether an empty field was quoted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.tokens import ExactRecord, split_exactly

QUOTED_EMPTY = '""'
"""A quoted empty field is kept as it stands in the file: this is text, whereas an empty field is null."""


@dataclass(frozen=True)
class Records:
    """The complete records of a text, and the position where they end.

    `problems` are records that cannot be read, by their index among the rows before which they stand.
    `all_quoted`: each field of each record is in quotes. `first_quoted`: at least the first one of each is.
    """

    rows: list[list[str]]
    end: int
    problems: list[tuple[int, str]]
    all_quoted: bool = False
    first_quoted: bool = False


def split_records(
    text: str, dialect: Dialect, limit: int, *, final: bool, width: int = 0, nulls: Collection[str] = ()
) -> Records:
    """Cut a text that begins at a record's start, with line ends `\\n`, into at most `limit` records.

    Unless `final`, more text is to come, so what follows the last line end is left for later.
    A blank line is a record with one empty field: what it means depends on how many columns there are. A word for null
    that stands in quotes is text, unless all fields do, and keeps its quotes.
    """
    if not dialect.is_simple or (dialect.quote and dialect.quote in text):
        return _split_exactly(text, dialect, limit, width, nulls, final=final)
    lines = text.split("\n", limit)
    rest = lines.pop()
    end = len(text) - len(rest)
    if final and rest and len(lines) < limit:
        lines.append(rest)
        end = len(text)
    return Records([line.split(dialect.delimiter) for line in lines], end, [])


def in_quotes(word: str) -> str:
    """Return a word for null as it is kept where it stood in quotes."""
    return f'"{word}"'


def _split_exactly(
    text: str, dialect: Dialect, limit: int, width: int, nulls: Collection[str], *, final: bool
) -> Records:
    rows: list[list[str]] = []
    problems: list[tuple[int, str]] = []
    end = 0
    all_quoted = first_quoted = True
    for record in split_exactly(text, dialect, width, final=final):
        end = record.end
        if record.problem:
            problems.append((len(rows), record.problem))
        else:
            rows.append(_mark_nulls(record, nulls))
            first_quoted = first_quoted and (record.quoted[0] or record.is_blank)
            all_quoted = first_quoted and all_quoted and (all(record.quoted) or record.is_blank)
        if len(rows) + len(problems) == limit:
            return Records(rows, end, problems, all_quoted, first_quoted)
    return Records(rows, len(text) if final else end, problems, all_quoted, first_quoted)


def _mark_nulls(record: ExactRecord, nulls: Collection[str]) -> list[str]:
    if not any(record.quoted):
        return record.fields
    fields = zip(record.fields, record.quoted, strict=True)
    if nulls:
        return [in_quotes(field) if quoted and (not field or field in nulls) else field for field, quoted in fields]
    return [field or (QUOTED_EMPTY if quoted else "") for field, quoted in fields]
