"""What is said of a column in the end, worked out from its sketch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from mason.pipeline.jobs.summary.leaves import Leaf
from mason.pipeline.jobs.summary.sketches.columns import ColumnSketch, ListSketch
from mason.pipeline.jobs.summary.sketches.hashing import Numbers
from mason.pipeline.jobs.summary.sketches.kinds import NumberKind
from mason.pipeline.jobs.summary.sketches.moments import Bin, histogram
from mason.pipeline.jobs.summary.sketches.number_sketch import NumberSketch
from mason.pipeline.jobs.summary.sketches.quantiles import quantiles
from mason.pipeline.jobs.summary.sketches.text_sketch import LONGEST_VALUE, TextSketch

SHARES = {"P1": 0.01, "P5": 0.05, "P25": 0.25, "P50": 0.5, "P75": 0.75, "P95": 0.95, "P99": 0.99}
MOST_FREQUENT = 10


@dataclass(frozen=True)
class Frequent:
    """A value and how often it occurs, at least."""

    value: Any
    count: int


@dataclass(frozen=True)
class Lengths:
    """How long texts are, in characters, or binary values, in bytes, or lists, in elements."""

    low: int
    high: int
    mean: float


@dataclass(frozen=True, kw_only=True)
class ColumnSummary:
    """What is known of a column. What its type has not, or an empty column has not, is None."""

    name: str
    column: str
    type: str
    count: int
    """The values that are not null."""
    nulls: int
    nans: int | None = None
    distinct: int | None = None
    distinct_error: float = 0.0
    low: Any = None
    high: Any = None
    mean: Any = None
    deviation: float | None = None
    quantiles: Mapping[str, Any] | None = None
    quantile_error: float = 0.0
    frequent: Sequence[Frequent] | None = None
    frequent_error: int = 0
    lengths: Lengths | None = None
    histogram: Sequence[Bin] | None = None
    deviation_unit: str | None = None
    """A day for dates, a second for times; None for plain numbers."""

    def to_dict(self) -> dict[str, Any]:
        """Return what there is to say."""
        said: dict[str, Any] = {
            "Name": self.name,
            "Column": self.column,
            "Type": self.type,
            "Count": self.count,
            "Nulls": self.nulls,
            "NaNs": self.nans,
            "Distinct": self.distinct,
            "DistinctError": None if self.distinct is None else self.distinct_error,
            "Min": self.low,
            "Max": self.high,
            "Mean": self.mean,
            "StandardDeviation": self.deviation,
            "Quantiles": self.quantiles,
            "QuantileError": None if self.quantiles is None else self.quantile_error,
            "MostFrequent": self.frequent and [{"Value": each.value, "Count": each.count} for each in self.frequent],
            "FrequentError": None if self.frequent is None else self.frequent_error,
            "Lengths": self.lengths and {"Min": self.lengths.low, "Max": self.lengths.high, "Mean": self.lengths.mean},
            "Histogram": self.histogram and [each.to_dict() for each in self.histogram],
        }
        return {name: value for name, value in said.items() if value is not None}


def summarize(leaf: Leaf, sketch: ColumnSketch, bins: int) -> ColumnSummary:
    """Return what a sketch says of a column; its histogram has so many bins at most."""
    if isinstance(sketch, NumberSketch):
        particulars = _of_numbers(sketch, bins)
    elif isinstance(sketch, TextSketch):
        particulars = _of_texts(sketch, bins)
    else:
        assert isinstance(sketch, ListSketch)
        particulars = _of_lengths(sketch, bins)
    return ColumnSummary(
        name=leaf.name,
        column=leaf.column,
        type=str(leaf.type),
        count=sketch.rows - sketch.nulls,
        nulls=sketch.nulls,
        **particulars,
    )


def _of_numbers(sketch: NumberSketch, bins: int) -> dict[str, Any]:
    kind, moments = sketch.kind, sketch.moments
    said: dict[str, Any] = {
        "nans": sketch.nans if pa.types.is_floating(kind.type) else None,
        "distinct": sketch.distinct.count + (sketch.nans > 0),
        "distinct_error": sketch.distinct.error,
        "frequent": _frequent(sketch),
        "frequent_error": sketch.frequent.error,
    }
    if not moments.count:
        return said
    is_wide = sketch.wide.low is not None
    said["low"], said["high"] = (
        (sketch.wide.low, sketch.wide.high) if is_wide else (kind.show(moments.low), kind.show(moments.high))
    )
    said["mean"] = _mean(sketch)
    said["deviation"], said["deviation_unit"] = _deviation(kind, moments.deviation), kind.unit_name
    if not pa.types.is_boolean(kind.type):
        values, counts, error = _points(sketch)
        show = _within_extremes(sketch) if is_wide else kind.show
        ranks = quantiles(values, counts, list(SHARES.values()))
        said["quantiles"] = dict(zip(SHARES, map(show, ranks.tolist()), strict=True))
        said["quantile_error"] = error
        said["histogram"] = histogram(values, counts, (moments.low, moments.high), bins, show)
        if is_wide and sketch.frequent.is_complete:
            said |= {"quantiles": _exact_quantiles(sketch), "quantile_error": 0.0}
    return said


def _within_extremes(sketch: NumberSketch) -> Callable[[Any], Any]:
    """Doubles as the decimals of many digits that they stand for: none is beyond those that there are."""
    low, high = sketch.wide.low, sketch.wide.high
    assert low is not None and high is not None
    return lambda number: min(max(sketch.kind.show(number), low), high)


def _exact_quantiles(sketch: NumberSketch) -> dict[str, Any]:
    """The quantiles of decimals of many digits of which each is known."""
    values = list(map(Decimal, sketch.frequent.values.to_pylist()))
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = quantiles(np.array(order), sketch.frequent.counts[order], list(SHARES.values()))
    return {name: values[place] for name, place in zip(SHARES, ranks.tolist(), strict=True)}


def _mean(sketch: NumberSketch) -> Any:
    moments, kind = sketch.moments, sketch.kind
    if sketch.wide.low is not None:
        return kind.show_mean(sketch.wide.to_unscaled(kind.type.scale), moments.count)
    if moments.total is not None:
        return kind.show_mean(moments.total, moments.count)
    return kind.show_mean(moments.mean, 1)


def _deviation(kind: NumberKind, deviation: float | None) -> float | None:
    if deviation is None:
        return None
    scale = 10.0**-kind.type.scale if pa.types.is_decimal(kind.type) and kind.is_whole else 1.0
    return deviation * kind.unit * scale


def _points(sketch: NumberSketch) -> tuple[Numbers, Numbers, float]:
    """Values and how many each stands for: all of them, where they are few enough to be known."""
    known = sketch.frequent
    if known.is_complete and sketch.wide.low is None:
        values = known.values.to_numpy(zero_copy_only=False)
        order = np.argsort(values)
        return values[order], known.counts[order], 0.0
    return *sketch.quantiles.points(), sketch.quantiles.error


def _frequent(sketch: NumberSketch) -> list[Frequent]:
    show = Decimal if sketch.wide.low is not None else sketch.kind.show
    found = [Frequent(show(value), count) for value, count in sketch.frequent.most(MOST_FREQUENT)]
    if sketch.nans > sketch.frequent.error:
        found.append(Frequent(math.nan, sketch.nans))
    return sorted(found, key=lambda each: -each.count)[:MOST_FREQUENT]


def _of_texts(sketch: TextSketch, bins: int) -> dict[str, Any]:
    said = {
        "distinct": sketch.distinct.count,
        "distinct_error": sketch.distinct.error,
        "frequent": [Frequent(_clip_value(value), count) for value, count in sketch.frequent.most(MOST_FREQUENT)],
        "frequent_error": sketch.frequent.error,
    }
    if sketch.moments.count:
        said |= {"low": _clip_value(sketch.low), "high": _clip_value(sketch.high), **_of_lengths(sketch, bins)}
    return said


def _of_lengths(sketch: ListSketch | TextSketch, bins: int) -> dict[str, Any]:
    moments = sketch.moments
    if not moments.count:
        return {}
    lengths = Lengths(int(moments.low or 0), int(moments.high or 0), moments.mean)
    return {
        "lengths": lengths,
        "histogram": histogram(*sketch.quantiles.points(), (lengths.low, lengths.high), bins, int),
    }


def _clip_value(value: str | bytes | None) -> str | None:
    """Text as it is, binary values in hexadecimal digits; what is longer than is kept ends in dots."""
    if value is None:
        return None
    clipped = value[:LONGEST_VALUE]
    text = clipped.hex() if isinstance(clipped, bytes) else clipped
    return f"{text}…" if len(value) > LONGEST_VALUE else text
