"""The nearest known name to a mistyped one."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return 'Did you mean "x"?' when some known name is near, else an empty text."""
    # difflib costs as much to import as half of `mason --help`, and is needed only after a mistake.
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f'Did you mean "{by_lower[found[0]]}"?' if found else ""
