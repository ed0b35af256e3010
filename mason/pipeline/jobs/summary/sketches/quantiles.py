"""Quantiles from few of the values: each that is kept stands for as many as its level says (KLL).

Where a level is too full it is sorted, and every other of its values goes up a level and counts for two. Which of the
two is chance, so that the errors of many such steps cancel out; the count of all values stays exact.
Karnin, Lang, Liberty: Optimal Quantile Approximation in Streams, 2016.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mason.pipeline.jobs.summary.sketches.arrays import decode_array, encode_array
from mason.pipeline.jobs.summary.sketches.hashing import Numbers

_SHRINK = 2 / 3
_SMALLEST_LEVEL = 8


class QuantileSketch:
    """About three times `size` values, of however many."""

    def __init__(self, size: int, kind: str, seed: int = 0) -> None:
        self.size = size
        self._kind = kind
        self._chance = np.random.default_rng(seed)
        self._levels: list[Numbers] = [np.zeros(0, kind)]
        self.count = 0

    def add(self, values: Numbers, counts: Numbers) -> None:
        """Take different values and how often each occurs."""
        if not len(values):
            return
        self.count += int(counts.sum())
        for level in range(int(counts.max()).bit_length()):  # a value that occurs five times counts once and four times
            self._put(level, values[(counts >> level) & 1 == 1])
        self._compact()

    def merge(self, other: QuantileSketch) -> None:
        """Take what another one has seen."""
        self.size = min(self.size, other.size)
        self.count += other.count
        for level, values in enumerate(other._levels):
            self._put(level, values)
        self._compact()

    @property
    def error(self) -> float:
        """How far the rank of a quantile is off at most, as a share of all values, in 99 cases of 100."""
        return 2.296 / math.pow(self.size, 0.9021) if len(self._levels) > 1 else 0.0

    def points(self) -> tuple[Numbers, Numbers]:
        """Return the values that are kept, in their order, and how many each stands for."""
        weights = [np.full(len(values), 1 << level, np.int64) for level, values in enumerate(self._levels)]
        values, counts = np.concatenate(self._levels), np.concatenate(weights)
        order = np.argsort(values, kind="stable")
        return values[order], counts[order]

    def to_dict(self) -> dict[str, Any]:
        levels = [encode_array(values) for values in self._levels]
        return {"size": self.size, "kind": self._kind, "count": self.count, "levels": levels}

    @classmethod
    def of(cls, value: dict[str, Any]) -> QuantileSketch:
        sketch = cls(value["size"], value["kind"])
        sketch.count = value["count"]
        sketch._levels = [decode_array(each) for each in value["levels"]]
        return sketch

    def _put(self, level: int, values: Numbers) -> None:
        while len(self._levels) <= level:
            self._levels.append(np.zeros(0, self._kind))
        if len(values):
            self._levels[level] = np.concatenate([self._levels[level], values])

    def _compact(self) -> None:
        level = 0
        while level < len(self._levels):
            if len(self._levels[level]) > self._room(level):
                values = np.sort(self._levels[level])
                even = len(values) - len(values) % 2
                self._levels[level] = values[even:]
                self._put(level + 1, values[int(self._chance.integers(2)) : even : 2])
            level += 1

    def _room(self, level: int) -> int:
        """The highest level has most room: an error there weighs most."""
        return max(int(self.size * _SHRINK ** (len(self._levels) - 1 - level)), _SMALLEST_LEVEL)


def quantiles(values: Numbers, counts: Numbers, shares: Sequence[float]) -> Numbers:
    """Return, for each share, the smallest value that at least this share of all values does not exceed."""
    reached = np.cumsum(counts)
    ranks = np.maximum(np.ceil(np.array(shares) * reached[-1]), 1)
    found: Numbers = values[np.searchsorted(reached, ranks)]
    return found
