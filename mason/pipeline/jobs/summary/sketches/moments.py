"""Count, sum, extremes, mean, standard deviation and histogram of numbers, part by part."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mason.pipeline.jobs.summary.sketches.hashing import Numbers

Number = int | float

_HALF = 32


@dataclass(kw_only=True)
class Moments:
    """What is known of some numbers. Whole numbers have an exact total, however large; that of others is None.

    The squares are those of the distances from the mean, so that nothing is lost where the mean is large and the
    distances are small; two parts are united as Chan, Golub and LeVeque do it.
    """

    count: int = 0
    total: int | None = 0
    mean: float = 0.0
    squares: float = 0.0
    low: Number | None = None
    high: Number | None = None

    def add(self, ordered: Numbers) -> None:
        """Take numbers in their order."""
        if len(ordered):
            self.merge(_moments(ordered))

    def merge(self, other: Moments) -> None:
        """Take what another one has seen."""
        count = self.count + other.count
        if not other.count:
            return
        self.total = None if self.total is None or other.total is None else self.total + other.total
        apart = other.mean - self.mean if self.count else 0.0
        self.squares += other.squares + apart * apart * (self.count * other.count / count)
        moved = self.mean + apart * (other.count / count) if self.count else other.mean
        self.mean = moved if self.total is None else self.total / count
        self.count = count
        self.low = min((each for each in (self.low, other.low) if each is not None), default=None)
        self.high = max((each for each in (self.high, other.high) if each is not None), default=None)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of a sample; None of fewer than two numbers, or where one is infinite."""
        if self.count < 2 or not math.isfinite(self.squares):
            return None
        return math.sqrt(self.squares / (self.count - 1))

    def to_dict(self) -> dict[str, Any]:
        return self.__dict__


def _moments(ordered: Numbers) -> Moments:
    low, high = ordered[0].item(), ordered[-1].item()
    total = None if isinstance(low, float) else _sum(ordered, low, high)
    with np.errstate(all="ignore"):  # infinite numbers: their mean is infinite, and their deviation is none
        mean = _mean(ordered) if total is None else total / len(ordered)
        squares = float(np.square(ordered - mean).sum())  # not a dot product: its threads take the cores of others
    return Moments(count=len(ordered), total=total, mean=mean, squares=squares, low=low, high=high)


def _mean(ordered: Numbers) -> float:
    mean = float(ordered.mean())
    # The sum of finite numbers may be infinite, their mean is not.
    return mean if math.isfinite(mean) else float((ordered / len(ordered)).sum())


def _sum(ordered: Numbers, low: int, high: int) -> int:
    if max(abs(low), abs(high)) * len(ordered) < 2**63:
        return int(ordered.sum())
    halves = ordered >> _HALF, ordered & ((1 << _HALF) - 1)  # each sum of halves has room in 64 bits
    return (int(halves[0].sum()) << _HALF) + int(halves[1].sum())


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
