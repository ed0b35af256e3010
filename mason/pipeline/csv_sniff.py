"""Finds out how a delimited text is written, from its beginning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from mason.pipeline.csv_dialect import Dialect
from mason.pipeline.csv_headers import Header, has_header, judge_header
from mason.pipeline.csv_tokens import ExactRecord, split_exactly
from mason.pipeline.text_types import classify
from mason.pipeline.types import NOTHING, TEXT
from mason.util.words import counted

_USUAL = ",\t|;"
_RARE = "\x01\x1f^~:"
_LINES = 200
_MOST_SKIPPED = 50
_QUOTED = re.compile(r'(?<![^\n,\t|;\x01\x1f^~:])"(?:[^"]+|"")*+(?:"|\Z)')
_TIME = re.compile(r"[0-9]{2}(?::[0-9]{2}){1,2}")
_DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_EXCEL = re.compile(r"sep=([^\n]{1,2})\n", re.IGNORECASE)
_COMMENT = ("#", "//", "%", "--")
_MOMENT = re.compile(r"(?<=[0-9]) (?=[0-9]{1,2}:[0-9]{2})")
_LEAST_LINES = 3
_SHOWN = 60


@dataclass(frozen=True)
class Sniffed:
    """How a text is written, how many lines stand before its records, and what is worth a word about it."""

    dialect: Dialect
    skip_rows: int = 0
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Asked:
    """What the user says of a dialect; None is to be found out."""

    delimiter: str = ""
    likely_delimiter: str = ""
    quote: str | None = None
    escape: str | None = None
    comment: str = ""
    skip_rows: int | None = None
    widths: Sequence[int] = ()

    def dialect(self, delimiter: str) -> Dialect:
        quote = '"' if self.quote is None else self.quote
        return Dialect(delimiter, quote, self.escape or "", self.comment, widths=tuple(self.widths))


def sniff(text: str, asked: Asked, *, final: bool) -> Sniffed:
    """Return how a text, with line ends `\\n`, is written. Unless `final`, more is to come."""
    excel = _EXCEL.match(text) if asked.skip_rows is None and not asked.delimiter and not asked.widths else None
    if excel:
        told = f'its first line says "{excel[0].strip()}" and is no record'
        rest = sniff(text[excel.end() :], replace(asked, delimiter=excel[1], skip_rows=0), final=final)
        return Sniffed(rest.dialect, 1, [told, *rest.notes])
    if asked.skip_rows:
        place = _end_of_lines(text, asked.skip_rows)
        rest = sniff(text[place:], replace(asked, skip_rows=0), final=final)
        return Sniffed(rest.dialect, asked.skip_rows, rest.notes)
    plain = asked.dialect(asked.delimiter or _find_delimiter(text, asked.likely_delimiter))
    if _is_even(text, plain):
        return Sniffed(plain)
    dialect, notes = _settled(text, plain, asked, final=final)
    if asked.skip_rows is not None or asked.widths:
        return Sniffed(dialect, 0, notes)
    skipped, titles = _preamble(text, dialect, final=final)
    return Sniffed(dialect, skipped, [*titles, *notes])


def detect_delimiter(text: str) -> str:
    """Return the character that cuts the text's lines into the most columns, evenly; a comma if none does.

    Quoted text does not count. Comma, tab, pipe and semicolon come before `^`, `~`, `:` and the control characters of
    Hive, which are looked at only if none of the usual ones occurs in the first line and most others; then comes a
    space, if every line has as many of them.
    """
    bare = _QUOTED.sub("", text) if '"' in text else text
    lines = [line for line in bare.split("\n", _LINES)[:_LINES] if line]
    if len(lines) > 1 and not bare.endswith("\n"):
        lines.pop()  # it may be cut off
    return (
        _most_even(lines, _USUAL)
        or _most_even([_TIME.sub("", line) for line in lines], _RARE)
        or _behind_titles(lines)
        or (" " if _is_cut_by_spaces(lines) else ",")
    )


def _find_delimiter(text: str, likely: str) -> str:
    """The delimiter that the file's name promises, if its first line keeps the promise."""
    return likely if likely and likely in text.partition("\n")[0] else detect_delimiter(text)


