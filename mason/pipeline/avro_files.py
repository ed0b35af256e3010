"""How Avro files are opened: whatever compresses their blocks, and the same wherever they are looked at.

Arrow and Python have every codec that Avro's specification names. So the blocks are taken from their file here, held
against their marks and checksums, and given to fastavro as they were before they were compressed.
"""

from __future__ import annotations

import bz2
import io
import json
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

import fastavro
import pyarrow as pa
from fastavro.schema import SchemaParseException, UnknownType

from mason.errors import UnreadableFile
from mason.pipeline.avro_types import AvroColumns, find_columns
from mason.pipeline.columnar_files import parsing

_HEADER = fastavro.parse_schema(
    {
        "type": "record",
        "name": "org.apache.avro.file.Header",
        "fields": [
            {"name": "magic", "type": {"type": "fixed", "name": "magic", "size": 4}},
            {"name": "meta", "type": {"type": "map", "values": "bytes"}},
            {"name": "sync", "type": {"type": "fixed", "name": "sync", "size": 16}},
        ],
    }
)
_CODEC, _SCHEMA = "avro.codec", "avro.schema"
_CHECKSUM = 4
_MOST_OF_SNAPPY = 64  # a copy of so many bytes takes two at the least
_LARGEST_NUMBER = 10  # a long takes so many bytes at most


class _Damaged(Exception):
    """A block that is not as it was written, with the reason."""


@dataclass(frozen=True)
class AvroFile:
    """An Avro file whose header was read."""

    name: str
    source: IO[bytes]
    header: Mapping[str, Any]
    columns: AvroColumns

    @property
    def codec(self) -> str:
        return str(self.header["meta"].get(_CODEC, b"null").decode() or "null")

    def records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records, each by the names of its columns.

        Raises:
            UnreadableFile: the file is cut off or damaged, or has times that Python has no words for.
        """
        plain = {**self.header, "meta": {**self.header["meta"], _CODEC: b"null"}}
        begins = io.BytesIO()
        fastavro.schemaless_writer(begins, _HEADER, plain)
        blocks = _Blocks(self.source, _CODECS[self.codec], self.header["sync"], begins.getvalue())
        with _reading_blocks(self.name, self.codec):
            for value in fastavro.reader(blocks):
                yield value if self.columns.are_fields else {self.columns.schema.names[0]: value}


def open_avro(name: str, source: IO[bytes]) -> AvroFile:
    """Read the header of an Avro file.

    Raises:
        UnreadableFile: it has none, or one of a codec or a schema that is not read.
    """
    with parsing(name, "Avro", SchemaParseException, UnknownType):
        header = fastavro.schemaless_reader(source, _HEADER, None)
        written = fastavro.parse_schema(json.loads(header["meta"][_SCHEMA]))
    try:
        columns = find_columns(written)
    except ValueError as error:
        raise UnreadableFile(name, f"{error}.") from error
    file = AvroFile(name, source, header, columns)
    if file.codec not in _CODECS:
        known = ", ".join(_CODECS)
        raise UnreadableFile(name, f"its codec {file.codec} is not read; these are: {known}.")
    return file


@contextmanager
def _reading_blocks(name: str, codec: str) -> Iterator[None]:
    try:
        with parsing(name, "Avro", SchemaParseException, UnknownType):
            yield
    except _Damaged as damage:
        raise UnreadableFile(name, f"a block of it is damaged ({codec}): {damage}.") from damage
    except UnreadableFile as error:
        if isinstance(error.__cause__, OverflowError):
            far = "it has a date or a time beyond the years 1 to 9999, which are all that is read of Avro."
            raise UnreadableFile(name, far) from error
        raise


@dataclass
class _Blocks:
    """The blocks of a file as it would be without its codec, for who reads them piece by piece."""

    source: IO[bytes]
    decompress: Callable[[bytes], bytes]
    sync: bytes
    _pending: bytes
    _at: int = field(default=0)

    def read(self, size: int) -> bytes:
        if self._at == len(self._pending):
            self._pending, self._at = self._next_block(), 0
        piece = self._pending[self._at : self._at + size]
        self._at += len(piece)
        return piece

    def _next_block(self) -> bytes:
        """Return the next block, decompressed; nothing at the end of the file."""
        count = self._number()
        if not count:
            return b""
        data = self._exactly(_decoded(self._number()))
        if self._exactly(len(self.sync)) != self.sync:
            raise _Damaged("it does not end with the mark of its file")
        try:
            plain = self.decompress(data)
        except (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
            raise _Damaged(str(error) or "it cannot be decompressed") from error
        return b"".join([count, _encoded(len(plain)), plain, self.sync])

    def _number(self) -> bytes:
        """The bytes of a number; none at the end of the file."""
        found = b""
        while len(found) < _LARGEST_NUMBER:
            byte = self.source.read(1)
            if not byte and not found:
                return b""
            if not byte:
                break
            found += byte
            if byte[0] < 0x80:
                return found
        # No EOFError, which would be taken for the end of all blocks.
        raise ValueError("it ends within a block")

    def _exactly(self, size: int) -> bytes:
        found = self.source.read(size) if size >= 0 else b""
        if len(found) != size:
            raise ValueError("it ends within a block")
        return found


def _decoded(number: bytes) -> int:
    """A long of Avro: seven bits a byte, the lowest first, and the lowest bit of all is the sign."""
    if not number:
        raise ValueError("it ends within a block")
    raw = sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(number))
    return (raw >> 1) ^ -(raw & 1)


def _encoded(number: int) -> bytes:
    raw, found = number << 1, bytearray()
    while raw >= 0x80:
        found.append(raw & 0x7F | 0x80)
        raw >>= 7
    return bytes([*found, raw])


def _inflate(data: bytes) -> bytes:
    return zlib.decompress(data, -zlib.MAX_WBITS)


def _unsnap(data: bytes) -> bytes:
    """Snappy says first how long the text is; behind it stands the checksum of the text."""
    packed, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    length = 0
    for place, byte in enumerate(packed[:5]):
        length |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    if length > len(packed) * _MOST_OF_SNAPPY:
        raise ValueError("it cannot be as long as it says")
    plain = bytes(pa.Codec("snappy").decompress(packed, decompressed_size=length))
    if zlib.crc32(plain).to_bytes(_CHECKSUM, "big") != checksum:
        raise ValueError("it does not fit its checksum")
    return plain


def _unpack_zstandard(data: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return bytes(stream.read())


_CODECS: Mapping[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": _inflate,
    "snappy": _unsnap,
    "zstandard": _unpack_zstandard,
    "bzip2": bz2.decompress,
    "xz": lzma.decompress,
}
