"""Whether the lines inside quotes are text, or records that a stray quote has swallowed: decided here, and only here.

Take a quote that stands where one may open, and another one, lines further down, where one may close. Either they are
what they seem, and the lines between them are text; or both are stray (`"5 inch` and `6"`), and the lines are records.

If they are records, then each line has as many fields as a record, and this holds for the first and the last line as
well, with the quote taken for text. A table that somebody pasted into a field does not pass: its first line stands
behind other fields, or other fields stand behind its last line, and these have too many. And the columns before and
behind the field hold the same kind of values in all lines. Text that passes all the same is so rare that neither
reading is to be trusted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SURE_LINES = 3
"""So many lines between the first and the last say something."""
FAR_LINES = 1_000
"""So many lines say it all, however the quote is closed: nobody has to look for its end in the rest of the file."""

LINE_END = re.compile(r"\r\n|\r|\n")
_LETTER = re.compile(r"[^\W\d_]").search


def look_like_records(inside: str, before: Sequence[str], behind: Sequence[str], delimiter: str, width: int) -> bool:
    """Say whether the lines of a quoted field look like records of `width` fields, 0 if that is not known.

    `before` and `behind` are the other fields of its record.
    """
    if width < 2:
        return False
    lines = LINE_END.split(inside, FAR_LINES)
    if not SURE_LINES + 2 <= len(lines) <= FAR_LINES or lines[-1].count(delimiter) + len(behind) != width - 1:
        return False
    return _are_records(lines[:-1], before, behind, delimiter, width)


def look_far(inside: str, before: Sequence[str], delimiter: str, width: int) -> bool:
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
