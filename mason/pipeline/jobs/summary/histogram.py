"""How many values lie between equally distant bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mason.pipeline.jobs.summary.hashing import Numbers


@dataclass(frozen=True)
class Bin:
    """How many values are at least `begin` and less than `end`; where both are the same, how many have this value.

    In the last bin `end` itself is one of them.
    """

    begin: Any
    end: Any
    count: int

    def to_dict(self) -> dict[str, Any]:
        return {"From": self.begin, "To": self.end, "Count": self.count}


def histogram(
    values: Numbers, counts: Numbers, extremes: tuple[Any, Any], bins: int, show: Callable[[Any], Any]
) -> Sequence[Bin]:
    """Return at most so many bins for values in their order, each of which stands for some.

    The extremes are those of all values, which need not be among these. What is infinite is left out: no bound is
    beyond it.
    """
    if values.dtype.kind == "f":
        is_finite = np.isfinite(values)
        values, counts = values[is_finite], counts[is_finite]
    if not len(values) or not bins:
        return []
    ends_seen = (values[0].item(), values[-1].item())
    low, high = (end if math.isfinite(end) else seen for end, seen in zip(extremes, ends_seen, strict=True))
    begins, ends = _bounds(low, high, bins)
    places = np.searchsorted(np.array(begins, values.dtype), values, side="right") - 1
    sums = np.bincount(places, counts, len(begins)).astype(np.int64).tolist()
    return [Bin(*each) for each in zip(map(show, begins), map(show, ends), sums, strict=True)]


def _bounds(low: Any, high: Any, bins: int) -> tuple[list[Any], list[Any]]:
    if isinstance(low, float):
        step = high / bins - low / bins  # not their difference: it may be infinite
        begins = [each for each in dict.fromkeys(low + number * step for number in range(bins)) if each < high]
        return (begins, [*begins[1:], high]) if begins else ([low], [high])
    span = high - low + 1  # whole numbers have whole bounds, and a bin each where they are few
    begins = [low + number * span // min(bins, span) for number in range(min(bins, span))]
    return begins, begins if span <= bins else [*begins[1:], high]
