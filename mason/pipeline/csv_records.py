"""Delimited text as records, by RFC 4180, without losing whether an empty field was quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

QUOTED_EMPTY = '""'
"""A quoted empty field is kept as it stands in the file: this is text, whereas an empty field is null."""


@dataclass(frozen=True)
class Records:
    """The complete records of a text, the position where they end, and what is wrong with its quotes.

    `open_quote`: a quote was not closed before the text's end. `stray_quote`: the index of the first record in which
    something stands between a closing quote and the next delimiter.
    """

    rows: list[list[str]]
    end: int
    open_quote: bool = False
    stray_quote: int | None = None


def split_records(text: str, delimiter: str, limit: int, *, final: bool) -> Records:
    """Cut a text that begins at a record's start, with line ends `\\n`, into at most `limit` records.

    Unless `final`, more text is to come, so what follows the last line end is left for later.
    A blank line is a record with one empty field: what it means depends on how many columns there are.
    """
    if '"' in text:
        return _split_quoted(text, delimiter, limit, final=final)
    lines = text.split("\n", limit)
    rest = lines.pop()
    end = len(text) - len(rest)
    if final and rest and len(lines) < limit:
        lines.append(rest)
        end = len(text)
    return Records([line.split(delimiter) for line in lines], end)


@dataclass(frozen=True)
class ExactRecord:
    """A record as it stands in a text, its line end left out. Only a field that is not quoted can be null."""

    fields: list[str]
    quoted: list[bool]
    raw: str
    open_quote: bool

    @property
    def is_blank(self) -> bool:
        return self.fields == [""] and not self.quoted[0]


def split_exactly(text: str, delimiter: str) -> Iterator[ExactRecord]:
    """Yield the records of a whole text, whatever its line ends are: those inside quotes stay as they are."""
    fields: list[str] = []
    quoted: list[bool] = []
    start = 0
    for field in _exact_pattern(delimiter).finditer(text):
        inside, closing, rest, after = field.groups()
        fields.append(rest if inside is None else inside.replace('""', '"') + rest)
        quoted.append(inside is not None)
        if after == delimiter:
            continue
        record = ExactRecord(fields, quoted, text[start : field.start(4)], closing == "")
        if after or not record.is_blank:
            yield record
        if not after:
            return
        fields, quoted, start = [], [], field.end()


@cache
def _exact_pattern(delimiter: str) -> re.Pattern[str]:
    escaped = re.escape(delimiter)
    return re.compile(rf'(?:"((?:[^"]+|"")*+)("|\Z))?([^{escaped}\r\n]*)({escaped}|\r\n|\r|\n|\Z)')


@cache
def _field_pattern(delimiter: str) -> re.Pattern[str]:
    """Quoted text and its closing quote, if any; text outside quotes; what ends the field."""
    escaped = re.escape(delimiter)
    return re.compile(rf'(?:"((?:[^"]+|"")*+)("|\Z))?([^{escaped}\n]*)({escaped}|\n|\Z)')


def _split_quoted(text: str, delimiter: str, limit: int, *, final: bool) -> Records:
    rows: list[list[str]] = []
    row: list[str] = []
    end = 0
    stray = None
    for field in _field_pattern(delimiter).finditer(text):
        quoted, closing, rest, after = field.groups()
        if after == "" and not final:
            return Records(rows, end, closing == "", stray)
        if quoted is None:
            row.append(rest)
        else:
            row.append(quoted.replace('""', '"') + rest or QUOTED_EMPTY)
            stray = len(rows) if rest and stray is None else stray
        if after == delimiter:
            continue
        if after or len(row) > 1 or row[0]:
            rows.append(row)
        row, end = [], field.end()
        if after == "" or len(rows) == limit:
            return Records(rows, end, closing == "", stray)
    return Records(rows, end, stray_quote=stray)
