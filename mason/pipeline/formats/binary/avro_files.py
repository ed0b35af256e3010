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
from functools import partial
from typing import IO, Any, Protocol

import fastavro
import pyarrow as pa
from fastavro import _read_py
from fastavro.schema import SchemaParseException, UnknownType

from mason.errors import UnreadableFile
from mason.pipeline.formats.binary.avro_types import AvroColumns, find_columns
from mason.pipeline.formats.binary.columnar_files import translate_parser_errors

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
# Bytes that are no Avro make fastavro stumble in all of these ways.
_BROKEN = (
    *(SchemaParseException, UnknownType, StopIteration),
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
)
_CODEC, _SCHEMA = "avro.codec", "avro.schema"
_CHECKSUM = 4
_MOST_OF_SNAPPY = 64  # a copy of so many bytes takes two at the least
_LARGEST_NUMBER = 10  # a long takes so many bytes at most
_PIECE = 16 * 1024 * 1024
_EMPTY_RECORDS = 1_000_000  # records of nothing but nulls have no bytes: of so many in a block, the count is believed
_USUAL_BLOCK = 64 * 1024 * 1024  # writers begin a new block far before
MOST_BLOCK = 512 * 1024 * 1024
"""So many bytes are read of a block at most: a few kilobytes may be gigabytes once they are decompressed."""


class _CutOff(Exception):
    """Raised when the file ends within a block. No EOFError, which would be taken for the end of all blocks."""


class _Damaged(Exception):
    """Raised when a block is not as it was written, with the reason."""


