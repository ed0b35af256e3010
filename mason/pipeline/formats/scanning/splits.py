"""Splits by the parity of quotes: cuts one large file of text into ranges of whole records, for many tasks.

A line end within a quoted field ends no record, and whether it is within one depends on everything before it: an even
number of quotes means outside, an odd one inside, for a quote that is text is written twice and so changes nothing. So
the quotes of all ranges are counted at once, which is as fast as reading; their running sum says for each cut in which
state it lies, and the first line end behind the cut with an even count is where a record begins. A quote where none
belongs would spoil the parity: a file in which a cut meets one is not cut, and tasks look out for others. Files of
lines without quotes are cut behind any line end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import numpy as np
import pyarrow.fs as pafs

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.scanning import byte_bits
from mason.pipeline.formats.scanning.record_marks import has_misplaced_quotes, quotes_in, record_ends

_BLOCK = 16 * 1024 * 1024
_LOOK = 256 * 1024


@dataclass(frozen=True)
class Range:
    """Some bytes of a file that begin at a record's start."""

    offset: int
    length: int


def find_ranges(filesystem: pafs.FileSystem, path: str, size: int, dialect: Dialect, wanted: int) -> list[Range]:
    """Return ranges of about `wanted` bytes that tile the file; one range where its quotes cannot be trusted.

    A line end is a record's end when an even number of quotes stands before it, from the beginning of the file. So the
    quotes are counted, which is quick, and only near the places of the cuts is looked for line ends. A quote where none
    belongs would spoil the count: whoever reads a range looks out for one.
    """
    targets = list(range(wanted, size, wanted))
    count = partial(_count_quotes, filesystem, path, ord(dialect.quote))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(count, [0, *targets], [*targets, size]))
    before = list(accumulate(counts))
    if before[-1] % 2:
        return [Range(0, size)]
    cuts: list[int] = []
    for target, quotes in zip(targets, before, strict=False):
        cut = (
            _find_record_start(filesystem, path, target, quotes, dialect) if not cuts or cuts[-1] < target else cuts[-1]
        )
        if cut is None:
            return [Range(0, size)]
        cuts.append(cut)
    return tile(sorted({cut for cut in cuts if cut < size}), size)


def tile(cuts: Sequence[int], size: int) -> list[Range]:
    """Return the ranges between cuts."""
    starts, ends = [0, *cuts], [*cuts, size]
    return [Range(start, end - start) for start, end in zip(starts, ends, strict=True)]


def number_of_records(filesystem: pafs.FileSystem, path: str, until: int, quote: str = '"') -> int:
    """Return how many records, a header and blank lines included, stand before a place of a file."""
    return count_records(_blocks(filesystem, path, 0, until), quote)


def count_records(blocks: Iterable[bytes], quote: str = '"') -> int:
    """Return how many records, a header and blank lines included, end in text that comes block by block."""
    before, records = 0, 0
    held = b""  # a return at the end of a block, which may be the first half of a line end
    for block in blocks:
        text = held + block if held else block
        held = b"\r" if text.endswith(b"\r") else b""
        quotes = quotes_in(np.frombuffer(text, dtype=np.uint8), quote)
        records += byte_bits.count(record_ends(text, quotes, inside=before % 2 == 1))
        before += byte_bits.count(quotes)
    return records + (held != b"" and before % 2 == 0)


def _count_quotes(filesystem: pafs.FileSystem, path: str, quote: int, start: int, end: int) -> int:
    blocks = (np.frombuffer(block, dtype=np.uint8) for block in _blocks(filesystem, path, start, end))
    return sum(int(np.count_nonzero(block == quote)) for block in blocks)


def _find_record_start(
    filesystem: pafs.FileSystem, path: str, target: int, quotes: int, dialect: Dialect
) -> int | None:
    """The first place at or behind a target where a record begins; none if a quote there is where none belongs."""
    base, before = target, quotes
    info = filesystem.get_file_info(path)
    for block in _blocks(filesystem, path, target, info.size, _LOOK):
        content = np.frombuffer(block, dtype=np.uint8)
        within = content[1:-1]  # what stands before and behind the block is not known
        if len(within) and has_misplaced_quotes(within, dialect):
            return None
        found = quotes_in(content, dialect.quote)
        ends = byte_bits.positions(record_ends(block, found, inside=before % 2 == 1))
        if len(ends):
            return base + int(ends[0]) + 1
        before += byte_bits.count(found)
        base += len(block)
    return base


def _blocks(filesystem: pafs.FileSystem, path: str, start: int, end: int, size: int = _BLOCK) -> Iterator[bytes]:
    with filesystem.open_input_file(path) as file:
        for place in range(start, end, size):
            yield file.read_at(min(size, end - place), place)


def find_line_ranges(filesystem: pafs.FileSystem, path: str, size: int, wanted: int) -> list[Range]:
    """Return ranges of about `wanted` bytes that tile the file."""
    cuts: set[int] = set()
    with filesystem.open_input_file(path) as file:
        for target in range(wanted, size, wanted):
            place = target
            while place < size and (end := file.read_at(_LOOK, place).find(b"\n")) < 0:
                place += _LOOK
            if place < size:
                cuts.add(place + end + 1)
    return tile(sorted(cut for cut in cuts if cut < size), size)


def number_of_lines(filesystem: pafs.FileSystem, path: str, until: int) -> int:
    """Return how many lines end before a place of a file."""
    with filesystem.open_input_file(path) as file:
        places = range(0, until, _BLOCK)
        return sum(file.read_at(min(_BLOCK, until - place), place).count(b"\n") for place in places)
