"""The bytes of a file, or of a range of it, for the readers of text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.formats.scanning.chunks import CHUNK
from mason.pipeline.formats.text_encoding import NUL_BYTES, without_end_mark
from mason.pipeline.reading.tasks.task import FileInTask
from mason.pipeline.storage.blocks import read_ahead, read_blocks, read_range

BLOCK = CHUNK  # one block is one chunk: nothing is copied to make it larger


def utf8_blocks(filesystem: pafs.FileSystem, file: FileInTask, notes: list[str]) -> Iterator[bytes]:
    """Yield the file's text in UTF-8, and note what is odd about it.

    What cannot be decoded stays as it is, for the reader of records to refuse.
    """
    for block in without_end_mark(_utf8_blocks(filesystem, file), b"\x1a", notes.append):
        if b"\0" in block and NUL_BYTES not in notes:
            notes.append(NUL_BYTES)
        yield block


def _utf8_blocks(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[bytes]:
    blocks = raw_blocks(filesystem, file)
    if codecs.lookup(file.encoding or "utf-8").name == "utf-8":
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(file.encoding)("surrogateescape")
    try:
        for block in blocks:
            yield decoder.decode(block).encode("utf-8", "surrogateescape")
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")
    except UnicodeDecodeError as error:  # UTF-16, whose broken pairs nothing can stand for
        raise UnreadableFile(file.name, f"it is not valid {file.encoding.upper()}: {error.reason}.") from error


def raw_blocks(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[bytes]:
    """Yield the file's bytes, decompressed."""
    if file.is_whole:
        blocks = read_blocks(filesystem, file.data, BLOCK)
    else:
        blocks = read_range(filesystem, file.data, file.offset, file.length, BLOCK)
    return blocks if filesystem.type_name == "local" else read_ahead(blocks)