@dataclass(frozen=True, kw_only=True)
class AvroFile:
    """An Avro file whose header was read."""

    name: str
    source: IO[bytes]
    header: Mapping[str, Any]
    columns: AvroColumns
    most_block: int

    @property
    def codec(self) -> str:
        return str(self.header["meta"].get(_CODEC, b"null").decode(errors="replace") or "null")

    def records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records, each by the names of its columns.

        Raises:
            UnreadableFile: the file is cut off or damaged, or has times that Python has no words for.
        """
        plain = {**self.header, "meta": {**self.header["meta"], _CODEC: b"null"}}
        begins = io.BytesIO()
        fastavro.schemaless_writer(begins, _HEADER, plain)
        blocks = _Blocks(
            source=self.source,
            decompress=_CODECS[self.codec],
            sync=self.header["sync"],
            most=self.most_block,
            _pending=begins.getvalue(),
        )
        with _translate_block_errors(self.name, self.codec):
            for block in self._block_reader(blocks):
                for value in _records_in(block):
                    yield value if self.columns.are_fields else {self.columns.schema.names[0]: value}

    @property
    def _block_reader(self) -> Any:
        """What reads blocks. The one in C crashes on records that contain each other too deeply; Python raises."""
        return _read_py.block_reader if self.columns.has_depth else fastavro.block_reader


def open_avro(name: str, source: IO[bytes], field_bytes: int | None = None) -> AvroFile:
    """Read the header of an Avro file. Where the bytes of a field are limited, so are those of a block.

    Raises:
        UnreadableFile: it has none, or one of a codec or a schema that is not read.
    """
    with translate_parser_errors(name, "Avro", *_BROKEN):
        header = fastavro.schemaless_reader(source, _HEADER, None)
        if _SCHEMA not in header["meta"]:
            raise UnreadableFile(name, "not a complete Avro file: its header has no schema.")
        written = fastavro.parse_schema(json.loads(header["meta"][_SCHEMA]))
    try:
        columns = find_columns(written)
    except ValueError as error:
        raise UnreadableFile(name, f"{error}.") from error
    most = MOST_BLOCK if field_bytes is None else min(max(field_bytes, _USUAL_BLOCK), MOST_BLOCK)
    file = AvroFile(name=name, source=source, header=header, columns=columns, most_block=most)
    if file.codec not in _CODECS:
        known = ", ".join(_CODECS)
        raise UnreadableFile(name, f"its codec {file.codec} is not read; these are: {known}.")
    return file


@contextmanager
def _translate_block_errors(name: str, codec: str) -> Iterator[None]:
    try:
        with translate_parser_errors(name, "Avro", *_BROKEN):
            yield
    except _CutOff as error:
        raise UnreadableFile(name, "not a complete Avro file: it ends within a block") from error
    except _Damaged as damage:
        raise UnreadableFile(name, f"a block of it is damaged ({codec}): {damage}.") from damage
    except UnreadableFile as error:
        if isinstance(error.__cause__, RecursionError):
            raise UnreadableFile(name, "its records contain others of their own type too deeply.") from error
        if isinstance(error.__cause__, OverflowError):
            far = "it has a date or a time beyond the years 1 to 9999, which are all that is read of Avro."
            raise UnreadableFile(name, far) from error
        raise


def _records_in(block: Any) -> Iterator[Any]:
    """Yield the records of a block, which are to be as many as it says, and all that it holds."""
    said = int(block.num_records)
    if said < 0:
        raise _Damaged(f"it says to hold {said:,} records")
    read = 0
    try:
        for value in block:
            yield value
            read += 1
    except EOFError as error:
        raise _Damaged(f"it says to hold {said:,} records, and ends within record {read + 1:,}") from error
    if block.bytes_.read(1):
        raise _Damaged(f"it says to hold {said:,} records, and more bytes stand behind them")


@dataclass(kw_only=True)
class _Blocks:
    """The blocks of a file as it would be without its codec, for who reads them piece by piece."""

    source: IO[bytes]
    decompress: Callable[[bytes, int], bytes]
    sync: bytes
    most: int
    _pending: bytes
    _at: int = field(default=0)

    def read(self, size: int) -> bytes:
        if self._at == len(self._pending):
            self._pending, self._at = self._next_block(), 0
        piece = self._pending[self._at : self._at + size]
        self._at += len(piece)
        return piece

    def tell(self) -> int:
        """Return where the reader is, which wants to know how long blocks are; nobody asks it for that."""
        return self._at

    def _next_block(self) -> bytes:
        """Return the next block, decompressed; nothing at the end of the file."""
        count = self._number()
        if not count:
            return b""
        data = self._exactly(_decode_long(self._number()))
        if self._exactly(len(self.sync)) != self.sync:
            raise _Damaged("it does not end with the mark of its file")
        try:
            plain = self.decompress(data, self.most)
        except (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
            raise _Damaged(str(error) or "it cannot be decompressed") from error
        if _decode_long(count) > max(len(plain), _EMPTY_RECORDS):
            raise _Damaged(f"it says to hold {_decode_long(count):,} records, and has {len(plain):,} bytes")
        return b"".join([count, _encode_long(len(plain)), plain, self.sync])

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
        raise _CutOff

    def _exactly(self, size: int) -> bytes:
        """Return so many bytes, piece by piece: a size that is made up would ask for all memory at once."""
        if size < 0:
            raise _Damaged(f"it says to have {size:,} bytes")
        pieces, left = [], size
        while left > 0:
            piece = self.source.read(min(left, _PIECE))
            if not piece:
                raise _CutOff
            pieces.append(piece)
            left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _decode_long(number: bytes) -> int:
    """A long of Avro: seven bits a byte, the lowest first, and the lowest bit of all is the sign."""
    if not number:
        raise _CutOff
    raw = sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(number))
    return (raw >> 1) ^ -(raw & 1)


def _encode_long(number: int) -> bytes:
    raw, found = number << 1, bytearray()
    while raw >= 0x80:
        found.append(raw & 0x7F | 0x80)
        raw >>= 7
    return bytes([*found, raw])


def _as_it_is(data: bytes, most: int) -> bytes:
    return data


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _decompress_streams(begin: Callable[[], _Decompressor], data: bytes, most: int) -> bytes:
    """Decompress streams that stand behind each other, as a rule but one."""
    pieces: list[bytes] = []
    length = 0
    while data:
        stream = begin()
        pieces.append(stream.decompress(data, most - length + 1))
        length += len(pieces[-1])
        _check_length(length, most)
        if not stream.eof:
            raise EOFError("its compressed data end too early")
        data = stream.unused_data
    return b"".join(pieces)


def _check_length(length: int, most: int) -> None:
    if length > most:
        raise ValueError(f"it has more than {most:,} bytes once it is decompressed, which is the most that is read")


def _inflate(data: bytes, most: int) -> bytes:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    plain = stream.decompress(data, most + 1)
    _check_length(len(plain), most)
    if not stream.eof:
        raise EOFError("its compressed data end too early")
    return plain


def _unsnap(data: bytes, most: int) -> bytes:
    """Snappy says first how long the text is; behind it stands the checksum of the text."""
    packed, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    length = 0
    for place, byte in enumerate(packed[:5]):
        length |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    if length > len(packed) * _MOST_OF_SNAPPY:
        raise ValueError("it cannot be as long as it says")
    _check_length(length, most)
    plain = bytes(pa.Codec("snappy").decompress(packed, decompressed_size=length))
    if zlib.crc32(plain).to_bytes(_CHECKSUM, "big") != checksum:
        raise ValueError("it does not fit its checksum")
    return plain


def _unpack_zstandard(data: bytes, most: int) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        plain = bytes(stream.read(most + 1))
    _check_length(len(plain), most)
    return plain


_CODECS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "null": _as_it_is,
    "deflate": _inflate,
    "snappy": _unsnap,
    "zstandard": _unpack_zstandard,
    "bzip2": partial(_decompress_streams, bz2.BZ2Decompressor),
    "xz": partial(_decompress_streams, lzma.LZMADecompressor),
}
