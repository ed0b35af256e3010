"""Headers that stand again among the records: files that were put one behind the other bring theirs along."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

REPEATS = "it repeats the header"


def header_cells(names: Sequence[str]) -> list[str]:
    """Return the header of columns as a record of a sample has it: a column that is called by its place has no name."""
    return ["" if name == f"col_{index}" else name for index, name in enumerate(names)]


def find_repeats(columns: Sequence[pa.Array], names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the rows that are the header once more. Columns that are no text hold no names but numbers."""
    none = np.zeros(0, dtype=np.int64)
    pairs = sorted(zip(columns, header_cells(names), strict=True), key=lambda pair: not pair[1])  # nulls tell less
    texts = [(values, name) for values, name in pairs if pa.types.is_string(values.type)]
    others = [name for values, name in pairs if not pa.types.is_string(values.type)]
    if any(char.isalpha() for name in others for char in name):
        return none
    found: pa.Array | None = None
    for values, name in texts:
        same = pc.fill_null(pc.equal(values, name), False) if name else pc.is_null(values)
        found = same if found is None else pc.and_(found, same)
        if not found.true_count:
            return none
    return none if found is None else np.flatnonzero(np.asarray(found))
