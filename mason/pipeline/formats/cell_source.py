"""A column of a sheet in which some cells are text, and others have types of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from mason.pipeline.formats.sources import ArrowSource, Source, row_numbers
from mason.pipeline.types.given_types import Fitted, fit_given_text, unite_fitted


@dataclass(frozen=True)
class CellSource(ArrowSource):
    """All cells as text, which is what the column is unless somebody gives it a type; and each kind of them by itself.

    `texts` are the cells that were text. `others` have as many rows each: what is not of the kind is null.
    """

    texts: pa.Array
    others: Sequence[pa.Array]

    def fit_given(self, target: pa.DataType, timezone: str = "") -> Fitted:
        if pa.types.is_string(target):
            return Fitted(self.values)
        return self.unite_with(fit_given_text(self.texts, target, timezone), target, timezone)

    def unite_with(self, texts: Fitted, target: pa.DataType, timezone: str) -> Fitted:
        """Return text that was made values of a type, and the other cells as values of it."""
        others = [ArrowSource(each).fit_given(target, timezone) for each in self.others]
        return unite_fitted([texts, *others])

    def is_text(self, index: int) -> bool:
        """Say whether a cell was text."""
        return bool(self.texts[index].is_valid)

    def take(self, indices: Sequence[int]) -> Source:
        rows = row_numbers(indices)
        return CellSource(self.values.take(rows), self.texts.take(rows), [each.take(rows) for each in self.others])
