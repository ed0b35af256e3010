"""Delimited text in chunks of whole records, however large the file: memory is bounded by the chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mason.pipeline.record_scan import Scan, scan_records

CHUNK = 16 * 1024 * 1024
LONGEST_RECORD = 512 * 1024 * 1024


@dataclass(frozen=True)
class Chunk:
    """Whole records in UTF-8. `offset` is where they begin in the (decoded) file; `is_last`: nothing follows.

    `read` is what the records were found in: behind them stands the beginning of the next one, if there is one.
    """

    read: bytes
    scan: Scan
    offset: int
    is_last: bool

    @property
    def text(self) -> memoryview:
        return memoryview(self.read)[: self.scan.end]


def cut_chunks(blocks: Iterable[bytes], delimiter: str, *, offset: int = 0, size: int = CHUNK) -> Iterator[Chunk]:
    """Cut text that comes block by block, and begins at a record's start, behind records.

    A record that does not end within reach is cut off there, as a chunk whose quote is open: the reader of the chunk
    says what is wrong with it.
    """
    rest, needed = b"", size
    for block in blocks:
        rest = rest + block if rest else block
        if len(rest) < needed:
            continue
        scan = scan_records(rest, delimiter, final=False)
        if not scan.end and len(rest) < LONGEST_RECORD:
            needed = len(rest) * 2  # scanning it anew with every block would take forever
            continue
        # Behind the last whole record a quote may be open: that is the next chunk's affair.
        whole = replace(scan, open_quote=False) if scan.end else scan_records(rest, delimiter, final=True)
        yield Chunk(rest, whole, offset, False)
        offset += whole.end
        rest, needed = rest[whole.end :], size
    if rest:
        yield Chunk(rest, scan_records(rest, delimiter, final=True), offset, True)
