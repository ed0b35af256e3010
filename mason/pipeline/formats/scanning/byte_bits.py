"""Where a byte stands in a text, as bits: questions about all places at once are then a few operations on words.

Bit `i` of the words, counted from the lowest bit of the first one, is about byte `i` of the text.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bits: TypeAlias = npt.NDArray[np.uint64]
Content: TypeAlias = npt.NDArray[np.uint8]
Positions: TypeAlias = npt.NDArray[np.int64]

_WORD = 64
_STEP = 256 * 1024  # what is compared at once fits the processor's cache
_ONE, _TOP = np.uint64(1), np.uint64(_WORD - 1)
_SHIFTS = [np.uint64(shift) for shift in (1, 2, 4, 8, 16, 32)]


def find(content: Content, byte: int) -> Bits:
    """Return where a byte stands."""
    packed = np.zeros(-(-len(content) // _WORD) * 8, dtype=np.uint8)
    same = np.empty(min(_STEP, len(content)), dtype=np.bool_)
    for start in range(0, len(content), _STEP):
        part = content[start : start + _STEP]
        bits = np.packbits(np.equal(part, byte, out=same[: len(part)]), bitorder="little")
        packed[start // 8 : start // 8 + len(bits)] = bits
    return packed.view("<u8")


def single(position: int, like: Bits) -> Bits:
    """Return one place alone."""
    bits = np.zeros_like(like)
    bits[position // _WORD] = 1 << position % _WORD
    return bits


def count(bits: Bits) -> int:
    """Return how many places there are."""
    return int(np.bitwise_count(bits).sum())


def count_before(bits: Bits, places: Positions) -> Positions:
    """Return how many of the places stand before each of some others."""
    sums = np.zeros(len(bits) + 1, dtype=np.int64)
    np.cumsum(np.bitwise_count(bits), out=sums[1:])
    words, shifts = places // _WORD, (places % _WORD).astype(np.uint64)
    return sums[words] + np.bitwise_count(bits[words] & ((_ONE << shifts) - _ONE))


def are_among(bits: Bits, places: Positions) -> npt.NDArray[np.bool_]:
    """Say of each of some places whether it is one of these."""
    return (bits[places // _WORD] >> (places % _WORD).astype(np.uint64) & _ONE).astype(np.bool_)


def first(bits: Bits) -> int:
    """Return the first place, -1 where there is none."""
    word = int(np.argmax(bits != 0))
    lowest = int(bits[word]) & -int(bits[word])
    return word * _WORD + lowest.bit_length() - 1 if lowest else -1


def last(bits: Bits) -> int:
    """Return the last place, -1 where there is none."""
    words = np.flatnonzero(bits)
    return int(words[-1]) * _WORD + int(bits[words[-1]]).bit_length() - 1 if len(words) else -1


def positions(bits: Bits) -> Positions:
    """Return all places in their order."""
    words = np.flatnonzero(bits)
    left, found = bits[words], [words[:0]]
    while len(words):  # the lowest of each word, and so on: as a rule few words have more than two
        others = left & (left - _ONE)
        found.append(words * _WORD + np.bitwise_count((left ^ others) - _ONE))
        words, left = words[others != 0], others[others != 0]
    return np.sort(np.concatenate(found), kind="stable")


def after(bits: Bits) -> Bits:
    """Return the places right behind these."""
    moved = bits << _ONE
    moved[1:] |= bits[:-1] >> _TOP
    return moved


def before(bits: Bits) -> Bits:
    """Return the places right before these."""
    moved = bits >> _ONE
    moved[:-1] |= bits[1:] << _TOP
    return moved


def between(marks: Bits, *, inside: bool = False) -> Bits:
    """Return the places from each odd mark to before the next even one; `inside`: an odd one stands before them all."""
    parity = marks.copy()
    for shift in _SHIFTS:
        parity ^= parity << shift
    # By now each word is right if an even number of marks stands before it.
    odd = np.bitwise_xor.accumulate(parity >> _TOP)
    parity[1:] ^= np.uint64(0) - odd[:-1]
    return ~parity if inside else parity
