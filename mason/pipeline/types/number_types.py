"""Which numeric type holds all the numbers that were seen, without changing any of them.

Whether a decimal's text comes back as it was written is found by lengths, which is faster than any pattern.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

EXACT_IN_DOUBLE = 15  # every decimal number of so many digits survives the way through a double and back
SHORT_DECIMAL = 18  # the precision that fits eight bytes
MAX_PRECISION = 38
MONEY_SCALE = 4  # so few decimals are money and rates, where a double would be an answer to no question
_DECLARED_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}


@dataclass(frozen=True)
class Digits:
    """Numbers whose digits were seen, in text or in JSON: at most so many before and after the point.

    An integer within int64 has at most 19 whole digits here, one beyond it at least 20.
    `fit_double`: a double holds each of them exactly enough to give the same number back.
    `are_doubles`: they were doubles to begin with, as JSON's fractions are.
    """

    whole: int
    scale: int
    fit_double: bool = True
    are_doubles: bool = False


def is_number(seen: pa.DataType | Digits) -> bool:
    """Say whether this is a number's type, or the digits of numbers."""
    if isinstance(seen, Digits):
        return True
    return bool(pa.types.is_integer(seen) or pa.types.is_floating(seen) or pa.types.is_decimal(seen))


def unite_numbers(seen: Collection[pa.DataType | Digits]) -> pa.DataType:
    """Return the narrowest numeric type for all of these, or string when no number type holds them all.

    - Integers widen; uint64 beside a signed integer is decimal128(20, 0).
    - Digits of one scale are int64 or a decimal of that scale, so that the text comes back the same.
    - Digits of several scales up to four are a decimal of the largest one.
    - Of several and larger scales they are double while a double gives each number back, else decimal.
    - A declared integer beside a float is double: its values are not known to be too long for one.
    - Long digits or a long decimal beside a declared float are text: a double would change them, and how many
      decimals the floats need is not known.
    - Decimals take the most whole digits and the most scale. Beyond 38 it is text.
    """
    digits = [each for each in seen if isinstance(each, Digits)]
    types = [each for each in seen if not isinstance(each, Digits)]
    floats = [each for each in types if pa.types.is_floating(each)]
    if len(floats) == len(seen):
        return max(floats, key=lambda each: each.bit_width)
    if _are_integers(types, digits):
        return _unite_integers(types, digits)
    if not _needs_double(types, digits):
        return _unite_decimals(types, digits)
    if not _are_too_long_for_double(types, digits):
        return pa.float64()
    return pa.string() if floats else _unite_decimals(types, digits)


def _are_integers(types: Sequence[pa.DataType], digits: Sequence[Digits]) -> bool:
    return all(map(pa.types.is_integer, types)) and all(each.scale == 0 and not each.are_doubles for each in digits)


def _unite_integers(types: Sequence[pa.DataType], digits: Sequence[Digits]) -> pa.DataType:
    if any(each.whole > _DECLARED_DIGITS[64] for each in digits):
        return _unite_decimals(types, digits)
    signed = max((each.bit_width for each in types if pa.types.is_signed_integer(each)), default=0)
    unsigned = max((each.bit_width for each in types if pa.types.is_unsigned_integer(each)), default=0)
    if digits:
        signed = 64
    if not signed:
        return {8: pa.uint8(), 16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}[unsigned]
    needed = max(signed, 2 * unsigned)
    return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}.get(needed, pa.decimal128(20, 0))


def _needs_double(types: Sequence[pa.DataType], digits: Sequence[Digits]) -> bool:
    if any(map(pa.types.is_floating, types)) or any(each.are_doubles for each in digits):
        return True
    # A declared decimal says that its owner wants decimals; many decimals, and now more, now fewer, are a measurement.
    scales = {each.scale for each in digits}
    return len(scales) > 1 and max(scales) > MONEY_SCALE and not any(map(pa.types.is_decimal, types))


def _are_too_long_for_double(types: Sequence[pa.DataType], digits: Sequence[Digits]) -> bool:
    long = any(pa.types.is_decimal(each) and each.precision > EXACT_IN_DOUBLE for each in types)
    return long or not all(each.fit_double for each in digits)


def _unite_decimals(types: Sequence[pa.DataType], digits: Sequence[Digits]) -> pa.DataType:
    declared = [_digits_of_type(each) for each in types]
    whole = max(each.whole for each in [*declared, *digits])
    scale = max(each.scale for each in [*declared, *digits])
    precision = whole + scale
    if precision > MAX_PRECISION:
        return pa.string()
    if digits:  # what was seen is often a sample: leave room, so that files do not differ by a digit
        is_short = precision <= SHORT_DECIMAL and not _are_uneven(digits, scale)
        precision = SHORT_DECIMAL if is_short else MAX_PRECISION
    return pa.decimal128(precision, scale)


def _are_uneven(digits: Sequence[Digits], scale: int) -> bool:
    """Whether some numbers show fewer decimals than others that show many.

    Such a column is a long decimal: of a short one with many decimals each text must show them all, since with fewer
    the column may have to be double.
    """
    return scale > MONEY_SCALE and any(each.scale < scale for each in digits)


def _digits_of_type(declared: pa.DataType) -> Digits:
    if pa.types.is_decimal(declared):
        return Digits(declared.precision - declared.scale, declared.scale)
    return Digits(20 if declared == pa.uint64() else _DECLARED_DIGITS[declared.bit_width], 0)


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
