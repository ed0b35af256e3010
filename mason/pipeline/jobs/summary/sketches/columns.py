"""The sketch of a column, by its type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.jobs.summary.sketches.kinds import number_kind
from mason.pipeline.jobs.summary.sketches.number_sketch import NumberSketch
from mason.pipeline.jobs.summary.sketches.sketch import Sizes, Sketch
from mason.pipeline.jobs.summary.sketches.text_sketch import TextSketch


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


class ListSketch(Sketch):
    """A column of lists. The numbers are how many elements each has."""

    def __init__(self, sizes: Sizes, seed: int) -> None:
        super().__init__("i8", sizes, seed)

    def add(self, values: pa.Array) -> None:
        present = self._present(values)
        self._add_numbers(np.sort(pc.list_value_length(present).to_numpy(zero_copy_only=False).astype("i8")))
