"""Draws blocks with rich, which is imported here and nowhere else: only when something is drawn."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import accumulate

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mason.cli.views.blocks import Block, Grid, Lines, Pairs
from mason.util.text_table import clip_text, escape_controls, pad_text, room
from mason.util.words import counted

_GAP = 2
_WIDEST = (28, 16, 10)
"""How wide a column may stay where not all have room: the first with which they have, else the first of all."""
_NARROWEST_FOLDED = 8
_ENDLESS = 100_000


def draw_blocks(blocks: Sequence[Block], width: int | None, *, coloured: bool) -> str:
    """Return the blocks as text for a terminal of so many columns, or for a file where there is no width."""
    return "\n\n".join("\n".join(_draw(block, width, coloured)) for block in blocks)


def draw_grey(text: str, *, coloured: bool) -> str:
    """Return a line that stands back."""
    return _render(Text(escape_controls(text), style="dim"), None, coloured)


def _draw(block: Block, width: int | None, coloured: bool) -> Iterator[str]:
    if isinstance(block, Lines):
        for line in block.lines:
            yield escape_controls(line)
    elif isinstance(block, Pairs):
        yield from _draw_pairs(block, width, coloured)
    else:
        yield from _draw_grid(block, width, coloured)


def _draw_pairs(block: Pairs, width: int | None, coloured: bool) -> Iterator[str]:
    most = width or _ENDLESS
    names = min(max(room(name) for name, _ in block.values), max(most // 2, 1))
    for name, value in block.values:
        line = Text.assemble(
            (pad_text(clip_text(name, names), names), "bold"), "  ", clip_text(value, most - names - _GAP)
        )
        yield _render(line, width, coloured)


def _draw_grid(block: Grid, width: int | None, coloured: bool) -> Iterator[str]:
    widths = _fit_widths(block, width)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for number, size in enumerate(widths):
        table.add_column(
            Text(clip_text(block.headers[number], size)),
            width=size,
            justify="right" if number in block.numbers else "left",
            overflow="fold",
            no_wrap=not block.folds,
        )
    if block.types:
        table.add_row(
            *(Text(clip_text(each, size), style="dim") for each, size in zip(block.types, widths, strict=False))
        )
    for row in block.rows:
        cells = zip(row, widths, strict=False)
        table.add_row(*(Text(cell if block.folds else clip_text(cell, size)) for cell, size in cells))
    if block.title:
        yield _render(Text(block.title, style="bold"), width, coloured)
    yield _render(table, sum(widths) + _GAP * len(widths), coloured)
    hidden = len(block.headers) - len(widths) + block.columns_left_out
    if hidden:
        yield draw_grey(f"… and {counted(hidden, 'column')} more", coloured=coloured)
    if block.left_out:
        yield draw_grey(f"… {block.left_out:,} more{'; -o csv for all' * block.can_be_csv}", coloured=coloured)


def _fit_widths(block: Grid, width: int | None) -> list[int]:
    """Return how wide the columns are that have room: as wide as their cells, then less of the widest, then fewer."""
    lines = [block.headers, *([block.types] if block.types else []), *block.rows]
    widths = [max(room(line[number]) for line in lines) for number in range(len(block.headers))]
    if width is None:
        return widths
    room_for_cells = width - _GAP * (len(widths) - 1)
    tries = [_narrow(widths, room_for_cells, most) for most in ((_NARROWEST_FOLDED,) if block.folds else _WIDEST)]
    widths = next((each for each in tries if sum(each) <= room_for_cells), tries[0])
    fitting = sum(total - _GAP <= width for total in accumulate(each + _GAP for each in widths))
    return widths[:fitting] or [min(widths[0], max(width, 1))]


def _narrow(widths: Sequence[int], room_for_cells: int, most: int) -> list[int]:
    """Take from the widest columns until all have room, or none is wider than this."""
    narrowed, too_much = list(widths), sum(widths) - room_for_cells
    while too_much > 0 and max(narrowed) > most:
        narrowed[narrowed.index(max(narrowed))] -= 1
        too_much -= 1
    return narrowed


def _render(shown: Text | Table, width: int | None, coloured: bool) -> str:
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=width or _ENDLESS,
        color_system="standard" if coloured else None,
        force_terminal=coloured,
        legacy_windows=False,
        markup=False,
        highlight=False,
        emoji=False,
    )
    console.print(shown, soft_wrap=isinstance(shown, Text))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())
