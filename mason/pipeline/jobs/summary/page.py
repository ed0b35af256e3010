"""The summary as one page: nothing is loaded from anywhere, no script runs, and every name and value is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from mason.pipeline.jobs.summary.sketches.moments import Bin
from mason.pipeline.jobs.summary.summaries import ColumnSummary
from mason.pipeline.jobs.summary.value_text import render_deviation, render_value
from mason.util.words import counted

FOLD = 50
"""So many columns stand together; of more only the first are open."""

_WIDTH, _HEIGHT = 300, 80
_LONGEST_VALUE = 60

_STYLE = """
:root { color-scheme: light dark; --back: #f6f6f4; --card: #fff; --text: #1c1c1a; --soft: #6b6b66; --line: #deded9;
  --bar: #3a6ea5; --faint: #e7eef6; --gap: #c9542f; }
@media (prefers-color-scheme: dark) { :root { --back: #161615; --card: #20201f; --text: #ecece8; --soft: #9d9d96;
  --line: #363634; --bar: #6ea3d8; --faint: #26333f; --gap: #e0805f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 24px; background: var(--back); color: var(--text);
  font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 20px; margin: 0 0 4px; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
summary { cursor: pointer; padding: 10px 0; color: var(--soft); overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(340px, 1fr)); gap: 14px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px; min-width: 0;
  content-visibility: auto; contain-intrinsic-size: auto 360px; }
h2 { font: 600 14px/1.4 ui-monospace, monospace; margin: 0; overflow-wrap: anywhere; }
.type { font: 12px/1.4 ui-monospace, monospace; color: var(--soft); overflow-wrap: anywhere; }
.full { height: 4px; background: var(--gap); border-radius: 2px; margin: 8px 0; overflow: hidden; }
.full div { height: 4px; background: var(--bar); }
svg { display: block; width: 100%; height: 80px; margin-top: 10px; }
svg rect { fill: var(--bar); }
.ends { display: flex; justify-content: space-between; gap: 8px; border-top: 1px solid var(--line); font-size: 12px;
  color: var(--soft); }
.ends span { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
table { border-collapse: collapse; width: 100%; margin-top: 10px; font-size: 12.5px; }
td { padding: 1px 0; white-space: nowrap; }
td:first-child { color: var(--soft); padding-right: 10px; }
td:last-child { text-align: right; font-variant-numeric: tabular-nums; width: 100%; max-width: 0; overflow: hidden;
  text-overflow: ellipsis; }
.often { margin-top: 10px; font-size: 12.5px; }
.often div { position: relative; display: flex; justify-content: space-between; gap: 10px; padding: 1px 4px;
  margin-top: 2px; }
.often i { position: absolute; inset: 0 auto 0 0; background: var(--faint); border-radius: 3px; }
.often span { position: relative; overflow-wrap: anywhere; white-space: pre-wrap; }
.often span:last-child { flex: none; }
"""


def page(path: str, rows: int, columns: Sequence[ColumnSummary]) -> str:
    """Return the page of a summary."""
    title = f"Summary of {path}"
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            # Should a value ever get out of its place, the browser runs and loads nothing.
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{escape(title)}</h1>",
            f'<p class="soft">{counted(rows, "row")}, {counted(len(columns), "column")}</p>',
            *_folds(columns),
            "</body></html>\n",
        ]
    )


def _folds(columns: Sequence[ColumnSummary]) -> Iterator[str]:
    if len(columns) <= FOLD:
        yield _cards(columns)
        return
    for first in range(0, len(columns), FOLD):
        some = columns[first : first + FOLD]
        names = f"{_text(some[0].name)} … {_text(some[-1].name)}"
        heading = f"Columns {first + 1:,} to {first + len(some):,}: {names}"
        yield f"<details{' open' * (first == 0)}><summary>{heading}</summary>{_cards(some)}</details>"


def _cards(columns: Sequence[ColumnSummary]) -> str:
    return '<div class="cards">\n{}</div>'.format("\n".join(map(_card, columns)))


def _card(column: ColumnSummary) -> str:
    return "\n".join(
        [
            f'<section class="card"><h2>{_text(column.name)}</h2><div class="type">{escape(column.type)}</div>',
            _fullness(column),
            _plot(column),
            _facts(column),
            _often(column),
            "</section>",
        ]
    )


def _fullness(column: ColumnSummary) -> str:
    rows = column.count + column.nulls
    share = 100 * column.count / rows if rows else 0
    fullness = f"{column.count:,} of {rows:,} are not null"
    return f'<div class="full" title="{fullness}"><div style="width:{share:.2f}%"></div></div>' if rows else ""


def _plot(column: ColumnSummary) -> str:
    bins = column.histogram
    if not bins:
        return ""
    what = " (length)" if column.lengths else ""
    first, last = _text(bins[0].begin), _text(bins[-1].end)
    label = f"Histogram from {first} to {last}"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{label}">'
        f'{"".join(_bars(bins))}</svg><div class="ends"><span>{first}</span><span>{last}{what}</span></div>'
    )


def _bars(bins: Sequence[Bin]) -> Iterator[str]:
    most = max(each.count for each in bins) or 1
    step = _WIDTH / len(bins)
    for number, each in enumerate(bins):
        height = _HEIGHT * each.count / most
        span = _text(each.begin) if each.begin == each.end else f"{_text(each.begin)} to {_text(each.end)}"
        place = f'x="{number * step + 0.5:.2f}" y="{_HEIGHT - height:.2f}"'
        size = f'width="{max(step - 1, 0.5):.2f}" height="{height:.2f}"'
        yield f"<rect {place} {size}><title>{span}: {each.count:,}</title></rect>"


def _facts(column: ColumnSummary) -> str:
    about = f" ± {100 * column.distinct_error:.2g} %" if column.distinct_error else ""
    facts: list[tuple[str, Any]] = [
        ("values", f"{column.count:,}"),
        ("nulls", f"{column.nulls:,}"),
        ("NaN", f"{column.nans:,}" if column.nans else None),
        ("distinct", None if column.distinct is None else f"{column.distinct:,}{about}"),
        ("min", column.low),
        *((name.lower(), value) for name, value in (column.quantiles or {}).items()),
        ("max", column.high),
        ("mean", column.mean),
    ]
    if column.deviation is not None:
        facts.append(("standard deviation", render_deviation(column.deviation, column.deviation_unit, _LONGEST_VALUE)))
    if column.lengths:
        lengths = column.lengths
        facts.append(("length", f"{lengths.low:,} to {lengths.high:,}, mean {lengths.mean:.4g}"))
    rows = (f"<tr><td>{name}</td><td>{_text(value)}</td></tr>" for name, value in facts if value is not None)
    return f"<table>{''.join(rows)}</table>"


def _often(column: ColumnSummary) -> str:
    if not column.frequent:
        return ""
    most = max(each.count for each in column.frequent)
    rows = (
        f'<div><i style="width:{100 * each.count / most:.1f}%"></i><span>{_text(each.value)}</span>'
        f"<span>{each.count:,}</span></div>"
        for each in column.frequent
    )
    least = f", each at most {column.frequent_error:,} more" if column.frequent_error else ""
    return f'<div class="often"><span class="soft">most frequent{least}</span>{"".join(rows)}</div>'


def _text(value: Any) -> str:
    """A value as the page shows it: escaped, and not too long."""
    return escape(render_value(value, _LONGEST_VALUE))
