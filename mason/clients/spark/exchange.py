"""The files through which a driver that was submitted gets its tasks and hands back what became of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

# The number of what is not a task's result, but the error that ended the job.
FAILED = -1
# The number of what stands after the last piece of a query's result: how many there are is known only then.
ENDED = -2
# What stands for a kernel when the one task is a query.
QUERY = "mason:query"

HEAD = struct.Struct(">qq")


def write_items(stream: BinaryIO, items: Iterable[tuple[int, bytes]]) -> None:
    """Write numbered pieces of bytes one after the other."""
    for number, payload in items:
        stream.write(HEAD.pack(number, len(payload)))
        stream.write(payload)
        stream.flush()


def read_items(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the pieces of a file; one that was cut off is not yielded."""
    with open(file, "rb") as stream:
        while len(head := stream.read(HEAD.size)) == HEAD.size:
            number, length = HEAD.unpack(head)
            payload = stream.read(length)
            if len(payload) < length:
                return
            yield number, payload
