"""How many parts constants have an engine prepare before it reads a row: `stack(2000000000, id)` is as many columns.

Spark makes them while it plans, out of reach of every limit of a task: it took the memory of the Spark that all calls
share, and with some it ended.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from mason.pipeline.sql.value_rules import Size, function_name

MOST_GROUPINGS = 1_024
_MOST = 10_000
_MOST_WINDOWS = 2_000  # each is a branch of the plan: ten thousand of them took Spark two minutes
_DURATION = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE)
_UNITS = {
    "microsecond": 1e-6,
    "millisecond": 1e-3,
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
    "month": 2678400,
    "year": 31622400,
}


@dataclass(frozen=True)
class Prepared:
    """How many parts something has an engine prepare, what they are called, and how many there may be."""

    count: float
    parts: str
    most: int


def count_prepared(node: Any, sizes: Sequence[Size]) -> Prepared | None:
    """Return what a node has an engine prepare, as far as constants say so."""
    if isinstance(node, exp.Group):
        return Prepared(count_groupings(node), "sets of groups", MOST_GROUPINGS)
    if not isinstance(node, exp.Anonymous) or not sizes:
        return None
    if isinstance(node.parent, exp.Hint):
        return Prepared(max(each.count for each in sizes), "partitions", _MOST)
    found = _COUNTED.get(function_name(node))
    return Prepared(found.count(sizes), found.parts, found.most) if found else None


def count_groupings(group: Any) -> float:
    """Return by how many sets of columns GROUP BY groups: `cube` doubles them with each column."""
    found = math.prod(_groupings(each) for each in group.expressions)
    for word in ("cube", "rollup", "grouping_sets"):
        for each in group.args.get(word) or ():
            found *= _groupings(each) if each.expressions else _groupings(type(each)(expressions=group.expressions))
    return found


def _groupings(node: Any) -> float:
    if isinstance(node, exp.Cube):
        return 2.0 ** min(len(node.expressions), 100)
    if isinstance(node, exp.Rollup):
        return len(node.expressions) + 1
    if isinstance(node, exp.GroupingSets):
        return sum(_groupings(each) for each in node.expressions)
    return 1


def _windows(sizes: Sequence[Size]) -> float:
    """Of `window`, how many of them each row is in."""
    if len(sizes) < 3:
        return 1
    whole, step = (_seconds(each.text or "") for each in sizes[1:3])
    return whole / step if step else 1


def _seconds(text: str) -> float:
    parts = _DURATION.findall(text)
    return abs(sum(float(number) * _UNITS.get(unit.casefold().rstrip("s"), 0) for number, unit in parts))


def _argument(place: int) -> Callable[[Sequence[Size]], float]:
    return lambda sizes: sizes[place].count if len(sizes) > place else 0


def _digits(sizes: Sequence[Size]) -> float:
    return max(abs(sizes[1].low or 0), abs(sizes[1].high or 0)) if len(sizes) > 1 else 0


@dataclass(frozen=True)
class _Counted:
    count: Callable[[Sequence[Size]], float]
    parts: str
    most: int = _MOST


_COUNTED: Mapping[str, _Counted] = {
    "stack": _Counted(_argument(0), "rows"),
    "range": _Counted(_argument(3), "partitions"),
    "window": _Counted(_windows, "windows of each row", _MOST_WINDOWS),
    "histogram_numeric": _Counted(_argument(1), "bins"),
    **dict.fromkeys(("round", "bround", "ceil", "ceiling", "floor"), _Counted(_digits, "digits")),
}
