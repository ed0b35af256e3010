"""Whether decimals came from the text that one would write for them, told by lengths: faster than any pattern."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.number_types import SHORT_DECIMAL

_POWERS_OF_TEN = 10 ** np.arange(SHORT_DECIMAL + 1, dtype=np.int64)


def are_plain(texts: pa.Array, decimals: pa.Array) -> bool:
    """Say whether each text is exactly what its decimal is written as, with all decimals shown; no is not certain.

    Without an exponent or a plus in it, a text of the same value is longer or shorter than the plain one: it has more
    zeros in front, fewer behind, or no zero before the point.
    """
    precision, scale = decimals.type.precision, decimals.type.scale
    if precision > SHORT_DECIMAL or not scale or not len(texts):
        return False
    content = _content(texts)
    if any(mark in content for mark in (b"e", b"E", b"+")):
        return False
    present = decimals.is_valid().to_numpy(zero_copy_only=False)
    unscaled = np.frombuffer(decimals.buffers()[1], dtype=np.int64)[2 * decimals.offset :: 2][: len(decimals)][present]
    lengths = pc.binary_length(texts.drop_null()).to_numpy(zero_copy_only=False)
    digits = np.searchsorted(_POWERS_OF_TEN, np.abs(unscaled), side="right")
    # One digit at the least stands before the point; -0.00 is no less a zero, and is told by its length.
    plain = np.maximum(digits, scale + 1) + 1 + (unscaled < 0)
    return bool(np.array_equal(lengths, plain))


def _content(texts: pa.Array) -> bytes:
    _, offsets, data = texts.buffers()
    if data is None:
        return b""
    bounds = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return bytes(data.slice(int(bounds[0]), int(bounds[-1] - bounds[0])))
