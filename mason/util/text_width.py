"""How much room texts take on a terminal, where some characters are as wide as two, and accents stand above others."""

from __future__ import annotations

from collections.abc import Iterator
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


def _widths(text: str) -> Iterator[int]:
    """Yield how many columns each character takes."""
    import unicodedata  # of no use to most commands

    above = ("Mn", "Me")  # marks that are drawn over what is before them
    for each in text:
        yield 0 if unicodedata.category(each) in above else 1 + (unicodedata.east_asian_width(each) in "WF")
