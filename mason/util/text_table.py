"""Tables of text, and how much room a text takes on a terminal: some characters are two wide, accents take none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, takewhile


def room(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(_widths(text))


def clip_text(text: str, width: int) -> str:
    """Return a text that takes no more room than this; one that was longer ends in dots."""
    if room(text) <= width:
        return text
    most = max(width - 1, 0)
    fitting = sum(1 for _ in takewhile(lambda end: end <= most, accumulate(_widths(text))))
    return f"{text[:fitting]}…"


def pad_text(text: str, width: int) -> str:
    """Return a text that takes at least so much room."""
    return text + " " * (width - room(text))


def escape_controls(text: str, kept: str = "") -> str:
    """Return a text that only shows: what would move the cursor, change colours or turn the direction is written out.

    The characters `kept` stay what they are.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in kept else repr(each)[1:-1] for each in text)


def _widths(text: str) -> Iterator[int]:
    """Yield how many columns each character takes."""
    import unicodedata  # of no use to most commands

    above = ("Mn", "Me")  # marks that are drawn over what is before them
    for each in text:
        yield 0 if unicodedata.category(each) in above else 1 + (unicodedata.east_asian_width(each) in "WF")


_NARROWEST_COLUMN = 8
_WIDEST_COLUMN = 28


def table_lines(headers: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Return the lines of a table; without a width nothing is folded."""
    widths = [max(map(room, column)) for column in zip(headers, *rows, strict=True)]
    if width is not None:
        widths = _narrow_columns(widths, width - 2 * (len(widths) - 1))
    lines = _row_lines(headers, widths)
    lines.append(_line(["-" * each for each in widths], widths))
    for row in rows:
        lines += _row_lines(row, widths)
    return lines


def clip_lines(headers: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> tuple[list[str], int]:
    """Return a table with one line to a row, and how many of its columns have room; what is too long ends in `…`."""
    widths = [min(max(map(room, column)), _WIDEST_COLUMN) for column in zip(headers, *rows, strict=True)]
    columns = max(sum(total - 2 <= width for total in accumulate(each + 2 for each in widths)), 1)
    fitting = widths[:columns]
    lines = [
        _line([clip_text(cell, size) for cell, size in zip(row, fitting, strict=False)], fitting)
        for row in (headers, *rows)
    ]
    return [lines[0], _line(["-" * each for each in fitting], fitting), *lines[1:]], columns


def _narrow_columns(widths: list[int], most: int) -> list[int]:
    """Take from the widest column until all fit, as long as one is worth folding."""
    narrowed = list(widths)
    while sum(narrowed) > most and max(narrowed) > _NARROWEST_COLUMN:
        narrowed[narrowed.index(max(narrowed))] -= 1
    return narrowed


def _row_lines(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    parts = [_fold_text(cell, width) for cell, width in zip(cells, widths, strict=True)]
    height = max(map(len, parts))
    return [_line([part[number] if number < len(part) else "" for part in parts], widths) for number in range(height)]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(pad_text(cell, width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _fold_text(text: str, width: int) -> list[str]:
    if room(text) <= width:
        return [text]
    from textwrap import wrap

    return wrap(text, width, break_on_hyphens=False) or [""]
