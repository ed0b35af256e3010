"""Headers that stand again among the records: files that were put one behind the other bring theirs along."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

REPEATS = "it repeats the header"


def find_repeats(columns: Sequence[pa.Array], header: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the rows that are the header once more. Columns that are no text hold no names but numbers."""
    none = np.zeros(0, dtype=np.int64)
    pairs = sorted(zip(columns, header, strict=True), key=lambda pair: not pair[1])  # what is empty tells less
    texts = [(values, name) for values, name in pairs if pa.types.is_string(values.type)]
    others = [name for values, name in pairs if not pa.types.is_string(values.type)]
    if any(char.isalpha() for name in others for char in name):
        return none
    found: pa.Array | None = None
    for values, name in texts:
        same = pc.equal(values, _scalar(name))
        same = same if name else pc.or_kleene(same, values.is_null())
        if found is None and name:  # files behind others have their byte order marks
            marked = pc.equal(values, _scalar(f"\ufeff{name}"))
            same = pc.or_(same, marked) if marked.true_count else same
        found = same if found is None else pc.and_(found, same)
        if not found.true_count:
            return none
    return none if found is None else np.from_dlpack(pc.indices_nonzero(found)).astype(np.int64)


def _scalar(text: str) -> pa.Scalar:
    """A text as Arrow has it. Whatever makes one from a value of Python imports pandas, which takes its time."""
    content = text.encode()
    places = np.array([0, len(content)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(places), pa.py_buffer(content)])[0]
