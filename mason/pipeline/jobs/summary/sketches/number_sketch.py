"""What is found out of a column of numbers, and of what is counted as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from mason.pipeline.jobs.summary.sketches.frequent import Tally
from mason.pipeline.jobs.summary.sketches.hashing import Numbers, hash_numbers, hash_pairs
from mason.pipeline.jobs.summary.sketches.kinds import NumberKind, WideDecimals
from mason.pipeline.jobs.summary.sketches.sketch import Sizes, ValueSketch, tally_of


class NumberSketch(ValueSketch):
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
        tally, numbers = tally_of(
            hash_pairs(words), lambda rows: present.take(rows).cast(pa.string()), lambda rows: words[rows]
        )
        self._add_values(tally, numbers)