def _most_even(lines: Sequence[str], candidates: str) -> str:
    scores = {each: _evenness(lines, each) for each in candidates}
    if scores.get(";", (0.0, 0)) >= (1.0, 1):  # 1,5;2,5
        scores[","] = _evenness([_DECIMAL_COMMA.sub("", line) for line in lines], ",")
    best = max(candidates, key=lambda each: scores[each])
    return best if scores[best] > (0.5, 0) else ""


def _evenness(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
    """The share of lines with as many delimiters as most lines have, and how many these are."""
    if not lines or delimiter not in lines[0]:
        return 0.0, 0
    count, times = Counter(line.count(delimiter) for line in lines).most_common(1)[0]
    return (times / len(lines), count) if count else (0.0, 0)


def _behind_titles(lines: Sequence[str]) -> str:
    """The delimiter of lines that do not begin with the first: at least three columns, in all of them."""
    for number in range(1, min(_MOST_SKIPPED, len(lines) - 2)):
        for delimiter in _USUAL:
            share, count = _evenness(lines[number:], delimiter)
            if count > 1 and share > 0.9:
                return delimiter
    return ""


def _is_cut_by_spaces(lines: Sequence[str]) -> bool:
    """Say whether single spaces cut all lines into as many fields, and numbers stand in one of them: names do not."""
    rows = [_MOMENT.sub("T", line).split(" ") for line in lines]
    if len(rows) < _LEAST_LINES or len(set(map(len, rows))) > 1 or len(rows[0]) == 1 or any("" in row for row in rows):
        return False
    return any(classify(column) not in (TEXT, NOTHING) for column in zip(*rows[1:], strict=True))


def _is_even(text: str, dialect: Dialect) -> bool:
    """Say whether nothing is odd about a text: nearly all are so, and need not be looked at closely."""
    first = text.partition("\n")[0]
    signs = (dialect.delimiter * 2, f"{dialect.delimiter} ", "'")
    if not dialect.is_simple or dialect.quote in text or any(sign in first for sign in signs):
        return False
    lines = text.split("\n", _LINES)[:_LINES]
    return len({line.count(dialect.delimiter) for line in lines[: max(len(lines) - 1, 1)] if line}) == 1


@lru_cache(maxsize=8)
def _records(text: str, dialect: Dialect, *, final: bool, width: int = 0) -> list[ExactRecord]:
    return list(islice(split_exactly(text, dialect, width, final=final), _LINES))


def _settled(text: str, plain: Dialect, asked: Asked, *, final: bool) -> tuple[Dialect, list[str]]:
    """The dialect by which the most records are whole and alike, the plainest first."""
    best, told = plain, ""
    fewest = _faults(text, plain, final=final)
    for dialect, note in _others(text, plain, asked):
        if not fewest and not _is_needed(text, dialect, plain, final=final):
            continue
        faults = _faults(text, dialect, final=final)
        if faults < fewest or (not fewest and not faults):
            best, told, fewest = dialect, note, faults
    return best, [told] if told else []


def _others(text: str, plain: Dialect, asked: Asked) -> Iterator[tuple[Dialect, str]]:
    """The dialects that a text may have, if it shows signs of them."""
    delimiter = plain.delimiter
    if not asked.delimiter and delimiter * 2 in text.partition("\n")[0]:
        doubled = replace(plain, delimiter=delimiter * 2)
        yield doubled, f'its delimiter is "{delimiter * 2}"'
    if delimiter + " " in text and not delimiter.isspace():
        yield replace(plain, pads=True), "spaces behind its delimiters are no part of the values"
    if asked.escape is None and f"\\{plain.quote or chr(0)}" in text:
        yield replace(plain, escape="\\"), "a backslash stands before quotes that are text"
    if asked.quote is None and "'" in text:
        yield replace(plain, quote="'"), "its quotes are ' rather than \""
    if asked.quote is None and '"' in text and _are_mostly_stray(text, plain):
        yield replace(plain, quote=""), "its quotes are plain characters: some stand where no quote can open or close"


def _are_mostly_stray(text: str, plain: Dialect) -> bool:
    """Say whether more records have quotes where none belong than fields are quoted as they should be.

    One such record alone is rather a fault of that record.
    """
    records = _records(text, plain, final=True)
    width = _usual_width(records)
    odd = [bool(each.problem) or (any(each.quoted) and len(each.fields) != width) for each in records]
    sound = sum(sum(each.quoted) for each, is_odd in zip(records, odd, strict=True) if not is_odd)
    return sum(odd) >= max(sound, 2)


def _faults(text: str, dialect: Dialect, *, final: bool) -> int:
    """How many records are not as most of them are; what stands before the first such one may be a title."""
    records = _records(text, dialect, final=final)
    width = _usual_width(records)
    records = _records(text, dialect, final=final, width=width) if dialect.quote else records
    start = _steady_from(records, width)
    return sum(bool(each.problem) or abs(len(each.fields) - width) > 0 for each in records[start:] if not each.is_blank)


def _is_needed(text: str, dialect: Dialect, plain: Dialect, *, final: bool) -> bool:
    """Say whether a dialect explains what would be odd in one that explains all lines."""
    rows = [each.fields for each in _records(text, plain, final=final) if not each.is_blank]
    if dialect.delimiter != plain.delimiter:  # a||b: each second field has no name; by || all records are alike
        widths = {len(each.fields) for each in _records(text, dialect, final=final) if not each.is_blank}
        return bool(rows) and len(rows[0]) % 2 == 1 and not any(rows[0][1::2]) and len(widths) == 1
    if dialect.pads:
        cells = [cell for row in rows for cell in row[1:]]
        return bool(cells) and all(cell.startswith(" ") or not cell for cell in cells)
    if dialect.quote == "'":
        wrapped = [len(cell) > 1 and cell.startswith("'") and cell.endswith("'") for cell in rows[0]] if rows else []
        return bool(wrapped) and all(wrapped)
    return False


def _usual_width(records: Sequence[ExactRecord]) -> int:
    widths = Counter(len(each.fields) for each in records if not each.is_blank and not each.problem)
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _steady_from(records: Sequence[ExactRecord], width: int) -> int:
    """The index of the first record from which two in a row have the usual width."""
    widths = [len(each.fields) for each in records]
    for index, (one, other) in enumerate(zip(widths, widths[1:] or widths, strict=False)):
        if one == other == width:
            return index
    return 0


def _preamble(text: str, dialect: Dialect, *, final: bool) -> tuple[int, list[str]]:
    """How many lines stand before the first record, and what is said of them."""
    records = _records(text, dialect, final=final)
    width = _usual_width(records)
    start = _steady_from(records, width)
    before = records[:start]
    is_header_behind = judge_header([each.fields for each in records[start:]]) is Header.SURE if start else False
    if start == 1 and len(before[0].fields) == width - 1 and not _is_comment(before[0]) and not is_header_behind:
        return 0, []  # a header with a name less than there are fields
    if not start:
        start = _padded_titles(records, width)
        before = records[:start]
    if (
        not start
        or start > _MOST_SKIPPED
        or width < 2
        or not (is_header_behind or all(_may_be_title(each, width) for each in before))
    ):
        return 0, []
    lines = sum(each.raw.count("\n") + 1 for each in before)
    shown = next((each.raw for each in before if not each.is_blank), "").partition("\n")[0]
    if not shown:
        return 0, []  # blank lines are passed over anyway
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    which = "its first line is" if lines == 1 else f"its first {lines:,} lines are"
    return lines, [f'{which} no record of {counted(width, "field")}, and skipped: "{shown}"']


def _is_comment(record: ExactRecord) -> bool:
    return record.raw.startswith(_COMMENT)


def _may_be_title(record: ExactRecord, width: int) -> bool:
    present = sum(bool(cell.strip()) for cell in record.fields)
    return _is_comment(record) or present <= max(1, width // 2)


def _padded_titles(records: Sequence[ExactRecord], width: int) -> int:
    """How many records have but one cell that is not empty, before one that names all columns."""
    rows = [each.fields for each in records if not each.problem]
    count = next((n for n, row in enumerate(rows) if sum(map(bool, row)) > 1), 0)
    if not count or width < 3 or not any(map(any, rows[:count])) or not all(rows[count]):
        return 0
    return count if has_header(rows[count:]) else 0


def _end_of_lines(text: str, lines: int) -> int:
    place = 0
    for _ in range(lines):
        place = text.find("\n", place) + 1
        if not place:
            return len(text)
    return place
