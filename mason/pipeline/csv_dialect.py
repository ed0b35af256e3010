"""How a delimited text is written: its delimiter, and whether its first record names the columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from mason.errors import BadInput
from mason.pipeline.csv_records import QUOTED_EMPTY
from mason.pipeline.text_types import classify
from mason.pipeline.types import NOTHING, TEXT

_USUAL = ",\t|;"
_RARE = "\x01\x1f^~:"
_LINES = 200
_QUOTED = re.compile(r'(?<![^\n,\t|;\x01\x1f^~:])"(?:[^"]+|"")*+(?:"|\Z)')
_TIME = re.compile(r"[0-9]{2}(?::[0-9]{2}){1,2}")
_DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")


def detect_delimiter(text: str) -> str:
    """Return the character that cuts the text's lines into the most columns, evenly; a comma if none does.

    Quoted text does not count. Comma, tab, pipe and semicolon come before `^`, `~`, `:` and the control characters of
    Hive, which are looked at only if none of the usual ones occurs in the first line and most others.
    """
    bare = _QUOTED.sub("", text) if '"' in text else text
    lines = [line for line in bare.split("\n", _LINES)[:_LINES] if line]
    if len(lines) > 1 and not bare.endswith("\n"):
        lines.pop()  # it may be cut off
    return _most_even(lines, _USUAL) or _most_even([_TIME.sub("", line) for line in lines], _RARE) or ","


def checked_delimiter(wanted: str) -> str:
    """Return the delimiter that the user named; `\\t` is a tab.

    Raises:
        BadInput: it is not one character of ASCII.
    """
    delimiter = "\t" if wanted in ("\\t", "tab") else wanted
    if len(delimiter) > 1 or not delimiter.isascii() or delimiter in ('"', "\n", "\r"):
        raise BadInput(
            f'"{wanted}" cannot be a delimiter.',
            hint="It is one character of ASCII (a tab is \\t), and neither a quote nor a line end.",
        )
    return delimiter


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


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the first record names the columns.

    It does when all its cells are words, that is neither numbers, dates nor booleans, and
    - below at least one of them stand values that are not words, or
    - all below are words too, but the cells are distinct, none is empty, and none occurs again in its own column.
    A file of one record of words is a header without rows, because a table without names is rarer than an empty one.
    """
    first, below = rows[0], rows[1:]
    words = [cell for cell in first if cell and cell != QUOTED_EMPTY]
    if not words or any(classify([cell]) is not TEXT for cell in words):
        return False
    columns = [[row[index] for row in below if index < len(row)] for index in range(len(first))]
    if any(cell and classify(column) not in (TEXT, NOTHING) for cell, column in zip(first, columns, strict=True)):
        return True
    distinct = len(set(words)) == len(first)
    return distinct and not any(cell in column for cell, column in zip(first, columns, strict=True))


def column_names(first: Sequence[str], *, header: bool) -> list[str]:
    """Return the names of the columns: the header's, and `col_0`, `col_1` … where there is none."""
    if not header:
        return [f"col_{index}" for index in range(len(first))]
    return [cell if cell and cell != QUOTED_EMPTY else f"col_{index}" for index, cell in enumerate(first)]
