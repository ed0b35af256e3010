"""Cuts one large file of lines into ranges of whole lines, so that many tasks can read it at once."""

from __future__ import annotations

import pyarrow.fs as pafs

from mason.pipeline.formats.scanning.splits import Range, tile

_LOOK = 256 * 1024
_BLOCK = 16 * 1024 * 1024


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
