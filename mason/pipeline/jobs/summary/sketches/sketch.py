"""What the sketches of all kinds of columns have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from mason.pipeline.jobs.summary.sketches.arrays import starts_of
from mason.pipeline.jobs.summary.sketches.distinct import DistinctSet, DistinctSketch, distinct_of
from mason.pipeline.jobs.summary.sketches.frequent import FrequentValues, Tally
from mason.pipeline.jobs.summary.sketches.hashing import Numbers
from mason.pipeline.jobs.summary.sketches.moments import Moments
from mason.pipeline.jobs.summary.sketches.quantiles import QuantileSketch


@dataclass(frozen=True)
class Sizes:
    """How much is kept of a column: more is more exact."""

    values: int = 4096
    """Up to so many different values everything is exact."""
    quantiles: int = 2048
    exact: bool = False
    """Every different value is kept for the count of them."""

    @classmethod
    def of(cls, columns: int, *, exact: bool) -> Sizes:
        """Return what a table of so many columns can afford."""
        share = min(1.0, 256 / max(columns, 1))
        return cls(max(int(4096 * share), 1024), max(int(2048 * share), 256), exact)


class Sketch:
    """Rows, nulls, and the numbers that a column has in some way: its values, or their lengths."""

    def __init__(self, dtype: str, sizes: Sizes, seed: int) -> None:
        self.rows = 0
        self.nulls = 0
        self.moments = Moments()
        self.quantiles = QuantileSketch(sizes.quantiles, dtype, seed)

    def _present(self, values: pa.Array) -> pa.Array:
        self.rows += len(values)
        self.nulls += values.null_count
        return values.drop_null() if values.null_count else values

    def _add_numbers(self, ordered: Numbers) -> tuple[Numbers, Numbers]:
        """Take numbers in their order; return the different ones and how often each occurs."""
        self.moments.add(ordered)
        starts = starts_of(ordered)
        different, counts = ordered[starts], _counts(starts, len(ordered))
        self.quantiles.add(different, counts)
        return different, counts

    def merge(self, other: Any) -> None:
        self.rows += other.rows
        self.nulls += other.nulls
        self.moments.merge(other.moments)
        self.quantiles.merge(other.quantiles)

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "nulls": self.nulls,
            "moments": asdict(self.moments),
            "quantiles": self.quantiles.to_dict(),
        }

    def load(self, value: Mapping[str, Any]) -> None:
        self.rows, self.nulls = value["rows"], value["nulls"]
        self.moments = Moments(**value["moments"])
        self.quantiles = QuantileSketch.of(value["quantiles"])


class ValueSketch(Sketch):
    """With the different values and the most frequent ones."""

    def __init__(self, dtype: str, sizes: Sizes, seed: int, kept_as: pa.DataType) -> None:
        super().__init__(dtype, sizes, seed)
        self.distinct: DistinctSketch | DistinctSet = DistinctSet() if sizes.exact else DistinctSketch(sizes.values + 1)
        self.frequent = FrequentValues(sizes.values, kept_as)

    def _add_values(self, tally: Tally, numbers: Callable[[], Numbers]) -> None:
        """Take different values; `numbers` returns what tells each of them from any other."""
        self.distinct.add(numbers() if isinstance(self.distinct, DistinctSet) else tally.hashes)
        self.frequent.add(tally)

    def merge(self, other: Any) -> None:
        super().merge(other)
        self.distinct.merge(other.distinct)
        self.frequent.merge(other.frequent)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "distinct": self.distinct.to_dict(), "frequent": self.frequent.to_dict()}

    def load(self, value: Mapping[str, Any]) -> None:
        super().load(value)
        self.distinct = distinct_of(value["distinct"])
        self.frequent = FrequentValues.of(value["frequent"])


def tally_of(
    hashes: Numbers, take: Callable[[pa.Array], pa.Array], numbers: Callable[[pa.Array], Numbers]
) -> tuple[Tally, Callable[[], Numbers]]:
    """The different ones of some values that are told apart by their hashes; both functions get the rows of values."""
    order = np.argsort(hashes)
    starts = starts_of(hashes[order])
    rows = order[starts]
    tally = Tally(hashes[rows], _counts(starts, len(order)), lambda places: take(pa.array(rows[places])))
    return tally, lambda: numbers(pa.array(rows))


def _counts(starts: Numbers, count: int) -> Numbers:
    return np.diff(starts, append=count)
