"""What is found out of one column: by numbers, by texts, or by lists, part by part."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.summary.arrays import starts_of
from mason.pipeline.summary.distinct import DistinctSet, DistinctSketch, distinct_of
from mason.pipeline.summary.frequent import FrequentValues, Tally
from mason.pipeline.summary.hashing import Numbers, hash_numbers, hash_pairs, hash_texts
from mason.pipeline.summary.kinds import NumberKind, number_kind
from mason.pipeline.summary.moments import Moments
from mason.pipeline.summary.quantiles import QuantileSketch
from mason.pipeline.summary.wide_decimals import WideDecimals

LONGEST_VALUE = 200
"""Characters of a text that are kept, of a binary value bytes."""


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


class ColumnSketch(Protocol):
    """What is known of a column so far."""

    rows: int
    nulls: int

    def add(self, values: pa.Array) -> None:
        """Take some rows."""

    def merge(self, other: Any) -> None:
        """Take what another one, of the same column, has seen."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""


def column_sketch(kind: pa.DataType, sizes: Sizes, seed: int = 0) -> ColumnSketch:
    """Return an empty sketch for a column of a type."""
    numbers = number_kind(kind)
    if numbers is not None:
        return NumberSketch(numbers, sizes, seed)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return ListSketch(sizes, seed)
    return TextSketch(kind, sizes, seed)


def column_sketch_of(kind: pa.DataType, sizes: Sizes, value: Mapping[str, Any]) -> ColumnSketch:
    """Return the sketch that was made into a dictionary."""
    sketch: Any = column_sketch(kind, sizes)
    sketch.load(value)
    return sketch  # type: ignore[no-any-return]


class _Sketch:
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


class _ValueSketch(_Sketch):
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


class NumberSketch(_ValueSketch):
    """A column of numbers, or of what is counted as numbers. NaN is one value, which has no place in any order."""

    def __init__(self, kind: NumberKind, sizes: Sizes, seed: int) -> None:
        self._is_wide = pa.types.is_decimal(kind.type) and not kind.is_whole
        kept_as = pa.string() if self._is_wide else pa.from_numpy_dtype(np.dtype(kind.dtype))
        super().__init__(kind.dtype, sizes, seed, kept_as)
        self.kind = kind
        self.nans = 0
        self.wide = WideDecimals()

    def add(self, values: pa.Array) -> None:
        present = self._present(values)
        if not len(present):
            return
        if self._is_wide:
            self._add_wide(present)
            return
        numbers = np.sort(self.kind.numbers(present))  # NaN comes last
        if not self.kind.is_whole:
            numbers = self._without_nans(numbers + 0.0)  # -0.0 becomes 0.0
        different, counts = self._add_numbers(numbers)
        tally = Tally(hash_numbers(different), counts, lambda places: pa.array(different[places]))
        self._add_values(tally, lambda: different.view(np.uint64))

    def merge(self, other: Any) -> None:
        super().merge(other)
        self.nans += other.nans
        self.wide.merge(other.wide)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "nans": self.nans, "wide": self.wide.to_dict()}

    def load(self, value: Mapping[str, Any]) -> None:
        super().load(value)
        self.nans = value["nans"]
        self.wide = WideDecimals.of(value["wide"])

    def _without_nans(self, ordered: Numbers) -> Numbers:
        found = len(ordered) - int(np.searchsorted(ordered, math.nan)) if len(ordered) else 0
        self.nans += found
        return ordered[: len(ordered) - found]

    def _add_wide(self, present: pa.Array) -> None:
        """Decimals of many digits: their extremes and their sum are exact, their quantiles as good as doubles."""
        self.wide.add(present)
        self._add_numbers(np.sort(self.kind.numbers(present)))
        width = present.type.bit_width // 64
        content = np.frombuffer(present.buffers()[1], np.uint64).reshape(-1, width)
        words = content[present.offset : present.offset + len(present)]
        tally, numbers = _tally(
            hash_pairs(words), lambda rows: present.take(rows).cast(pa.string()), lambda rows: words[rows]
        )
        self._add_values(tally, numbers)


class TextSketch(_ValueSketch):
    """A column of texts or of binary values. The numbers are their lengths, in characters and in bytes."""

    def __init__(self, kind: pa.DataType, sizes: Sizes, seed: int) -> None:
        self._is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        super().__init__("i8", sizes, seed, pa.string() if self._is_text else pa.binary())
        self.low: str | bytes | None = None
        self.high: str | bytes | None = None

    def add(self, values: pa.Array) -> None:
        present = self._present(values)
        if not len(present):
            return
        is_ascii = self._is_text and _is_ascii(present)
        if self._is_text and not is_ascii:
            present = _readable(present)
        tally, numbers = _tally(
            hash_texts(present), lambda rows: _clipped(present.take(rows)), lambda rows: _two_hashes(present.take(rows))
        )
        self._add_values(tally, numbers)
        # Most texts are plain ASCII, and to look for anything else is quicker than to count characters.
        lengths = pc.utf8_length(present) if self._is_text and not is_ascii else pc.binary_length(present)
        self._add_numbers(np.sort(lengths.to_numpy(zero_copy_only=False).astype("i8")))
        self._add_extremes(present)

    def merge(self, other: Any) -> None:
        super().merge(other)
        self._widen(other.low, other.high)

    def to_dict(self) -> dict[str, Any]:
        extremes = [each.hex() if isinstance(each, bytes) else each for each in (self.low, self.high)]
        return {**super().to_dict(), "extremes": extremes}

    def load(self, value: Mapping[str, Any]) -> None:
        super().load(value)
        low, high = value["extremes"]
        if low is not None:
            self.low, self.high = (low, high) if self._is_text else (bytes.fromhex(low), bytes.fromhex(high))

    def _add_extremes(self, present: pa.Array) -> None:
        """Only their beginnings are kept. Two texts are in no other order than their beginnings are."""
        found = pc.min_max(present)
        low, high = _clipped(pa.array([found["min"], found["max"]], present.type)).to_pylist()
        self._widen(low, high)

    def _widen(self, low: Any, high: Any) -> None:
        if low is not None:
            self.low = low if self.low is None else min(self.low, low)
            self.high = high if self.high is None else max(self.high, high)


class ListSketch(_Sketch):
    """A column of lists. The numbers are how many elements each has."""

    def __init__(self, sizes: Sizes, seed: int) -> None:
        super().__init__("i8", sizes, seed)

    def add(self, values: pa.Array) -> None:
        present = self._present(values)
        self._add_numbers(np.sort(pc.list_value_length(present).to_numpy(zero_copy_only=False).astype("i8")))


def _tally(
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


def _two_hashes(texts: pa.Array) -> Numbers:
    return np.stack([hash_texts(texts), hash_texts(texts, seed=1)], axis=1)


def _readable(texts: pa.Array) -> pa.Array:
    """Texts as they are, unless a file has bytes in them that are none: then with a mark in place of those."""
    try:
        return texts.cast(pa.large_binary()).cast(texts.type)  # which looks at every byte
    except pa.ArrowInvalid:
        return pa.array([each.decode("utf-8", "replace") for each in texts.cast(pa.binary()).to_pylist()], texts.type)


def _is_ascii(texts: pa.Array) -> bool:
    content = texts.buffers()[2]
    return content is None or not len(content) or int(np.frombuffer(content, np.int8).min()) >= 0


def _clipped(values: pa.Array) -> pa.Array:
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return pc.utf8_slice_codeunits(values, 0, LONGEST_VALUE + 1).cast(pa.string())
    return pc.binary_slice(values.cast(pa.binary()), 0, LONGEST_VALUE + 1)
