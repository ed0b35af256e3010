"""Cuts one large file of lines into ranges of whole lines, so that many tasks can read it at once."""

from __future__ import annotations

import pyarrow.fs as pafs

from mason.pipeline.blocks import read_range
from mason.pipeline.csv_splits import Range
from mason.pipeline.files import DataFile

BLOCK = 16 * 1024 * 1024


def find_line_ranges(filesystem: pafs.FileSystem, file: DataFile, wanted: int) -> list[Range]:
    """Return ranges of about `wanted` bytes that tile the file. `first_record` is the number of the first line.

    Raises:
        UnreadableFile: the file vanished or may not be read.
    """
    starts = [(0, 1)]
    base, lines = 0, 0
    for block in read_range(filesystem, file, 0, file.size, BLOCK):
        # The last start counts, too: of a line that is longer than a range only the end is looked for.
        while (end := block.find(b"\n", max(len(starts) * wanted, starts[-1][0], base) - base)) >= 0:
            starts.append((base + end + 1, lines + block.count(b"\n", 0, end + 1) + 1))
        lines += block.count(b"\n")
        base += len(block)
    starts = [starts[0], *(start for start in starts[1:] if start[0] < file.size)]
    ends = [*(offset for offset, _ in starts[1:]), file.size]
    return [Range(offset, end - offset, number) for (offset, number), end in zip(starts, ends, strict=True)]
