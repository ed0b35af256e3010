"""Cuts one large delimited file into ranges of whole records, so that many tasks can read it at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow.fs as pafs

from mason.pipeline.record_scan import has_stray_quotes, line_ends, quotes_in

_BLOCK = 16 * 1024 * 1024


@dataclass(frozen=True)
class Range:
    """Some bytes of a file that begin at a record's start, and the number of that record in the file, from 1."""

    offset: int
    length: int
    first_record: int


def find_ranges(filesystem: pafs.FileSystem, path: str, size: int, delimiter: str, wanted: int) -> list[Range]:
    """Return ranges of about `wanted` bytes that tile the file; one range where its quotes cannot be trusted.

    A line end is a record's end when an even number of quotes stands before it, from the beginning of the file. A quote
    where none belongs would spoil the count, so that such a file is not cut.
    """
    cuts = _find_cuts(filesystem, path, delimiter, wanted)
    if cuts is None:
        return [Range(0, size, 1)]
    starts = [(0, 1), *(cut for cut in cuts if cut[0] < size)]
    ends = [*(offset for offset, _ in starts[1:]), size]
    return [Range(offset, end - offset, record) for (offset, record), end in zip(starts, ends, strict=True)]


def _find_cuts(filesystem: pafs.FileSystem, path: str, delimiter: str, wanted: int) -> list[tuple[int, int]] | None:
    cuts: list[tuple[int, int]] = []
    parity, records, base = 0, 0, 0
    for block in _blocks(filesystem, path):
        content = np.frombuffer(block, dtype=np.uint8)
        quotes = quotes_in(block, content)
        if has_stray_quotes(content, quotes, delimiter):
            return None
        ends = line_ends(content, quotes, parity)
        while len(ends) and ends[-1] + base >= (len(cuts) + 1) * wanted:
            index = int(np.searchsorted(ends, (len(cuts) + 1) * wanted - base))
            cuts.append((base + int(ends[index]), records + index + 2))
        parity = (parity + len(quotes)) % 2
        records += len(ends)
        base += len(block)
    return None if parity else cuts


def _blocks(filesystem: pafs.FileSystem, path: str) -> Iterator[bytes]:
    with filesystem.open_input_stream(path, compression=None, buffer_size=0) as stream:
        while block := stream.read(_BLOCK):
            yield block
