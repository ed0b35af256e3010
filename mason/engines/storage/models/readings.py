"""Draws how delimited files are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mason.util.text_table import clip_lines
from mason.util.words import counted

_MOST_DRAWN = 5
_HEAD = ["files", "delimiter", "quote", "header", "encoding", "skipped", "records"]


def draw_readings(readings: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    """Return a table of the ways in which delimited files are read, and the first records by each of them."""
    delimited = [each for each in readings if "Delimiter" in each]
    if not delimited:
        return []
    lines, _ = clip_lines(_HEAD, list(map(_cells, delimited[:_MOST_DRAWN])), width)
    hidden = len(delimited) - _MOST_DRAWN
    lines += [f"… and {counted(hidden, 'way')} more"] if hidden > 0 else []
    for each in delimited[:_MOST_DRAWN]:
        if each.get("FirstRecords"):
            lines += ["", f"{each['Files'][0]} as it is read:", *_draw_records(each, width)]
    return lines


def _draw_records(reading: Mapping[str, Any], width: int) -> Iterator[str]:
    names = reading["ColumnNames"][:width]
    rows = [[*row, *[""] * (len(names) - len(row))][: len(names)] for row in reading["FirstRecords"]]
    lines, fitting = clip_lines([*map(_on_one_line, names)], [list(map(_on_one_line, row)) for row in rows], width)
    yield from lines
    hidden = len(reading["ColumnNames"]) - fitting
    if hidden:
        yield f"… and {counted(hidden, 'column')} more"


def _cells(reading: Mapping[str, Any]) -> list[str]:
    others = reading["FilesInAll"] - 1
    header = f"{'yes' if reading['Header'] else 'no'} ({reading['HeaderIs']})"
    return [
        reading["Files"][0] + (f" and {others:,} more" if others else ""),
        repr(reading["Delimiter"])[1:-1] if reading["Delimiter"] else "fixed",
        reading["Quote"] or "none",
        header,
        reading["Encoding"] + (f" ({reading['EncodingIs']})" if "EncodingIs" in reading else ""),
        f"{reading['SkippedLines']:,}",
        f"{reading['RecordsInSample']:,}",
    ]


def _on_one_line(text: str) -> str:
    return text.replace("\n", "⏎").replace("\t", "⇥")
