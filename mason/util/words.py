"""Numbers in sentences, and amounts as people write them: lengths of time (90m, 12h, 30d) and sizes (128MB, 1 GiB)."""

from __future__ import annotations

import math
import re
from datetime import timedelta


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 record`, `2,000 records`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
DURATION_HOW = "Write it as 90m, 12h, 30d or 4w."


def read_duration(text: str) -> timedelta | None:
    """Return how long a text says, or None when it says nothing of the kind."""
    match = re.fullmatch(r"([1-9][0-9]{0,4})([mhdw])", text)
    return timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else None


_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE).fullmatch
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
SIZE_HOW = "Say it as 128MB, 1GB or 64MiB."


def read_size(text: str) -> int | None:
    """Return the bytes that a text says, or None when it says nothing of the kind."""
    found = _SIZE(text.strip())
    if not found:
        return None
    number, prefix, binary = found.groups()
    if math.isinf(float(number)):
        return None
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[prefix.lower()])
