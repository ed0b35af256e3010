"""Where records end in text whose quotes cannot be trusted, or whose dialect bytes alone do not tell.

Up to a quote that can neither open a field nor close one, the quotes are what they seem. The record around it is read
field by field; behind it, quotes are trusted again. So a few odd records cost little in a large file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.swallowed_lines import FAR_LINES
from mason.pipeline.formats.delimited.tokens import split_exactly
from mason.pipeline.formats.scanning import byte_bits
from mason.pipeline.formats.scanning.byte_bits import Positions
from mason.pipeline.formats.scanning.record_marks import Marks, OddRecord, Scan, may_swallow

_WINDOW = 512


def scan_field_by_field(text: bytes, dialect: Dialect, width: int, *, final: bool) -> Scan:
    """Return the records of a text, each of them read field by field."""
    decoded = text.decode("utf-8", "surrogateescape")
    odd: list[OddRecord] = []
    end = place = 0
    for record in split_exactly(decoded, dialect, width, final=final):
        start, end = end, end + _size(decoded[place : record.end])
        place = record.end
        odd.append(OddRecord(start, end, record))
    return Scan.of(np.array([each.end for each in odd], dtype=np.int64), text, odd=odd)


def scan_with_care(text: bytes, marks: Marks, dialect: Dialect, width: int, *, final: bool) -> Scan:
    """Return the records of a text in which some quotes are not what they seem."""
    walk = _Walk(text, marks, dialect, width, final)
    pieces: list[Positions] = []
    odd: list[OddRecord] = []
    for ends, record in walk.steps():
        pieces.append(ends)
        if record:
            odd.append(record)
            pieces.append(np.array([record.end], dtype=np.int64))
    ends = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)
    end = int(ends[-1]) if len(ends) else 0
    if final and end < len(text):
        ends, end = np.append(ends, len(text)), len(text)
    return Scan.of(ends, text, text.count(dialect.quote.encode(), 0, end), odd)


class _Walk:
    """Goes through a text from one doubtful place to the next.

    Whether a byte stands inside quotes depends on how many quotes come before it. An odd record may change that for all
    bytes behind it, but only to the opposite. So both are found once, for all bytes.
    """

    def __init__(self, text: bytes, marks: Marks, dialect: Dialect, width: int, final: bool) -> None:
        self._text, self._marks, self._dialect, self._width, self._final = text, marks, dialect, width, final

    @cached_property
    def _quotes(self) -> Positions:
        return byte_bits.positions(self._marks.quotes)

    @cached_property
    def _ends(self) -> tuple[Positions, Positions]:
        """Behind the line ends outside quotes, if the text begins outside of them, and if it begins inside."""
        marks = self._marks
        outside, inside = marks.lines & ~marks.inside, marks.lines & marks.inside
        return byte_bits.positions(outside) + 1, byte_bits.positions(inside) + 1

    @cached_property
    def _misplaced(self) -> tuple[Positions, Positions]:
        found = [byte_bits.positions(self._marks.find_misplaced(inside=inside)) for inside in (False, True)]
        return found[0], found[1]

    @cached_property
    def _swallowing(self) -> tuple[Positions, Positions]:
        width = 0 if self._dialect.sure else self._width
        return may_swallow(self._marks, width), may_swallow(self._marks, width, inside=True)

    def steps(self) -> Iterator[tuple[Positions, OddRecord | None]]:
        """Yield the ends of plain records, and the odd record behind them."""
        position = 0
        while position < len(self._text):
            flipped = int(self._quotes.searchsorted(position)) % 2
            ends = self._ends[flipped]
            first = int(ends.searchsorted(position, side="right"))
            doubtful = self._next_doubtful(position, flipped, int(ends[-1]) if len(ends) > first else position)
            if doubtful is None:
                yield ends[first:], None
                return
            last = int(ends.searchsorted(doubtful, side="right"))
            start = int(ends[last - 1]) if last > first else position
            record = self._read(start)
            if record is None:
                yield ends[first:last], None
                return
            # A record that merely looked like one of those that hold others is as plain as those before it.
            is_odd = record.record.problem or record.record.doubtful
            is_plain = not is_odd and not self._is_misplaced_before(record.end, start, flipped)
            yield (np.append(ends[first:last], record.end), None) if is_plain else (ends[first:last], record)
            position = record.end

    def _next_doubtful(self, position: int, flipped: int, end: int) -> int | None:
        """The first place behind a record's start that cannot be trusted; `end` is the last one that ends a record."""
        places = [
            int(each[index])
            for each in (self._misplaced[flipped], self._swallowing[flipped])
            if (index := int(each.searchsorted(position))) < len(each)
        ]
        return min(places, default=None) if places else self._open_end(flipped, end)

    def _is_misplaced_before(self, end: int, start: int, flipped: int) -> bool:
        misplaced = self._misplaced[flipped]
        return bool(misplaced.searchsorted(start) < misplaced.searchsorted(end))

    def _open_end(self, flipped: int, end: int) -> int | None:
        """The last place, if a quote is open there whose record can be judged."""
        is_open = len(self._quotes) % 2 != flipped
        return len(self._text) - 1 if is_open and (self._final or is_far(self._text, end)) else None

    def _read(self, start: int) -> OddRecord | None:
        size = _WINDOW
        while True:
            window = self._text[start : start + size]
            is_all = start + size >= len(self._text)
            decoded = window.decode("utf-8", "surrogateescape")
            whole = split_exactly(decoded, self._dialect, self._width, final=is_all and self._final)
            record = next(whole, None)
            if record:
                return OddRecord(start, start + _size(decoded[: record.end]), record)
            if is_all:
                return None
            size *= 4


def is_far(text: bytes, start: int) -> bool:
    """Say whether so many lines stand behind a place that a record which begins there is judged without its end."""
    return text.count(b"\n", start) + text.count(b"\r", start) >= FAR_LINES


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))
