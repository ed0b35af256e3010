"""Numbers in JSON that a double would change: one of them as Python reads it, and those of many lines by their bytes.

A double gives back every number whose digits, without the point, are at most 2^52. Only numbers of more digits are
looked at, and these are found without a look at each byte: 16 digits and a point fill a word of eight bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.formats.scanning.byte_bits import Bits, Content, Positions
from mason.pipeline.types.number_types import EXACT_IN_DOUBLE

_EXACT = 2**52
_WRITTEN_DIGITS = 17  # so many are enough to write any double
_WORD = 8
_FIRST, _LAST = b".9"  # between them there is but the slash, besides digits
_ZERO, _FOUR, _EXPONENT = b"04e"
_LOWER_CASE = 0x20
_TOP_BITS, _LOW_BITS, _FROM_FIRST, _TO_LAST = (
    np.uint64(byte * 0x0101010101010101) for byte in (0x80, 0x7F, _FIRST, 0x7F - _LAST)
)
_NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?=[,\]}\s])").match
_LONG_RUN = re.compile(rb"[0-9.]{16}").search
_AT_THE_END = 48
_QUOTES = re.compile(rb'\\.|(")', re.DOTALL).finditer


def _bytes_among(some: bytes) -> npt.NDArray[np.bool_]:
    table = np.zeros(256, dtype=np.bool_)
    table[list(some)] = True
    return table


_BEFORE_NUMBER = _bytes_among(b":,[ \t\r-")
_BEHIND_NUMBER = _bytes_among(b",]} \t\r\neE")


def exact_number(text: str) -> float | Decimal:
    """Return a fraction of JSON as a double, or as a decimal where the double has lost something.

    It has not if it gives the same digits back, written with as many of them, or as few as tell it from all others.
    What has an exponent and at most 17 digits is a double in any case: so doubles are written, and no amounts. And what
    is beyond all doubles is infinity or zero, as it is with fewer digits.
    """
    number = float(text)
    if number == 0 or math.isinf(number):
        return number
    mantissa, exponent, _ = text.lower().partition("e")
    digits = mantissa.replace(".", "").lstrip("-0")
    if len(digits) <= EXACT_IN_DOUBLE or int(digits) <= _EXACT:
        return number
    if exponent:
        return number if len(digits) <= _WRITTEN_DIGITS else Decimal(text)
    exact = Decimal(text)
    decimals = len(text) - text.index(".") - 1
    return number if f"{number:.{decimals}f}" == text or Decimal(repr(number)) == exact else exact


def lose_digits(lines: bytes) -> bool:
    """Say whether a fraction in lines of JSON objects has digits that a double loses."""
    if _LONG_RUN(lines, max(len(lines) - _AT_THE_END, 0)):
        lines += b"\n" * _WORD  # only whole words are looked at
    content = np.frombuffer(lines, dtype=np.uint8)
    starts, ends = _long_numbers(content)
    doubtful = _inexact(lines, content, starts, ends) if len(starts) else ()
    return any(_are_outside_texts(lines, doubtful))


def _long_numbers(content: Content) -> tuple[Positions, Positions]:
    """Return where runs of at least 17 digits and points begin and end that may be numbers.

    Such a run has all bytes of a word, and the first of the next one: that is quickly seen of most words.
    """
    words = content[: len(content) // _WORD * _WORD].view("<u8")
    marks = (words.astype(np.uint8) - np.uint8(_FIRST)) <= np.uint8(_LAST - _FIRST)
    places = np.flatnonzero(marks[:-1] & marks[1:])
    places = places[_in_range(words[places]) == _TOP_BITS]
    if not len(places):
        return places, places
    is_apart = np.diff(places) > 1
    firsts = places[np.concatenate([[True], is_apart])]
    lasts = places[np.concatenate([is_apart, [True]])]
    # No run begins with a line, nor ends with it: there are the braces.
    before = _in_range(words[firsts - 1]) ^ _TOP_BITS
    starts = firsts * _WORD - (_WORD - 1) + _highest_byte(before)
    likely = _BEFORE_NUMBER[content[starts - 1]]
    starts, lasts = starts[likely], lasts[likely] + 1
    behind = _in_range(words[lasts]) ^ _TOP_BITS
    in_word = np.where(behind == 0, _WORD, _highest_byte(behind & (~behind + np.uint64(1))))
    ends = lasts * _WORD + in_word
    likely = _BEHIND_NUMBER[content[ends]] & _are_long(content, starts, ends)
    return starts[likely], ends[likely]


def _in_range(words: Bits) -> Bits:
    """Return words with the top bit of each byte that is a digit, a point or a slash."""
    low = words & _LOW_BITS
    from_first = (low | _TOP_BITS) - _FROM_FIRST
    return from_first & ~(low + _TO_LAST) & ~words & _TOP_BITS


def _highest_byte(words: Bits) -> Positions:
    """Return the number of the highest byte of each word that is not zero: the exponent tells it, as of a double."""
    return ((words.astype(np.float64).view(np.int64) >> 52) - 1023) >> 3


def _are_long(content: Content, starts: Positions, ends: Positions) -> npt.NDArray[np.bool_]:
    """Say of runs whether their digits may be more than 2^52; not all zeros at the beginning are left out here."""
    is_below_one = content[starts] == _ZERO
    digits = ends - starts - 1 - is_below_one  # one is the point
    first = content[starts + 2 * is_below_one]
    too_long: npt.NDArray[np.bool_] = (digits > EXACT_IN_DOUBLE + 1) | ((digits > EXACT_IN_DOUBLE) & (first >= _FOUR))
    return too_long


def _inexact(lines: bytes, content: Content, starts: Positions, ends: Positions) -> Iterator[int]:
    """Yield where numbers begin of which a double loses something; whole numbers are looked at elsewhere."""
    texts = _texts_between(lines, starts, ends)
    has_exponent = (content[ends] | _LOWER_CASE) == _EXPONENT
    is_same = np.logical_or(_come_back(texts), has_exponent & (ends - starts <= _WRITTEN_DIGITS))
    others = np.flatnonzero(~is_same)
    is_fraction = pc.match_substring(texts.take(pa.array(others)), ".").to_numpy(zero_copy_only=False)
    for start in starts[others[is_fraction | has_exponent[others]]].tolist():
        found = _NUMBER(lines, start)
        if found and isinstance(exact_number(found[0].decode()), Decimal):
            yield start


def _come_back(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Say of numbers whether a double, written with the fewest digits that give it back, is the same text."""
    try:
        written = texts.cast(pa.float64()).cast(pa.string())
    except pa.ArrowInvalid:  # a version or a date in a text is not a number
        return np.zeros(len(texts), dtype=np.bool_)
    same: npt.NDArray[np.bool_] = pc.equal(written, texts).to_numpy(zero_copy_only=False)
    return same


def _texts_between(lines: bytes, starts: Positions, ends: Positions) -> pa.Array:
    """Return the texts at these places, without a loop: they are every other one of the pieces that the places cut."""
    bounds = np.stack([starts, ends], axis=1).ravel().astype(np.int32)
    if not len(bounds):
        return pa.array([], pa.string())
    pieces = pa.Array.from_buffers(pa.string(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(lines)])
    return pieces.take(pa.array(np.arange(0, len(pieces), 2)))


def _are_outside_texts(lines: bytes, places: Iterable[int]) -> Iterator[bool]:
    """Say of each place, in their order, whether it is in no text: an even number of quotes precedes it in its line.

    What stands before the last place of the same line has been counted: a line may be long, and have many of them.
    """
    counted, is_outside = 0, True
    for place in places:
        begin = lines.rfind(b"\n", counted, place) + 1
        if begin:
            counted, is_outside = begin, True
        quotes = sum(found[1] is not None for found in _QUOTES(lines, counted, place))
        counted, is_outside = place, is_outside == (quotes % 2 == 0)
        yield is_outside
