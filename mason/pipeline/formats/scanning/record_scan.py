"""Where the records of delimited text end, found by looking at bytes alone: what a parser says is held against this."""

from __future__ import annotations

import numpy as np

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.scanning import byte_bits
from mason.pipeline.formats.scanning.byte_bits import Bits
from mason.pipeline.formats.scanning.careful_scan import is_far, scan_field_by_field, scan_with_care
from mason.pipeline.formats.scanning.record_marks import Marks, Scan, line_ends, may_swallow


def scan_records(text: bytes, dialect: Dialect, width: int, *, final: bool) -> Scan:
    """Find the ends of the records, which are line ends outside quotes.

    Unless `final`, more text is to come: what follows the last line end is not a record yet. `width` is how many fields
    a record has, 0 if that is not known.
    """
    if not dialect.is_simple:
        return scan_field_by_field(text, dialect, width, final=final)
    content = np.frombuffer(text, dtype=np.uint8)
    lines = line_ends(text, content, final=final)
    if not dialect.quote or dialect.quote.encode() not in text:
        records, end = _count(lines, text, final=final)
        return Scan(records=records, end=end, lines=lines)
    marks = Marks.of(content, dialect, lines)
    ends = marks.lines & ~marks.inside
    records, end = _count(ends, text, final=final)
    total = byte_bits.count(marks.quotes)
    is_open = total % 2 == 1
    if (is_open and (final or is_far(text, end))) or _is_odd(marks, dialect, width):
        return scan_with_care(text, marks, dialect, width, final=final)
    return Scan(records=records, end=end, lines=ends, quotes=total - text.count(dialect.quote.encode(), end))


def _is_odd(marks: Marks, dialect: Dialect, width: int) -> bool:
    """Say whether a reading field by field has to decide of some record where it ends."""
    return bool(marks.find_misplaced().any()) or (not dialect.sure and len(may_swallow(marks, width)) > 0)


def _count(lines: Bits, text: bytes, *, final: bool) -> tuple[int, int]:
    """How many records there are, and where the last one ends."""
    records, end = byte_bits.count(lines), byte_bits.last(lines) + 1
    return (records + 1, len(text)) if final and len(text) > end else (records, end)
