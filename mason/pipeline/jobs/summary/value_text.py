"""Values in one line for people; the JSON of a summary has them in full."""

from __future__ import annotations

from typing import Any

from mason.util.json_text import json_value
from mason.util.text_table import clip_text

_MANY, _TOO_MANY = 1e6, 1e15
"""Numbers between these are told whole: six digits and an exponent are harder to read."""


def render_value(value: Any, longest: int) -> str:
    """Return a value in one line that takes no more room, without anything that would move a cursor."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:,.0f}" if _MANY <= abs(value) < _TOO_MANY else f"{value:,.6g}"
    plain = json_value(value)
    if isinstance(plain, int):
        return f"{plain:,}"
    text = "".join(each if each.isprintable() else repr(each)[1:-1] for each in str(plain)[: 2 * longest])
    return clip_text(text, longest) or '""'


def render_deviation(deviation: float, unit: str | None, longest: int) -> str:
    """Return a standard deviation in its unit."""
    rendered = render_value(deviation, longest)
    if unit is None:
        return rendered
    return f"{rendered} {unit}" if rendered == "1" else f"{rendered} {unit}s"
