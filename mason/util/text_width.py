"""How much room texts take on a terminal, where some characters are as wide as two, and accents stand above others."""

from __future__ import annotations


def room(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    import unicodedata  # of no use to most commands

    above = ("Mn", "Me")  # marks that are drawn over what is before them
    return sum(
        1 + (unicodedata.east_asian_width(each) in "WF") for each in text if unicodedata.category(each) not in above
    )


def clipped(text: str, width: int) -> str:
    """Return a text that takes no more room than this; one that was longer ends in dots."""
    if room(text) <= width:
        return text
    while room(text) > max(width - 1, 0):
        text = text[:-1]
    return f"{text}…"


def padded(text: str, width: int) -> str:
    """Return a text that takes at least so much room."""
    return text + " " * (width - room(text))
