"""Records at the end that may be none: the sum of the others, a remark."""

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
