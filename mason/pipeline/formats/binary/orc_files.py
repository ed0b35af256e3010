"""What the footer of an ORC file says, and Arrow does not tell: which columns are encrypted.

The footer is a message of Protocol Buffers. Its few fields that matter here are read by their numbers, which ORC's
specification fixes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyarrow import orc

_TAIL_FOOTER = 2
_FOOTER_TYPES, _FOOTER_ENCRYPTION = 4, 10
_TYPE_CHILDREN = 2
_ENCRYPTION_VARIANTS = 3
_VARIANT_ROOT = 1
_NUMBER, _EIGHT_BYTES, _TEXT, _FOUR_BYTES = 0, 1, 2, 5


def find_encrypted_columns(file: orc.ORCFile) -> list[str]:
    """Return the columns that are encrypted: without the key, ORC gives masked values for them."""
    footer = _first(file.reader.serialized_file_tail(), _TAIL_FOOTER)
    encryption = _first(footer, _FOOTER_ENCRYPTION)
    if not encryption:
        return []
    variants = _all(encryption, _ENCRYPTION_VARIANTS)
    roots = {number for each in variants for number in (_numbers(each, _VARIANT_ROOT) or [0])}
    # The columns of a file are the children of its first type; what lies inside one has the numbers that follow.
    starts = _numbers(_first(footer, _FOOTER_TYPES), _TYPE_CHILDREN)
    ends = [*starts[1:], len(_all(footer, _FOOTER_TYPES))]
    columns = zip(file.schema.names, starts, ends, strict=False)
    return [name for name, start, end in columns if any(start <= root < end or root == 0 for root in roots)]


def _first(message: bytes, field: int) -> bytes:
    return next(iter(_all(message, field)), b"")


def _all(message: bytes, field: int) -> Sequence[bytes]:
    return [value for number, value in _fields(message) if number == field and isinstance(value, bytes)]


def _numbers(message: bytes, field: int) -> list[int]:
    """The numbers of a field, which may be packed into one text."""
    found: list[int] = []
    for number, value in _fields(message):
        if number == field and isinstance(value, bytes):
            found += _pack_number(value)
        elif number == field:
            found.append(value)
    return found


def _pack_number(value: bytes) -> Iterator[int]:
    place = 0
    while place < len(value):
        number, place = _varint(value, place)
        yield number


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each field: a number, or bytes."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == _NUMBER:
            value, place = _varint(message, place)
            yield key >> 3, value
            continue
        length, place = _length(message, place, kind)
        yield key >> 3, message[place : place + length]
        place += length


def _length(message: bytes, place: int, kind: int) -> tuple[int, int]:
    if kind == _TEXT:
        return _varint(message, place)
    return {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}[kind], place


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """Return a number that begins at a place, seven bits a byte and the lowest first, and the place behind it."""
    number = shift = 0
    while True:
        byte = message[place]
        number |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return number, place
