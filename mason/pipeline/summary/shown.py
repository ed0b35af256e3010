"""Values in one line for people; the JSON of a summary has them in full."""

from __future__ import annotations

import unicodedata
from typing import Any

from mason.util.json_text import json_value


def shown(value: Any, longest: int) -> str:
    """Return a value in one line that takes no more room, without anything that would move a cursor."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:,.6g}"
    plain = json_value(value)
    if isinstance(plain, int):
        return f"{plain:,}"
    text = "".join(each if each.isprintable() else repr(each)[1:-1] for each in str(plain)[: 2 * longest])
    return clipped(text, longest) or '""'


def clipped(text: str, width: int) -> str:
    """Return a text that takes no more room than this; one that was longer ends in dots."""
    if room(text) <= width:
        return text
    while room(text) > max(width - 1, 0):
        text = text[:-1]
    return f"{text}…"


def room(text: str) -> int:
    """Return how much room a text takes on a terminal: some characters are as wide as two."""
    return sum(1 + (unicodedata.east_asian_width(each) in "WF") for each in text)
