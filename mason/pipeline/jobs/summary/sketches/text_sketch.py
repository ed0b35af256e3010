"""What is found out of a column of texts, or of binary values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.jobs.summary.sketches.hashing import Numbers, hash_texts
from mason.pipeline.jobs.summary.sketches.sketch import Sizes, ValueSketch, tally_of

LONGEST_VALUE = 200
"""Characters of a text that are kept, of a binary value bytes."""


class TextSketch(ValueSketch):
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
        tally, numbers = tally_of(
            hash_texts(present),
            lambda rows: _clip_values(present.take(rows)),
            lambda rows: _two_hashes(present.take(rows)),
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
        low, high = _clip_values(pa.array([found["min"], found["max"]], present.type)).to_pylist()
        self._widen(low, high)

    def _widen(self, low: Any, high: Any) -> None:
        if low is not None:
            self.low = low if self.low is None else min(self.low, low)
            self.high = high if self.high is None else max(self.high, high)


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


def _clip_values(values: pa.Array) -> pa.Array:
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return pc.utf8_slice_codeunits(values, 0, LONGEST_VALUE + 1).cast(pa.string())
    return pc.binary_slice(values.cast(pa.binary()), 0, LONGEST_VALUE + 1)
