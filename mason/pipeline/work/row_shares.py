"""Where the rows of a job went, for people: a line for each part, with a bar as long as its share."""

from __future__ import annotations

from collections.abc import Mapping

_LONGEST_BAR = 40


def row_shares(parts: Mapping[str, int], width: int) -> list[str]:
    """Return the lines; parts without rows are left out, except for the first."""
    first, *others = parts
    told = {name: f"{parts[name]:,}" for name in (first, *(each for each in others if parts[each]))}
    names, counts = (max(map(len, texts)) for texts in (told, told.values()))
    room = min(width - names - counts - len("    100 %"), _LONGEST_BAR)
    total = sum(parts.values()) or 1
    return [
        f"{name.ljust(names)}  {count.rjust(counts)}  {_bar(parts[name] / total, room)}{_percent(parts[name] / total)}"
        for name, count in told.items()
    ]


def _bar(share: float, room: int) -> str:
    """Any row is seen, however small its share."""
    length = max(round(share * room), 1) if share and room > 0 else 0
    return "█" * length + " " * bool(length)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
