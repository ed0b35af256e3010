"""A few lines for every column, as wide as the terminal, with its histogram in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mason.pipeline.jobs.summary.sketches.moments import Bin
from mason.pipeline.jobs.summary.summaries import ColumnSummary
from mason.pipeline.jobs.summary.value_text import render_deviation, render_value
from mason.util.text_table import clip_text, room
from mason.util.words import counted

MOST_COLUMNS = 100
_BLOCKS = " ▁▂▃▄▅▆▇█"
_LONGEST_VALUE = len("2026-01-31T12:00:00+00:00")
_FREQUENT = 3


def picture(columns: Sequence[ColumnSummary], rows: int, width: int) -> list[str]:
    """Return the lines of a summary."""
    lines = [clip_text(f"{counted(rows, 'row')}, {counted(len(columns), 'column')}", width)]
    for column in columns[:MOST_COLUMNS]:
        lines += ["", *_column_lines(column, width)]
    hidden = len(columns) - MOST_COLUMNS
    return [*lines, "", f"… and {counted(hidden, 'column')} more"] if hidden > 0 else lines


def blocks(bins: Sequence[Bin]) -> str:
    """Return a histogram as a line of blocks: any value is seen, none is blank."""
    most = max((each.count for each in bins), default=0)
    return "".join(_BLOCKS[-(-each.count * (len(_BLOCKS) - 1) // most) if most else 0] for each in bins)


def _column_lines(column: ColumnSummary, width: int) -> list[str]:
    drawn = blocks(column.histogram or ())
    if len(drawn) > width // 3:
        drawn = ""
    space = width - len(drawn) - 2 * bool(drawn)
    name = render_value(
        column.name, max(space - room(column.type) - 2, space // 2)
    )  # the type is not to be pushed out by it
    title = clip_text(f"{name}  {column.type}", space)
    first = f"{title}{' ' * (width - room(title) - len(drawn))}{drawn}".rstrip()
    parts = [_counts(column), *_lines_of(_range(column), width - 2), _frequent(column)]
    return [first, *(clip_text(f"  {line}", width) for line in parts if line)]


def _counts(column: ColumnSummary) -> str:
    parts = [counted(column.count, "value"), counted(column.nulls, "null")]
    if column.nans:
        parts.append(f"{column.nans:,} NaN")
    if column.distinct is not None:
        parts.append(f"{'about ' if column.distinct_error else ''}{column.distinct:,} distinct")
    return ", ".join(parts)


def _lines_of(parts: Sequence[str], width: int) -> list[str]:
    """Parts beside each other, and below where a line has no room for more."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else part
        if lines and room(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def _range(column: ColumnSummary) -> list[str]:
    parts = []
    if column.low is not None:
        parts.append(f"{_render_value(column.low)} … {_render_value(column.high)}")
    if column.quantiles:
        parts.append(f"median {_render_value(column.quantiles['P50'])}")
    if column.mean is not None:
        parts.append(f"mean {_render_value(column.mean)}")
    if column.deviation is not None:
        parts.append(f"± {render_deviation(column.deviation, column.deviation_unit, _LONGEST_VALUE)}")
    if column.lengths:
        lengths = column.lengths
        parts.append(f"length {lengths.low:,} … {lengths.high:,}, mean {lengths.mean:.4g}")
    return parts


def _frequent(column: ColumnSummary) -> str:
    often = [each for each in column.frequent or () if each.count > 1][:_FREQUENT]
    return ", ".join(f"{_render_value(each.value)} ({_share(each.count, column.count)})" for each in often)


def _share(count: int, of: int) -> str:
    share = f"{100 * count / of:.3g} %"
    return share if share != "100 %" or count == of else "> 99.9 %"


def _render_value(value: Any) -> str:
    return render_value(value, _LONGEST_VALUE)
