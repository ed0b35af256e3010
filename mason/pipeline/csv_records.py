"""Delimited text as records of a sample, without losing whether an empty field was quoted."""

from __future__ import annotations

from dataclasses import dataclass

from mason.pipeline.csv_dialect import Dialect
from mason.pipeline.csv_tokens import ExactRecord, split_exactly

QUOTED_EMPTY = '""'
"""A quoted empty field is kept as it stands in the file: this is text, whereas an empty field is null."""


@dataclass(frozen=True)
class Records:
    """The complete records of a text, and the position where they end.

    `problems` are records that cannot be read, by their index among the rows before which they stand.
    """

    rows: list[list[str]]
    end: int
    problems: list[tuple[int, str]]


def split_records(text: str, dialect: Dialect, limit: int, *, final: bool, width: int = 0) -> Records:
    """Cut a text that begins at a record's start, with line ends `\\n`, into at most `limit` records.

    Unless `final`, more text is to come, so what follows the last line end is left for later.
    A blank line is a record with one empty field: what it means depends on how many columns there are.
    """
    if not dialect.is_simple or (dialect.quote and dialect.quote in text):
        return _split_exactly(text, dialect, limit, width, final=final)
    lines = text.split("\n", limit)
    rest = lines.pop()
    end = len(text) - len(rest)
    if final and rest and len(lines) < limit:
        lines.append(rest)
        end = len(text)
    return Records([line.split(dialect.delimiter) for line in lines], end, [])


def _split_exactly(text: str, dialect: Dialect, limit: int, width: int, *, final: bool) -> Records:
    rows: list[list[str]] = []
    problems: list[tuple[int, str]] = []
    end = 0
    for record in split_exactly(text, dialect, width, final=final):
        end = record.end
        if record.problem:
            problems.append((len(rows), record.problem))
        else:
            rows.append(_marked(record))
        if len(rows) + len(problems) == limit:
            return Records(rows, end, problems)
    return Records(rows, len(text) if final else end, problems)


def _marked(record: ExactRecord) -> list[str]:
    if not any(record.quoted):
        return record.fields
    return [
        field or (QUOTED_EMPTY if quoted else "") for field, quoted in zip(record.fields, record.quoted, strict=True)
    ]
