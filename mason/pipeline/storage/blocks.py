"""The bytes of a file, block by block and decompressed: who wants a sample stops early."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import IO, Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.storage.address import abilities_of_files
from mason.pipeline.storage.files import DataFile
from mason.pipeline.storage.format_names import codec_of, is_cut_in_its_codec
from mason.pipeline.storage.object_store import StreamingFiles

_MAGIC_BYTES = 8
_BUFFER = 1024 * 1024
_PIECE = 1024  # small, because of a broken stream the piece in which it breaks is lost


def read_blocks(filesystem: pafs.FileSystem, file: DataFile, size: int) -> Generator[bytes]:
    """Yield the file's content, decompressed, in blocks of about `size` bytes.

    Raises:
        UnreadableFile: the file vanished, may not be read, or its compressed stream is broken; whatever could be read
            before that has been yielded.
    """
    with translate_read_errors(file, filesystem), _open_range(filesystem, file.path) as raw:
        yield from _read_opened(raw, file, size)


def read_sample(filesystem: pafs.FileSystem, file: DataFile, size: int) -> Generator[bytes]:
    """Yield what `read_blocks` does, for who is likely to stop early: nothing is under way beyond what was asked for.

    Raises:
        UnreadableFile: as `read_blocks` does.
    """
    # Who looks at a block wants the next one, too, to see whether the file ends: a store is asked once for both.
    buffer = 0 if abilities_of_files(filesystem).is_near else 2 * size
    with translate_read_errors(file, filesystem), open_bytes(filesystem, file.path, buffer=buffer) as raw:
        yield from _read_opened(raw, file, size)


def read_range(filesystem: pafs.FileSystem, file: DataFile, offset: int, length: int, size: int) -> Generator[bytes]:
    """Yield some bytes of a file that is not compressed, in blocks of about `size` bytes.

    Raises:
        UnreadableFile: the file vanished or may not be read.
    """
    with translate_read_errors(file, filesystem), _open_range(filesystem, file.path, offset, length) as raw:
        left = length
        while left > 0 and (block := raw.read(min(size, left))):
            left -= len(block)
            yield block


def read_ahead(blocks: Generator[bytes]) -> Generator[bytes]:
    """Yield the blocks, each asked for while the one before it is worked on: a store takes its time to answer."""
    # Closed after the thread has ended: a block that nobody wants any more may still be on its way.
    with closing(blocks), ThreadPoolExecutor(1, thread_name_prefix="read-ahead") as thread:
        coming = thread.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = thread.submit(next, blocks, None)
            yield block


def open_stream(filesystem: pafs.FileSystem, path: str) -> IO[bytes] | Any:
    """Open a file, to be read from its start to its end in pieces of any size: they cost no request each."""
    if isinstance(filesystem, StreamingFiles):
        return io.BufferedReader(filesystem.open_range(path), _BUFFER)
    return open_bytes(filesystem, path, buffer=_BUFFER)


def is_compressed(filesystem: pafs.FileSystem, path: str) -> bool:
    """Say whether a file's first bytes are those of a compression."""
    with open_bytes(filesystem, path) as raw:
        return bool(codec_of(raw.read(_MAGIC_BYTES)))


@contextmanager
def translate_read_errors(file: DataFile, filesystem: pafs.FileSystem) -> Iterator[None]:
    """Turn what an unreadable file raises into one message that names it."""
    try:
        yield
    except FileNotFoundError as error:
        raise UnreadableFile(file.name, "it vanished before it could be read.") from error
    except PermissionError as error:
        raise UnreadableFile(file.name, "permission denied.") from error
    except OSError as error:
        asked = isinstance(filesystem, StreamingFiles)
        reason = filesystem.why_unreadable(file.path, error) if asked else error.strerror or str(error)
        raise UnreadableFile(file.name, reason.rstrip(".") + ".") from error


def open_bytes(filesystem: pafs.FileSystem, path: str, *, buffer: int = 0) -> IO[bytes] | Any:
    """Open a file for reading from its start. A thousand files feel that Python's own `open` is faster than Arrow's.

    Without a buffer every read is one of the disk, or a request to the store.
    """
    if abilities_of_files(filesystem).opens_paths:
        return open(path, "rb", buffering=buffer)
    return filesystem.open_input_stream(path, compression=None, buffer_size=buffer)


def _open_range(filesystem: pafs.FileSystem, path: str, offset: int = 0, length: int | None = None) -> IO[bytes] | Any:
    """Open a part of a file, all of it by default, to be read from its start to its end."""
    if isinstance(filesystem, StreamingFiles):
        return filesystem.open_range(path, offset, length)
    if length is None:
        return open_bytes(filesystem, path)
    raw = filesystem.open_input_file(path)
    raw.seek(offset)
    return raw


def _read_opened(raw: IO[bytes], file: DataFile, size: int) -> Generator[bytes]:
    block = raw.read(size)
    codec = codec_of(block)
    if block and is_cut_in_its_codec(file.name, block):
        raise UnreadableFile(file.name, "it ends after its first bytes: it is broken or cut off.")
    if codec:
        yield from _read_compressed(_Resumed(block, raw), file, codec, size)
        return
    while block:
        yield block
        block = raw.read(size)


class _Resumed(io.RawIOBase):
    """A stream of which the first bytes were read already: to open it again would cost two more requests."""

    def __init__(self, start: bytes, others: IO[bytes]) -> None:
        self._start, self._others = start, others

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._start:
            return self._others.read(size)
        size = len(self._start) if size < 0 else size
        piece, self._start = self._start[:size], self._start[size:]
        return piece


def _read_compressed(raw: _Resumed, file: DataFile, codec: str, size: int) -> Iterator[bytes]:
    with pa.CompressedInputStream(pa.PythonFile(raw, "r"), codec) as stream:
        pieces: list[bytes] = []
        try:
            while piece := stream.read(_PIECE):
                pieces.append(piece)
                if len(pieces) * _PIECE >= size:
                    yield b"".join(pieces)
                    pieces = []
        except (OSError, pa.ArrowException) as error:
            if pieces:
                yield b"".join(pieces)
            raise UnreadableFile(file.name, f"its {codec} stream is broken or cut off: {error}.") from error
        if pieces:
            yield b"".join(pieces)


def read_bytes(filesystem: pafs.FileSystem, path: str) -> bytes:
    """Return all of a small file of Mason's own."""
    with filesystem.open_input_stream(path, compression=None) as stream:
        content: bytes = stream.read()
    return content


def write_bytes(filesystem: pafs.FileSystem, path: str, content: bytes) -> None:
    """Write a small file of Mason's own, where nobody looks at it yet."""
    with filesystem.open_output_stream(path, compression=None) as stream:
        stream.write(content)
