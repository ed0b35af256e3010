"""How long something lasts, as people write it: 90m, 12h, 30d, 4w."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
HOW = "Write it as 90m, 12h, 30d or 4w."


def read_duration(text: str) -> timedelta | None:
    """Return how long a text says, or None when it says nothing of the kind."""
    match = re.fullmatch(r"([1-9][0-9]{0,4})([mhdw])", text)
    return timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else None
