"""Whether decimals came from the text that one would write for them, told by lengths: faster than any pattern."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from mason.pipeline.types.number_types import SHORT_DECIMAL

_POINT = b"."[0]
_POWERS_OF_TEN = 10 ** np.arange(SHORT_DECIMAL + 1, dtype=np.int64)


def are_plain(texts: pa.Array, decimals: pa.Array) -> bool:
    """Say whether each text is exactly what its decimal is written as, with all decimals shown; no is not certain.

    A text without an exponent or a plus in it, whose point stands before as many digits as the scale says, and which is
    as long as the plain one, cannot have a zero too many in front of it.
    """
    precision, scale = decimals.type.precision, decimals.type.scale
    if precision > SHORT_DECIMAL or not scale or texts.null_count == len(texts):
        return False
    texts, decimals = texts.drop_null(), decimals.drop_null()
    ends, content = _content(texts)
    if any(mark in content for mark in (b"e", b"E", b"+")):
        return False
    lengths = np.diff(ends)
    if lengths.min() < scale + 2 or not np.all(np.frombuffer(content, np.uint8)[ends[1:] - scale - 1] == _POINT):
        return False
    unscaled = np.frombuffer(decimals.buffers()[1], np.int64)[2 * decimals.offset :: 2][: len(decimals)]
    if content.count(b"-") != np.count_nonzero(unscaled < 0):
        return False  # a zero with a sign
    digits = np.searchsorted(_POWERS_OF_TEN, np.abs(unscaled), side="right")
    plain = np.maximum(digits, scale + 1) + 1 + (unscaled < 0)  # one digit at the least stands before the point
    return bool(np.array_equal(lengths, plain))


def _content(texts: pa.Array) -> tuple[npt.NDArray[np.int32], bytes]:
    """Return where each text ends, after a 0, and all of them in one piece."""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return bounds - bounds[0], bytes(data.slice(int(bounds[0]), int(bounds[-1] - bounds[0])))
