"""Text as a test expects it: `…` in it stands for any text."""

from __future__ import annotations

import re

ANY = "…"


def is_text(expected: str, found: str) -> bool:
    """Say whether the text is the one that is expected."""
    return _pattern(expected).fullmatch(found) is not None


def has_part(expected: str, found: str) -> bool:
    """Say whether what is expected is a part of the text."""
    return _pattern(expected).search(found) is not None


def _pattern(expected: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, expected.split(ANY))), re.DOTALL)
