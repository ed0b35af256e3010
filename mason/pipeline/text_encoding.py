"""Which encoding a text file has, and its text, block by block."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import AnyStr

from mason.errors import BadInput

_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32",  # it begins like that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class Encoding:
    """A codec's name, what to do with bytes that it cannot read, and what the user should know of it."""

    name: str
    errors: str = "strict"
    warning: str = ""


NUL_BYTES = "it has NUL bytes"
END_MARK = "it ends with Ctrl-Z, the end-of-file mark of DOS, which is left out"
_UTF8 = Encoding("utf-8")
_SOME_TEXT = "id,name\n1,one\n"


def detect_encoding(start: bytes) -> Encoding:
    """Return the encoding of a text by its first bytes.

    A byte order mark says it; NULs in every other byte are UTF-16, in three of four UTF-32; what is valid UTF-8 is
    UTF-8. Else it is Windows-1252, or Latin-1 for the five bytes that Windows-1252 lacks, with a warning: no byte tells
    these apart. Where valid UTF-8 stood before the first wrong byte, or as much valid as wrong, the file is UTF-8 with
    faults in it.
    """
    for mark, name in _BOMS.items():
        if start.startswith(mark):
            return Encoding(name)
    if b"\x00" in start:
        return _detect_with_nulls(start)
    return _detect_eight_bit(start)


def encoding_of(start: bytes, wanted: str) -> Encoding:
    """Return the encoding of a text: the one that the user named, or what its first bytes show.

    Raises:
        BadInput: there is no encoding of the wanted name.
    """
    return checked_encoding(wanted, start) if wanted else detect_encoding(start)


def decode_blocks(blocks: Iterable[bytes], encoding: Encoding, warn: Callable[[str], None]) -> Iterator[str]:
    """Yield the text of the blocks with `\\n` for every line end."""
    if encoding.warning:
        warn(encoding.warning)
    bytes_decoder = codecs.getincrementaldecoder(encoding.name)(encoding.errors)
    decoder = io.IncrementalNewlineDecoder(bytes_decoder, translate=True)
    for block in blocks:
        try:
            text = decoder.decode(block)
        except UnicodeDecodeError as error:
            warn(f"{_fault(encoding.name, error)}; such bytes are read as �")
            bytes_decoder.errors = "replace"
            text = decoder.decode(block)
        if text:
            yield text
    bytes_decoder.errors = "replace"
    if text := decoder.decode(b"", final=True):
        yield text


def without_end_mark(texts: Iterable[AnyStr], mark: AnyStr, warn: Callable[[str], None]) -> Iterator[AnyStr]:
    """Yield texts without the mark of DOS at the end of the last, by which programs of old knew the end of a file."""
    held: AnyStr | None = None
    for text in texts:
        whole = held + text if held else text
        kept = whole.rstrip(mark) if whole.endswith(mark) else whole
        held = whole[len(kept) :]
        if kept:
            yield kept
    if held:
        warn(END_MARK)


def checked_encoding(wanted: str, start: bytes) -> Encoding:
    """Return the encoding that the user named.

    Raises:
        BadInput: there is no encoding of that name.
    """
    try:
        name = codecs.lookup(wanted).name
        serves = codecs.getincrementaldecoder(name)("strict").decode(_SOME_TEXT.encode(name)) == _SOME_TEXT
    except Exception:  # noqa: BLE001 (Python has codecs of bytes, too, which say no in many ways)
        serves = False
    if not serves:
        raise BadInput(f'"{wanted}" is no known encoding.', hint="utf-8, utf-16, latin-1 and cp1252 are.")
    return Encoding("utf-8-sig" if name == "utf-8" and start.startswith(codecs.BOM_UTF8) else name)


def _detect_with_nulls(start: bytes) -> Encoding:
    whole = len(start) - len(start) % 4
    for name, characters in (("utf-32-le", 0), ("utf-32-be", 3)):
        others = [number for number in range(4) if number != characters]
        if whole and all(start[number:whole:4].count(0) * 10 > 9 * whole / 4 for number in others):
            return Encoding(name)
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) * 3 > len(start) and min(even, odd) * 10 < max(even, odd):
        return Encoding("utf-16-be" if even > odd else "utf-16-le")
    found = _detect_eight_bit(start)
    warning = NUL_BYTES + (f"; {found.warning}" if found.warning else "")
    return Encoding(found.name, found.errors, warning)


def _detect_eight_bit(start: bytes) -> Encoding:
    try:
        codecs.utf_8_decode(start, "strict", False)
    except UnicodeDecodeError as error:
        fault = _fault("utf-8", error)
        if not start[: error.start].isascii() or _has_utf8(start):
            return Encoding("utf-8", "replace", f"{fault}; such bytes are read as �")
        name, shown = ("cp1252", "Windows-1252") if _is_windows(start) else ("latin-1", "Latin-1")
        return Encoding(name, "strict", f"{fault}; it is read as {shown} (the parameter encoding can say otherwise)")
    return _UTF8


def _has_utf8(start: bytes) -> bool:
    valid = sum(not char.isascii() for char in start.decode("utf-8", "ignore"))
    broken = start.decode("utf-8", "replace").count("\ufffd") - start.count("\ufffd".encode())
    return valid > 0 and valid >= broken


def _fault(encoding: str, error: UnicodeDecodeError) -> str:
    return f"it is not valid {encoding.upper()} at byte {error.start:,} (0x{error.object[error.start]:02x})"


def _is_windows(start: bytes) -> bool:
    return not any(byte in start for byte in (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"))
