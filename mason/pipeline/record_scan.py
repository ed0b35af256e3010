"""Where the records of delimited text end, found by looking at bytes alone: what a parser says is held against this."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mason.pipeline import byte_bits
from mason.pipeline.byte_bits import Bits, Content, Positions

_QUOTE, _NEWLINE, _RETURN = b'"\n\r'


@dataclass(frozen=True)
class Scan:
    """The records of a text that begins at a record's start.

    `records` is how many they are, and `end` the position after them. `lines` are the line ends outside quotes, and
    `quotes` is how many quotes there are in the records.
    `has_stray_quotes`: a quote stands where none belongs, so that the ends cannot be trusted. `open_quote`: a quote is
    not closed at the end of the text.
    """

    records: int
    end: int
    lines: Bits
    quotes: int = 0
    has_stray_quotes: bool = False
    open_quote: bool = False

    @cached_property
    def ends(self) -> Positions:
        """The positions after each record, a last one without line end included where the text is final."""
        ends = byte_bits.positions(self.lines) + 1
        return ends if len(ends) == self.records else np.append(ends, self.end)


def scan_records(text: bytes, delimiter: str, *, final: bool) -> Scan:
    """Find the ends of the records, which are line ends outside quotes.

    Unless `final`, more text is to come: what follows the last line end is no record yet.
    """
    content = np.frombuffer(text, dtype=np.uint8)
    lines = byte_bits.find(content, _NEWLINE)
    if b'"' not in text:
        return Scan(*_count(lines, text, final=final), lines)
    quotes = quotes_in(content)
    ends = lines & ~byte_bits.between(quotes)
    records, end = _count(ends, text, final=final)
    total = byte_bits.count(quotes)
    is_stray = _has_stray_quotes(content, quotes, lines, delimiter)
    return Scan(records, end, ends, total - text.count(b'"', end), is_stray, total % 2 == 1)


def _count(lines: Bits, text: bytes, *, final: bool) -> tuple[int, int]:
    """How many records there are, and where the last one ends."""
    records, end = byte_bits.count(lines), byte_bits.last(lines) + 1
    return (records + 1, len(text)) if final and len(text) > end else (records, end)


def quotes_in(content: Content) -> Bits:
    """Return where the quotes are."""
    return byte_bits.find(content, _QUOTE)


def record_ends(content: Content, quotes: Bits, *, inside: bool) -> Bits:
    """Return the line ends outside quotes; `inside`: the text begins within them."""
    return byte_bits.find(content, _NEWLINE) & ~byte_bits.between(quotes, inside=inside)


def open_field(text: bytes, delimiter: str) -> int:
    """Return how long the last field of a text is, which may go on behind it; the text begins at a record's start."""
    content = np.frombuffer(text, dtype=np.uint8)
    marks = byte_bits.find(content, delimiter.encode()[-1]) | byte_bits.find(content, _NEWLINE)
    return len(text) - 1 - byte_bits.last(marks & ~byte_bits.between(quotes_in(content)))


def blank_records(text: memoryview, scan: Scan) -> npt.NDArray[np.bool_]:
    """Say of each record whether it is a blank line."""
    blank: npt.NDArray[np.bool_] = np.zeros(len(scan.ends), dtype=bool)
    lengths = np.diff(scan.ends, prepend=0)
    short = np.flatnonzero(lengths <= len(b"\r\n"))  # as a rule there are none, and nothing more is to be done
    first = np.frombuffer(text, dtype=np.uint8)[scan.ends[short] - lengths[short]]
    blank[short] = (first == _RETURN) | ((first == _NEWLINE) & (lengths[short] == 1))
    return blank


def has_stray_quotes(content: Content, delimiter: str) -> bool:
    """Say whether some quote is neither at the beginning of a field, nor at its end, nor beside another quote."""
    return _has_stray_quotes(content, quotes_in(content), byte_bits.find(content, _NEWLINE), delimiter)


def _has_stray_quotes(content: Content, quotes: Bits, lines: Bits, delimiter: str) -> bool:
    marks = quotes | lines | byte_bits.find(content, delimiter.encode()[-1])
    begins = byte_bits.after(marks) | byte_bits.single(0, marks)
    ends = byte_bits.before(marks) | byte_bits.single(len(content) - 1, marks)
    doubtful = quotes & ~(begins | ends)
    return bool(doubtful.any() and (doubtful & ~byte_bits.before(byte_bits.find(content, _RETURN))).any())
