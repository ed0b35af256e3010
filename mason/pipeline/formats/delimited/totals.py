"""Records that may be none: the sum of the others, a remark, a comment, a drawn line, a line in quotes as a whole."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LEAST_OTHERS = 2
_LEAST_FIELDS = 3
_SHOWN = 60
_WORDS = re.compile(
    r"(?:grand |sub|sub-|sub )?totals?|total general|totale|totaal|sum|sums|summe|gesamt|gesamtsumme|somme|suma|razem"
    r"|insgesamt|итого|всего|合計|总计|總計|합계",
    re.IGNORECASE,
)

_COMMENTS = ("# ", "// ", "-- ")
_DRAWN = re.compile(r"[-=_+|:]{2,}")
_FRAME = re.compile(r"\+[-=+]{2,}\+")
_USUAL = ",;\t|"
_SHARE = 0.5

_AMOUNT = re.compile(r"[^A-Za-z]*[0-9][^A-Za-z]*")


def describe_total(rows: Sequence[Sequence[str]], *, header: bool) -> list[str]:
    """What is said of the last of all records of a file if it seems to be the sum of the others, or a remark."""
    records = rows[1:] if header else rows
    if _is_remark(records):
        return [f'its last record says "{_label(records[-1])}" and nothing else; skip_footer:1 leaves it out']
    if len(records) <= _LEAST_OTHERS or not _is_total(records[-1]) or any(map(_is_total, records[:-1])):
        return []
    return [
        f'its last record begins with "{_label(records[-1])}" and may sum up the others; skip_footer:1 leaves it out'
    ]


def describe_odd_lines(
    rows: Sequence[Sequence[str]], numbers: Sequence[int], *, header: bool, quoted: bool
) -> list[str]:
    """What is said of records that may be comments or drawn lines, and of lines in quotes as a whole.

    `numbers` are those of the records; `quoted`: the first field of each is in quotes.
    """
    if quoted and (inside := _cuts_all(rows)):
        return [f'each of its lines is in quotes as a whole, with as many "{inside}" inside: it is read as one column']
    places = range(1 if header else 0, len(rows))
    comments = [place for place in places if rows[place][0].startswith(_COMMENTS)]
    if 0 < len(comments) <= len(rows) * _SHARE:
        sign = rows[comments[0]][0].partition(" ")[0]
        found = _render(rows[comments[0]], numbers[comments[0]])
        return [f'{found}, begins with {sign}, and is read as a record; comment:"{sign}" leaves such lines out']
    drawn = next((place for place in places if _is_drawn(rows[place])), None)
    return (
        [f"{_render(rows[drawn], numbers[drawn])}, is a drawn line, and is read as a record"]
        if drawn is not None
        else []
    )


def _cuts_all(rows: Sequence[Sequence[str]]) -> str:
    """The usual delimiter that stands as often in all records of one field each."""
    if len(rows) <= _LEAST_OTHERS or any(len(row) != 1 for row in rows):
        return ""
    first = rows[0][0]
    return next((each for each in _USUAL if each in first and len({row[0].count(each) for row in rows}) == 1), "")


def _is_drawn(row: Sequence[str]) -> bool:
    cells = [cell.strip() for cell in row if cell.strip()]
    if len(row) == 1:
        return any(map(_FRAME.fullmatch, cells))
    return len(cells) > 1 and all(map(_DRAWN.fullmatch, cells)) and any(len(cell) > _LEAST_OTHERS for cell in cells)


def _render(row: Sequence[str], number: int) -> str:
    return f'its record {number:,}, "{",".join(row)[:_SHOWN]}"'


def _is_remark(records: Sequence[Sequence[str]]) -> bool:
    """Say whether the last record has a first cell alone, and none before it lacks more than one."""
    if len(records) <= _LEAST_OTHERS or len(records[-1]) < _LEAST_FIELDS:
        return False
    first, *others = records[-1]
    return bool(first) and not any(others) and all(sum(map(bool, each)) >= len(each) - 1 for each in records[:-1])


def _is_total(record: Sequence[str]) -> bool:
    label = _label(record).rstrip(" :.=")
    return bool(_WORDS.fullmatch(label)) and any(map(_AMOUNT.fullmatch, record))


def _label(record: Sequence[str]) -> str:
    return next((each.strip() for each in record if each.strip()), "")
