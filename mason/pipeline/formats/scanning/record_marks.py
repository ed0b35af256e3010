"""The bytes of delimited text that matter, and the records that they tell.

Quotes, delimiters and line ends are found as bits, one for each byte. A prefix sum modulo two of the quotes' bits says
which bytes stand inside quotes (`between`); line ends outside end records. No byte is looked at one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.tokens import ExactRecord
from mason.pipeline.formats.scanning import byte_bits
from mason.pipeline.formats.scanning.byte_bits import Bits, Content, Positions

_NEWLINE, _RETURN, _SPACE = b"\n\r "


@dataclass(frozen=True)
class OddRecord:
    """A record that bytes alone do not tell: the field by field reading of it, and where it stands."""

    start: int
    end: int
    record: ExactRecord


@dataclass(frozen=True, kw_only=True)
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
        end = int(ends[-1]) if len(ends) else 0
        return cls(records=len(ends), end=end, lines=byte_bits.find(content, 1), quotes=quotes, odd=odd)

    @cached_property
    def ends(self) -> Positions:
        """The positions after each record, a last one without line end included where the text is final."""
        ends = byte_bits.positions(self.lines) + 1
        return ends if len(ends) == self.records else np.append(ends, self.end)


@dataclass(frozen=True, kw_only=True)
class Marks:
    """Where in a text the bytes are that matter, and which of them stand inside quotes."""

    content: Content
    quotes: Bits
    lines: Bits
    delimiters: Bits
    inside: Bits
    opens: Bits
    """Where a quote may open: behind a delimiter, a line end or another quote."""
    closes: Bits

    @classmethod
    def of(cls, content: Content, dialect: Dialect, lines: Bits) -> Marks:
        """Return the marks of a text whose lines end there."""
        quotes = byte_bits.find(content, ord(dialect.quote))
        delimiters = byte_bits.find(content, ord(dialect.delimiter))
        marks = quotes | lines | delimiters
        opens = byte_bits.after(marks) | byte_bits.single(0, marks)
        closes = byte_bits.before(marks) | byte_bits.single(len(content) - 1, marks)
        return cls(
            content=content,
            quotes=quotes,
            lines=lines,
            delimiters=delimiters,
            inside=byte_bits.between(quotes),
            opens=opens,
            closes=closes,
        )

    def find_misplaced(self, *, inside: bool = False) -> Bits:
        """Return the quotes that can neither open a field nor close one; `inside`: the text begins within quotes."""
        within = ~self.inside if inside else self.inside
        last = self.quotes & ~within & ~self.closes
        if last.any():  # as a rule there are none, and nothing has to be looked for
            last &= ~byte_bits.before(byte_bits.find(self.content, _RETURN))
        return (self.quotes & within & ~self.opens) | last


def may_swallow(marks: Marks, width: int, *, inside: bool = False) -> Positions:
    """Return where records begin that may hold other records in a quoted field; a reading field by field decides it.

    All lines between the first and the last of such a record have as many delimiters as a record has; where there are
    none, the two lines have them together.
    """
    inner = marks.lines & (~marks.inside if inside else marks.inside)
    if width < 2 or not inner.any():
        return np.zeros(0, dtype=np.int64)
    lines = byte_bits.positions(inner)
    if not _may_hold_records(marks.delimiters & (~marks.inside if inside else marks.inside), lines, width):
        return np.zeros(0, dtype=np.int64)
    outer = marks.lines & ~inner
    records = byte_bits.count_before(outer, lines)  # lines of one record have as many records before them
    firsts = np.flatnonzero(np.diff(records, prepend=-1))
    counts = np.diff(firsts, append=len(lines))
    ends = byte_bits.positions(outer)
    found = _records_in_two_lines(marks, records[firsts[counts == 1]], ends, width)
    firsts, counts = firsts[counts > 1], counts[counts > 1]
    # Counted for all lines at once: looked at one by one, many records would be looked at from the start of the text.
    alike = np.append(0, np.cumsum(_delimiters_between(marks, lines[:-1], lines[1:]) == width - 1))
    found += records[firsts[alike[firsts + counts - 1] - alike[firsts] == counts - 1]].tolist()
    return np.array([int(ends[record - 1]) + 1 if record else 0 for record in sorted(found)], dtype=np.int64)


def _may_hold_records(delimiters: Bits, lines: Positions, width: int) -> bool:
    """Say whether somewhere as many delimiters stand inside quotes, around lines that end there, as a record has.

    Hardly any prose has so many. It costs a fraction of looking at the records.
    """
    counts = np.diff(byte_bits.count_before(delimiters, lines), prepend=0, append=byte_bits.count(delimiters))
    if (counts[:-1] + counts[1:] >= width - 1).any():  # one line end in quotes
        return True
    return bool((counts[1:-1] == width - 1).any())  # the line between two of them


def _records_in_two_lines(marks: Marks, records: Positions, ends: Positions, width: int) -> list[int]:
    """Which of the records have as many delimiters as two records have, and no space behind one."""
    if not len(records):
        return []
    # A delimiter that is the very last byte of a text is not counted: that record is merely not told.
    places = np.concatenate(([0], ends, [len(marks.content) - 1]))
    records = records[_delimiters_between(marks, places[records], places[records + 1]) == 2 * (width - 1)]
    if not len(records):
        return []
    prose = marks.delimiters & byte_bits.before(byte_bits.find(marks.content, _SPACE))  # addresses are many, and so
    spaced = _count_between(prose, places[records], places[records + 1])
    return [int(each) for each in records[spaced == 0]]


def _delimiters_between(marks: Marks, starts: Positions, ends: Positions) -> Positions:
    return _count_between(marks.delimiters, starts, ends)


def _count_between(bits: Bits, starts: Positions, ends: Positions) -> Positions:
    counts = byte_bits.count_before(bits, np.append(starts, ends))
    return counts[len(starts) :] - counts[: len(starts)]


def quotes_in(content: Content, quote: str = '"') -> Bits:
    """Return where the quotes are; a dialect may have none."""
    if not quote:
        return np.zeros(-(-len(content) // 64), dtype=np.uint64)
    return byte_bits.find(content, ord(quote))


def line_ends(text: bytes, content: Content, *, final: bool) -> Bits:
    """Return where lines end: with `\\n`, `\\r\\n` or, as in old files of the Mac, a bare `\\r`.

    Unless `final`, a return at the end of the text may be the first half of a line end, and is none yet.
    """
    lines = byte_bits.find(content, _NEWLINE)
    if b"\r" not in text:
        return lines
    bare = byte_bits.find(content, _RETURN) & ~byte_bits.before(lines)
    if not final and text.endswith(b"\r"):
        bare &= ~byte_bits.single(len(text) - 1, bare)
    return lines | bare


def record_ends(text: bytes, quotes: Bits, *, inside: bool, final: bool = False) -> Bits:
    """Return the line ends outside quotes; `inside`: the text begins within them."""
    lines = line_ends(text, np.frombuffer(text, dtype=np.uint8), final=final)
    return lines & ~byte_bits.between(quotes, inside=inside)


def open_field(text: bytes, dialect: Dialect) -> int:
    """Return how long the last field of a text is, which may go on behind it; the text begins at a record's start."""
    content = np.frombuffer(text, dtype=np.uint8)
    marks = byte_bits.find(content, dialect.delimiter.encode()[-1]) | line_ends(text, content, final=True)
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
    marks = Marks.of(content, dialect, byte_bits.find(content, _NEWLINE))
    doubtful = marks.quotes & ~(marks.opens | marks.closes)
    return bool((doubtful & ~byte_bits.before(byte_bits.find(content, _RETURN))).any())
