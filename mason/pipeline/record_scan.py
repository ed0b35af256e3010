"""Where the records of delimited text end, found by looking at bytes alone: what a parser says is held against this."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_QUOTE, _NEWLINE, _RETURN = b'"'[0], b"\n"[0], b"\r"[0]

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Scan:
    """The records of a text that begins at a record's start.

    `ends` are the positions after each record's line end, a last one without line end included where the text is
    final. `has_stray_quotes`: a quote stands where none belongs, so that the ends cannot be trusted. `open_quote`: a
    quote is not closed at the end of the text.
    """

    ends: Positions
    has_stray_quotes: bool = False
    open_quote: bool = False

    @property
    def end(self) -> int:
        """The position after the last record."""
        return int(self.ends[-1]) if len(self.ends) else 0


def scan_records(text: bytes, delimiter: str, *, final: bool) -> Scan:
    """Find the ends of the records, which are line ends outside quotes.

    Unless `final`, more text is to come: what follows the last line end is no record yet.
    """
    content = np.frombuffer(text, dtype=np.uint8)
    quotes = quotes_in(text, content)
    ends = line_ends(content, quotes)
    open_quote = len(quotes) % 2 == 1
    if final and len(text) > (ends[-1] if len(ends) else 0):
        ends = np.append(ends, len(text))
    return Scan(ends, has_stray_quotes(content, quotes, delimiter), open_quote)


def quotes_in(text: bytes, content: npt.NDArray[np.uint8]) -> Positions:
    """Return where the quotes are."""
    return np.flatnonzero(content == _QUOTE) if b'"' in text else np.empty(0, dtype=np.int64)


def line_ends(content: npt.NDArray[np.uint8], quotes: Positions, before: int = 0) -> Positions:
    """Return the positions after the line ends outside quotes; `before` is how many quotes stand before the text."""
    ends: Positions = np.flatnonzero(content == _NEWLINE)
    if len(quotes) or before % 2:
        # A line end is inside quotes when an odd number of quotes stands before it.
        ends = ends[(np.searchsorted(quotes, ends) + before) % 2 == 0]
    return ends + 1


def blank_records(text: bytes, scan: Scan) -> npt.NDArray[np.bool_]:
    """Say of each record whether it is a blank line."""
    blank: npt.NDArray[np.bool_] = np.zeros(len(scan.ends), dtype=bool)
    lengths = np.diff(scan.ends, prepend=0)
    short = np.flatnonzero(lengths <= len(b"\r\n"))  # as a rule there are none, and nothing more is to be done
    first = np.frombuffer(text, dtype=np.uint8)[scan.ends[short] - lengths[short]]
    blank[short] = (first == _RETURN) | ((first == _NEWLINE) & (lengths[short] == 1))
    return blank


def has_stray_quotes(content: npt.NDArray[np.uint8], quotes: Positions, delimiter: str) -> bool:
    """Say whether some quote is neither at the beginning of a field, nor at its end, nor beside another quote."""
    if not len(quotes):
        return False
    mark = delimiter.encode()[-1]
    before = content[np.maximum(quotes - 1, 0)]
    after = content[np.minimum(quotes + 1, len(content) - 1)]
    begins = (quotes == 0) | (before == mark) | (before == _NEWLINE)
    ends = (quotes == len(content) - 1) | (after == mark) | (after == _NEWLINE) | (after == _RETURN)
    beside = (before == _QUOTE) | (after == _QUOTE)
    return not bool(np.all(begins | ends | beside))
