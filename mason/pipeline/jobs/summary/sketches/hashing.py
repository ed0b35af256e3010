"""Hashes of 64 bits of whole columns at once; the same in every process and on every machine.

Arrow has no such kernel, and Python's own hash of text differs from process to process.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers: TypeAlias = npt.NDArray[Any]

_LONGEST_AT_ONCE = 256
"""Bytes. Longer texts are hashed one by one: there are few of them, and a round for every word would be slower."""

_MULTIPLIERS = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_SEEDS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))
_SHIFT = np.uint64(33)
_WORD = 8
_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(_WORD + 1)], np.uint64)


def hash_numbers(numbers: Numbers) -> Numbers:
    """Return a hash of each number of 64 bits. Different numbers have different hashes."""
    return _mix_bits(numbers.view(np.uint64))


def hash_pairs(numbers: Numbers) -> Numbers:
    """Return a hash of each row of numbers of 64 bits."""
    hashes = np.full(len(numbers), _SEEDS[0], np.uint64)
    for column in numbers.view(np.uint64).T:
        hashes = _mix_bits(hashes ^ _mix_bits(column))
    return hashes


def hash_texts(texts: pa.Array, seed: int = 0) -> Numbers:
    """Return a hash of each text, or of each binary value; there must be no nulls. Another seed gives other hashes."""
    starts, lengths, content = _parts(texts)
    hashes = _mix_bits(lengths.astype(np.uint64) ^ _SEEDS[seed])
    is_long = lengths > _LONGEST_AT_ONCE
    if is_long.any():
        for row in np.flatnonzero(is_long):
            digest = hashlib.blake2b(content[starts[row] : starts[row] + lengths[row]].tobytes(), salt=bytes([seed]))
            hashes[row] = np.frombuffer(digest.digest()[:_WORD], np.uint64)[0]
        lengths = np.where(is_long, 0, lengths)
    words = _words(content)
    shortest = int(lengths.min()) if len(lengths) else 0
    for begin in range(0, int(lengths.max(initial=0)), _WORD):
        rows: Any = slice(None) if begin < shortest else np.flatnonzero(lengths > begin)
        word = words[starts[rows] + begin] & _MASKS[np.minimum(lengths[rows] - begin, _WORD)]
        hashes[rows] = _mix_bits(hashes[rows] ^ word)
    return hashes


def _mix_bits(numbers: Numbers) -> Numbers:
    """Spread every bit over all of them (the finalizer of MurmurHash3, which can be turned back: it loses nothing)."""
    mixed: Numbers = numbers ^ (numbers >> _SHIFT)
    for multiplier in _MULTIPLIERS:
        mixed *= multiplier
        mixed ^= mixed >> _SHIFT
    return mixed


def _parts(texts: pa.Array) -> tuple[Numbers, Numbers, Numbers]:
    """Where each text begins in the content, how many bytes it has, and the content."""
    if pa.types.is_fixed_size_binary(texts.type):
        texts = texts.cast(pa.large_binary())
    is_large = pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type)
    _, places, content = texts.buffers()
    if not len(texts):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8)
    offsets = np.frombuffer(places, np.int64 if is_large else np.int32)[texts.offset : texts.offset + len(texts) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    part = np.frombuffer(content, np.uint8)[first:last] if last > first else np.zeros(0, np.uint8)
    return offsets[:-1] - first, np.diff(offsets), part


def _words(content: Numbers) -> Numbers:
    """The content as the word of eight bytes that begins at each of its bytes."""
    padded = np.zeros(len(content) + _WORD, np.uint8)
    padded[: len(content)] = content
    return np.ndarray((len(content) + 1,), "<u8", padded.data, strides=(1,))
