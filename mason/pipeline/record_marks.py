"""The bytes of delimited text that matter, and the records that they tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mason.pipeline import byte_bits
from mason.pipeline.byte_bits import Bits, Content, Positions
from mason.pipeline.csv_dialect import Dialect
from mason.pipeline.csv_tokens import ExactRecord

_NEWLINE, _RETURN = b"\n\r"
SURE_LINES = 3


@dataclass(frozen=True)
class OddRecord:
    """A record that bytes alone do not tell: the field by field reading of it, and where it stands."""

    start: int
    end: int
    record: ExactRecord


@dataclass(frozen=True)
class Scan:
    """The records of a text that begins at a record's start.

    `records` is how many they are, and `end` the position after them. `lines` are the line ends outside quotes, and
    `quotes` is how many quotes there are in the records. `odd` are records with quotes where none belong.
    """

    records: int
    end: int
    lines: Bits
    quotes: int = 0
    odd: Sequence[OddRecord] = ()

    @classmethod
    def of(cls, ends: Positions, text: bytes, quotes: int = 0, odd: Sequence[OddRecord] = ()) -> Scan:
        """Return the scan of a text whose records end there."""
        content = np.zeros(len(text), dtype=np.uint8)
        if len(ends):
            content[ends - 1] = 1
        return cls(len(ends), int(ends[-1]) if len(ends) else 0, byte_bits.find(content, 1), quotes, odd)

    @cached_property
    def ends(self) -> Positions:
        """The positions after each record, a last one without line end included where the text is final."""
        ends = byte_bits.positions(self.lines) + 1
        return ends if len(ends) == self.records else np.append(ends, self.end)


@dataclass(frozen=True)
class Marks:
    """Where in a text the bytes are that matter, and which of them stand inside quotes."""

    quotes: Bits
    lines: Bits
    inside: Bits
    opens: Bits
    """Where a quote may open: behind a delimiter, a line end or another quote."""
    closes: Bits

    @classmethod
    def of(cls, content: Content, dialect: Dialect) -> Marks:
        quotes = byte_bits.find(content, ord(dialect.quote))
        lines = byte_bits.find(content, _NEWLINE)
        marks = quotes | lines | byte_bits.find(content, ord(dialect.delimiter))
        opens = byte_bits.after(marks) | byte_bits.single(0, marks)
        closes = byte_bits.before(marks) | byte_bits.single(len(content) - 1, marks)
        returns = byte_bits.find(content, _RETURN)
        return cls(quotes, lines, byte_bits.between(quotes), opens, closes | byte_bits.before(returns))

    def misplaced(self, *, inside: bool = False) -> Bits:
        """Return the quotes that can neither open a field nor close one; `inside`: the text begins within quotes."""
        within = ~self.inside if inside else self.inside
        return (self.quotes & within & ~self.opens) | (self.quotes & ~within & ~self.closes)


def swallowing(text: bytes, marks: Marks, dialect: Dialect, width: int, *, inside: bool = False) -> Positions:
    """Return where records begin that hold, by a quote which is never closed as it should be, other records."""
    within = ~marks.inside if inside else marks.inside
    inner = byte_bits.positions(marks.lines & within)
    if width < 2 or len(inner) <= SURE_LINES:
        return np.zeros(0, dtype=np.int64)
    ends = byte_bits.positions(marks.lines & ~within)
    owners = np.searchsorted(ends, inner)
    firsts = np.flatnonzero(np.diff(owners, prepend=-1))
    counts = np.diff(firsts, append=len(inner))
    delimiter = dialect.delimiter.encode()
    found = [
        int(ends[owners[first] - 1]) + 1 if owners[first] else 0
        for first, count in zip(firsts.tolist(), counts.tolist(), strict=True)
        if count > SURE_LINES and _are_records(text, inner[first : first + count].tolist(), delimiter, width)
    ]
    return np.array(found, dtype=np.int64)


def _are_records(text: bytes, lines: Sequence[int], delimiter: bytes, width: int) -> bool:
    return all(text.count(delimiter, one, other) == width - 1 for one, other in pairwise(lines))


def quotes_in(content: Content, quote: str = '"') -> Bits:
    """Return where the quotes are; a dialect may have none."""
    if not quote:
        return np.zeros(-(-len(content) // 64), dtype=np.uint64)
    return byte_bits.find(content, ord(quote))


def record_ends(content: Content, quotes: Bits, *, inside: bool) -> Bits:
    """Return the line ends outside quotes; `inside`: the text begins within them."""
    return byte_bits.find(content, _NEWLINE) & ~byte_bits.between(quotes, inside=inside)


def open_field(text: bytes, dialect: Dialect) -> int:
    """Return how long the last field of a text is, which may go on behind it; the text begins at a record's start."""
    content = np.frombuffer(text, dtype=np.uint8)
    marks = byte_bits.find(content, dialect.delimiter.encode()[-1]) | byte_bits.find(content, _NEWLINE)
    return len(text) - 1 - byte_bits.last(marks & ~byte_bits.between(quotes_in(content, dialect.quote)))


def blank_records(text: memoryview, scan: Scan) -> npt.NDArray[np.bool_]:
    """Say of each record whether it is a blank line."""
    blank: npt.NDArray[np.bool_] = np.zeros(len(scan.ends), dtype=bool)
    lengths = np.diff(scan.ends, prepend=0)
    short = np.flatnonzero(lengths <= len(b"\r\n"))  # as a rule there are none, and nothing more is to be done
    first = np.frombuffer(text, dtype=np.uint8)[scan.ends[short] - lengths[short]]
    blank[short] = (first == _RETURN) | ((first == _NEWLINE) & (lengths[short] == 1))
    return blank


def has_misplaced_quotes(content: Content, dialect: Dialect) -> bool:
    """Say whether some quote is neither at the beginning of a field, nor at its end, nor beside another quote."""
    marks = Marks.of(content, dialect)
    return bool((marks.quotes & ~(marks.opens | marks.closes)).any())
