"""Delimited text in chunks of whole records, however large the file: memory is bounded by the chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.tokens import ExactRecord, split_exactly, without_line_end
from mason.pipeline.formats.scanning import byte_bits
from mason.pipeline.formats.scanning.record_marks import OddRecord, Scan, open_field, quotes_in, record_ends
from mason.pipeline.formats.scanning.record_scan import scan_records

CHUNK = 16 * 1024 * 1024
LONGEST_RECORD = 512 * 1024 * 1024
BEGINNING = 4096
"""So many bytes are read of a record that is too long."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Whole records in UTF-8. `offset` is where they begin in the (decoded) file; `is_last`: nothing follows.

    `read` is what the records were found in: behind them stands the beginning of the next one, if there is one.
    """

    read: bytes
    scan: Scan
    offset: int
    is_last: bool
    passed_over: int = 0
    """How many bytes one record has of which only the beginning was read, since a field of it is too long."""

    @property
    def text(self) -> memoryview:
        return memoryview(self.read)[: self.scan.end]

    def raw(self, index: int) -> str:
        """Return the text of a record as it stands in the file, without its line end and comments before it."""
        found = self.odd_by_index.get(index)
        return found.record.raw if found else without_line_end(self._slice(index))

    def records(self, dialect: Dialect, width: int) -> Iterator[ExactRecord]:
        """Yield the records that the scan has found, field by field."""
        for index in range(self.scan.records):
            found = self.odd_by_index.get(index)
            yield found.record if found else next(split_exactly(self._slice(index), dialect, width))

    @cached_property
    def odd_by_index(self) -> Mapping[int, OddRecord]:
        indices = np.searchsorted(self.scan.ends, [each.end for each in self.scan.odd])
        return dict(zip(indices.tolist(), self.scan.odd, strict=True))

    def with_odd(self, records: Sequence[OddRecord]) -> Chunk:
        """Return the chunk with more records that are read field by field."""
        odd = sorted([*self.scan.odd, *records], key=lambda each: each.start)
        return replace(self, scan=replace(self.scan, odd=odd))

    def _slice(self, index: int) -> str:
        ends = self.scan.ends
        start = int(ends[index - 1]) if index else 0
        return self.read[start : int(ends[index])].decode("utf-8", "surrogateescape")


def split_chunks(
    blocks: Iterable[bytes],
    dialect: Dialect,
    width: int = 0,
    *,
    offset: int = 0,
    size: int = CHUNK,
    most_field: int | None = None,
) -> Iterator[Chunk]:
    """Cut text that comes block by block, and begins at a record's start, behind records.

    `width` is how many fields a record has, 0 if that is not known. A record that does not end within reach is cut off
    there: the reader of the chunk says what is wrong with it. Where the bytes of a field are limited, such a record is
    a chunk of its own, and so is one that has a longer field: what follows its beginning is passed over.
    """
    rest, needed = b"", size
    coming = iter(blocks)
    for block in coming:
        rest = rest + block if rest else block
        if len(rest) < needed:
            continue
        scan = scan_records(rest, dialect, width, final=False)
        if not scan.end and most_field is not None and _is_too_long(rest, dialect, most_field):
            begins = rest[:BEGINNING]
            length, rest = _pass_over(rest, dialect.quote, coming)
            yield Chunk(
                read=begins,
                scan=Scan(records=1, end=len(begins), lines=np.zeros(1, np.uint64)),
                offset=offset,
                is_last=not rest,
                passed_over=length,
            )
            offset, needed = offset + length, size
            continue
        if not scan.end and len(rest) < LONGEST_RECORD:
            needed = len(rest) * 2  # scanning it anew with every block would take forever
            continue
        whole = scan if scan.end else scan_records(rest, dialect, width, final=True)
        yield Chunk(read=rest, scan=whole, offset=offset, is_last=False)
        offset += whole.end
        rest, needed = rest[whole.end :], size
    if rest:
        yield Chunk(read=rest, scan=scan_records(rest, dialect, width, final=True), offset=offset, is_last=True)


def _is_too_long(text: bytes, dialect: Dialect, most_field: int) -> bool:
    return len(text) > most_field and (len(text) >= LONGEST_RECORD or open_field(text, dialect) > most_field)


def _pass_over(begun: bytes, quote: str, coming: Iterator[bytes]) -> tuple[int, bytes]:
    """Return how long a record is that has begun, and what stands behind its end in the block that has it."""
    inside = bool(quote) and begun.count(quote.encode()) % 2 == 1
    held = b"\r" if begun.endswith(b"\r") else b""  # it may be the first half of a line end
    length = len(begun) - len(held)
    for block in filter(None, coming):
        text = held + block
        quotes = quotes_in(np.frombuffer(text, dtype=np.uint8), quote)
        end = byte_bits.first(record_ends(text, quotes, inside=inside)) + 1
        if end:
            return length + end, text[end:]
        held = b"\r" if text.endswith(b"\r") else b""
        length += len(text) - len(held)
        inside = inside != (byte_bits.count(quotes) % 2 == 1)
    return length + len(held), b""
