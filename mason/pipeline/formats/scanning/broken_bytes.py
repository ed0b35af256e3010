"""Records with bytes that are no UTF-8, found among many that have none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.tokens import split_exactly
from mason.pipeline.formats.scanning.chunks import Chunk
from mason.pipeline.formats.scanning.record_marks import OddRecord

_PIECE = 64 * 1024  # an error of Python holds a copy of all that was decoded


def find_broken_records(chunk: Chunk, dialect: Dialect, width: int) -> Sequence[OddRecord]:
    """Return the records of a chunk that are not UTF-8, besides those that are odd already."""
    known = chunk.odd_by_index
    places = (place for index, *place in _find_broken_places(chunk) if index not in known)
    texts = ((start, end, chunk.read[start:end].decode("utf-8", "surrogateescape")) for start, end in places)
    return [OddRecord(start, end, next(split_exactly(text, dialect, width))) for start, end, text in texts]


def _find_broken_places(chunk: Chunk) -> Iterator[tuple[int, int, int]]:
    """Yield the numbers of records that cannot be decoded, with where they begin and end."""
    ends = chunk.scan.ends
    place = 0
    while place < chunk.scan.end:
        last = int(np.searchsorted(ends, min(place + _PIECE, chunk.scan.end)))
        try:
            chunk.read[place : int(ends[last])].decode("utf-8")
        except UnicodeDecodeError as error:
            index = int(np.searchsorted(ends, place + error.start, side="right"))
            yield index, int(ends[index - 1]) if index else 0, int(ends[index])
            place = int(ends[index])
        else:
            place = int(ends[last])
