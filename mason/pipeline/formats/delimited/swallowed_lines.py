"""Whether the lines inside quotes are text, or records that a stray quote has swallowed: decided here, and only here.

Take a quote that stands where one may open, and another one, lines further down, where one may close. Either they are
what they seem, and the lines between them are text; or both are stray (`"5 inch` and `6"`), and the lines are records.

If they are records, then each line has as many fields as a record, and this holds for the first and the last line as
well, with the quote taken for text. A table that somebody pasted into a field does not pass: its first line stands
behind other fields, or other fields stand behind its last line, and these have too many. And the columns before and
behind the field hold the same kind of values in all lines. Text that passes all the same is so rare that neither
reading is to be trusted.

Few lines pass by chance. They have to say more: that all columns but those of the quotes hold the same kind of values,
numbers or dates among them. Else they stay text, and are told, unless they are written as prose is, with a space behind
a comma.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

SURE_LINES = 3
"""So many lines between the first and the last say something."""
LEAST_WIDTH = 3
"""Fewer columns say too little to set few lines aside: one is left at most beside those that a text stands between."""
FAR_LINES = 1_000
"""So many lines say it all, however the quote is closed: nobody has to look for its end in the rest of the file."""

LINE_END = re.compile(r"\r\n|\r|\n")
_LETTER = re.compile(r"[^\W\d_]").search
_DATE = re.compile(r"[0-9]+([-/.:])[0-9]+\1[0-9]+.*").fullmatch


class Lines(IntEnum):
    """What the lines of a quoted field are."""

    TEXT = 0
    DOUBTFUL = 1
    """They are read as text, and could be records: that is told."""
    RECORDS = 2
    """They look so much like records that neither reading is to be trusted."""


def judge_lines(inside: str, before: Sequence[str], behind: Sequence[str], delimiter: str, width: int) -> Lines:
    """Say whether the lines of a quoted field look like records of `width` fields, 0 if that is not known.

    `before` and `behind` are the other fields of its record.
    """
    if width < 2:
        return Lines.TEXT
    lines = LINE_END.split(inside, FAR_LINES)
    if not 2 <= len(lines) <= FAR_LINES or lines[-1].count(delimiter) + len(behind) != width - 1:
        return Lines.TEXT
    if not _are_records(lines[:-1], before, behind, delimiter, width):
        return Lines.TEXT
    inner = len(lines) - 2
    if inner >= SURE_LINES:
        return Lines.RECORDS
    if _is_prose(lines, before, behind, delimiter):
        return Lines.TEXT
    is_likely = _are_alike_in_kind(lines, before, behind, delimiter)
    if inner:
        return Lines.RECORDS if is_likely and width >= LEAST_WIDTH else Lines.DOUBTFUL
    return Lines.DOUBTFUL if is_likely else Lines.TEXT


def has_many_record_lines(inside: str, before: Sequence[str], delimiter: str, width: int) -> bool:
    """Say whether very many lines of a quoted field look like records, whatever stands behind them."""
    if width < 2:
        return False
    lines = LINE_END.split(inside, FAR_LINES)
    return len(lines) > FAR_LINES and _are_records(lines[:-1], before, (), delimiter, width)


def _are_records(
    lines: Sequence[str], before: Sequence[str], behind: Sequence[str], delimiter: str, width: int
) -> bool:
    first, *others = lines
    if len(before) + first.count(delimiter) != width - 1 or any(each.count(delimiter) != width - 1 for each in others):
        return False
    rows = [line.split(delimiter) for line in others]
    columns = [*enumerate(before), *enumerate(behind, start=width - len(behind))]
    return all(_is_alike(value, [row[column] for row in rows]) for column, value in columns)


def _is_alike(value: str, others: Sequence[str]) -> bool:
    """Say whether numbers stand below a number, and words below words; an empty field says nothing."""
    kinds = {bool(_LETTER(each)) for each in (value, *others) if each.strip()}
    return len(kinds) < 2


def _is_prose(lines: Sequence[str], before: Sequence[str], behind: Sequence[str], delimiter: str) -> bool:
    """Say whether a space stands behind a delimiter of the lines, and not in the fields around them."""
    return any(f"{delimiter} " in line for line in lines) and not any(each[:1] == " " for each in (*before, *behind))


def _are_alike_in_kind(lines: Sequence[str], before: Sequence[str], behind: Sequence[str], delimiter: str) -> bool:
    """Say whether the columns beside the quotes hold values of one kind each, and not all of them words."""
    first, *inner, last = (line.split(delimiter) for line in lines)
    rows = [[*before, *first], *inner, [*last, *behind]]
    width = len(rows[0])
    others = [number for number in range(width) if number not in (len(before), width - 1 - len(behind))]
    kinds = [{_kind(row[number]) for row in rows if row[number].strip()} for number in others]
    return all(len(each) < 2 for each in kinds) and any(each and each != {"word"} for each in kinds)


def _kind(value: str) -> str:
    if _LETTER(value):
        return "word"
    return "date" if _DATE(value) else "number"
