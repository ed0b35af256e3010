"""How many different values there are: a bottom-k sketch (also called KMV, k minimum values).

Every value is hashed to a number that is as likely anywhere between 0 and 2^64. Only the `k` smallest different hashes
are kept. If the k-th of them is `h`, then k hashes fell into a share of h / 2^64 of all numbers, so there are about
(k - 1) * 2^64 / h different values, within 3 / sqrt(k - 2) in 997 cases of 1,000. With fewer than k the count is exact.
Two sketches are merged by keeping the k smallest of both: the result does not depend on how the rows were cut.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mason.pipeline.jobs.summary.sketches.arrays import decode_array, encode_array, unique
from mason.pipeline.jobs.summary.sketches.hashing import Numbers

_HASHES = 2**64


class DistinctSketch:
    """The smallest `size` hashes. What it says is exact up to that many values; it is the same in whatever order, and
    cut into however many tasks, the values come.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._hashes: Numbers = np.zeros(0, np.uint64)

    def add(self, hashes: Numbers) -> None:
        """Take the hashes of some values."""
        if len(self._hashes) == self.size:
            hashes = hashes[hashes < self._hashes[-1]]  # past the first rows nearly none is left
        if len(hashes):
            self._hashes = unique(np.concatenate([self._hashes, hashes]))[: self.size]

    def merge(self, other: DistinctSketch) -> None:
        """Take what another one has seen."""
        self.size = min(self.size, other.size)
        self._hashes = unique(np.concatenate([self._hashes, other._hashes]))[: self.size]

    @property
    def is_exact(self) -> bool:
        return len(self._hashes) < self.size

    @property
    def error(self) -> float:
        """How far the count is off at most, as a share of it, in 997 cases of 1,000 (three standard deviations)."""
        return 0.0 if self.is_exact else 3 / math.sqrt(self.size - 2)

    @property
    def count(self) -> int:
        """How many different values there are."""
        if self.is_exact:
            return len(self._hashes)
        return round((self.size - 1) / (int(self._hashes[-1]) + 1) * _HASHES)

    def to_dict(self) -> dict[str, Any]:
        return {"size": self.size, "hashes": encode_array(self._hashes)}

    @classmethod
    def of(cls, value: dict[str, Any]) -> DistinctSketch:
        sketch = cls(value["size"])
        sketch._hashes = decode_array(value["hashes"])
        return sketch


class DistinctSet:
    """All different values by one number of 64 bits each, or two where the values are longer: 128 bits tell any apart.

    It grows with what there is: 8 or 16 bytes for every different value.
    """

    is_exact = True
    error = 0.0

    def __init__(self) -> None:
        self._parts: list[Numbers] = []
        self._known = 0
        self._waiting = 0

    def add(self, numbers: Numbers) -> None:
        """Take some values: an array of their numbers, or of a row of numbers for each."""
        self._parts.append(numbers)
        self._waiting += len(numbers)
        if self._waiting > self._known + 1_000_000:  # twice as much each time: no value is sorted often
            self._unite()

    def merge(self, other: DistinctSet) -> None:
        """Take what another one has seen."""
        self.add(other._unite_all())

    @property
    def count(self) -> int:
        return len(self._unite_all())

    def to_dict(self) -> dict[str, Any]:
        return {"numbers": encode_array(self._unite_all())}

    @classmethod
    def of(cls, value: dict[str, Any]) -> DistinctSet:
        known = cls()
        known.add(decode_array(value["numbers"]))
        return known

    def _unite_all(self) -> Numbers:
        self._unite()
        return self._parts[0] if self._parts else np.zeros(0, np.uint64)

    def _unite(self) -> None:
        if self._waiting:
            self._parts = [_unique(np.concatenate([part for part in self._parts if len(part)]))]
            self._known, self._waiting = len(self._parts[0]), 0


def _unique(numbers: Numbers) -> Numbers:
    if numbers.ndim == 1:
        return unique(numbers)
    ordered: Numbers = numbers[np.argsort(numbers[:, 0])]
    same_first, same_second = (ordered[1:] == ordered[:-1]).T
    if (same_first & ~same_second).any():  # two values whose first numbers are the same: hardly ever
        ordered = numbers[np.lexsort(numbers.T)]
        same_first, same_second = (ordered[1:] == ordered[:-1]).T
    different: Numbers = ordered[np.append(True, ~(same_first & same_second))]
    return different


def distinct_of(value: dict[str, Any]) -> DistinctSketch | DistinctSet:
    """Return what was made into a dictionary by either."""
    return DistinctSketch.of(value) if "size" in value else DistinctSet.of(value)
