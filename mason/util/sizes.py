"""How many bytes, as people write it: 128MB, 1 GiB."""

from __future__ import annotations

import math
import re

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE).fullmatch
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
HOW = "Say it as 128MB, 1GB or 64MiB."


def read_size(text: str) -> int | None:
    """Return the bytes that a text says, or None when it says nothing of the kind."""
    found = _SIZE(text.strip())
    if not found:
        return None
    number, prefix, binary = found.groups()
    if math.isinf(float(number)):
        return None
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[prefix.lower()])
