"""Which encoding a text file has, and its text, block by block."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import AnyStr

from mason.errors import BadInput
from mason.pipeline.formats.encoding_guess import guess_encodings, is_east_asian, other_latin_encodings

_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32",  # it begins like that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class Encoding:
    """A codec's name, what to do with bytes that it cannot read, and what the user should know of it.

    `guessed`: other encodings could be meant as well.
    """

    name: str
    errors: str = "strict"
    warning: str = ""
    guessed: bool = False


NUL_BYTES = "it has NUL bytes"
END_MARK = "it ends with Ctrl-Z, the end-of-file mark of DOS, which is left out"
_UTF8 = Encoding("utf-8")
_SOME_TEXT = "id,name\n1,one\n"
_SHIFTS = {b"\x1b$)C": "iso2022_kr", b"\x1b$": "iso2022_jp_2"}  # ASCII throughout, but for these
_KNOWN_AS = {
    "cp1252": "Windows-1252",
    "latin-1": "Latin-1",
    "cp932": "Shift-JIS (cp932)",
    "gb18030": "GBK (gb18030)",
    "cp949": "EUC-KR (cp949)",
    "cp950": "Big5 (cp950)",
    "big5hkscs": "Big5 (big5hkscs)",
    "euc_jp": "EUC-JP (euc_jp)",
    "euc_jis_2004": "EUC-JP (euc_jis_2004)",
    "iso2022_jp_2": "ISO-2022-JP (iso2022_jp_2)",
    "iso2022_kr": "ISO-2022-KR (iso2022_kr)",
}


def detect_encoding(start: bytes) -> Encoding:
    """Return the encoding of a text by its first bytes.

    A byte order mark says it; NULs in every other byte are UTF-16, in three of four UTF-32; what is valid UTF-8 is
    UTF-8. Where as much is valid as wrong, the file is UTF-8 with faults in it. Else its characters tell what is likely
    (Shift-JIS, GBK, Big5, EUC, Cyrillic and so on), or it is Windows-1252, or Latin-1 for the five bytes that
    Windows-1252 lacks. Such a guess is told, with the encodings that are as likely: no byte proves it.
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
    return check_encoding(wanted, start) if wanted else detect_encoding(start)


def decode_blocks(blocks: Iterable[bytes], encoding: Encoding, warn: Callable[[str], None]) -> Iterator[str]:
    """Yield the text of the blocks with `\\n` for every line end.

    A return at the end of a block may be the first half of a line end, so the block behind it is looked at first: else
    the only line end that a small file of the Mac lacks would come alone, and its last record would seem to be cut off.
    """
    if encoding.warning:
        warn(encoding.warning)
    bytes_decoder = codecs.getincrementaldecoder(encoding.name)(encoding.errors)
    decoder = io.IncrementalNewlineDecoder(bytes_decoder, translate=True)
    held = ""
    for block in blocks:
        try:
            text = decoder.decode(block)
        except UnicodeDecodeError as error:
            warn(f"{_fault(encoding.name, error)}; records with such bytes are set aside")
            bytes_decoder.errors = "replace"
            text = decoder.decode(block)
        is_return_pending = bool(decoder.getstate()[1] & 1)
        if is_return_pending and not held:
            held = text
        elif held or text:
            yield held + text
            held = ""
    bytes_decoder.errors = "replace"
    if text := held + decoder.decode(b"", final=True):
        yield text


def without_end_mark(texts: Iterable[AnyStr], mark: AnyStr, warn: Callable[[str], None]) -> Iterator[AnyStr]:
    """Yield texts without the mark of DOS at the end of the last, by which programs of old knew the end of a file."""
    held: AnyStr | None = None
    for text in texts:
        whole = held + text if held else text
        clean = whole.rstrip(mark) if whole.endswith(mark) else whole
        held = whole[len(clean) :]
        if clean:
            yield clean
    if held:
        warn(END_MARK)


def check_encoding(wanted: str, start: bytes) -> Encoding:
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
        raise BadInput(
            f'"{wanted}" is not a known encoding.', hint="utf-8, utf-16, cp1252, cp932, gb18030 and big5 are."
        )
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
    return Encoding(found.name, found.errors, warning, found.guessed)


def _detect_eight_bit(start: bytes) -> Encoding:
    try:
        codecs.utf_8_decode(start, "strict", False)
    except UnicodeDecodeError as error:
        return _detect_by_characters(start, error)
    return _detect_shifts(start) if b"\x1b$" in start else _UTF8


def _detect_by_characters(start: bytes, error: UnicodeDecodeError) -> Encoding:
    fault = _fault("utf-8", error)
    likely = [] if _has_utf8(start) else list(guess_encodings(start))
    began_as_utf8 = not start[: error.start].isascii()
    if _has_utf8(start) or (began_as_utf8 and not (likely and is_east_asian(likely[0]))):
        return Encoding("utf-8", "replace", f"{fault}; records with such bytes are set aside")
    western = "cp1252" if _is_windows(start) else "latin-1"
    return _describe_guess(fault, likely or [western, *other_latin_encodings(start)])


def _detect_shifts(start: bytes) -> Encoding:
    """ISO-2022, in which sequences of ASCII stand for other characters between marks."""
    name = next(name for mark, name in _SHIFTS.items() if mark in start)
    try:
        codecs.getincrementaldecoder(name)("strict").decode(start)
    except UnicodeDecodeError:
        return _UTF8
    return _describe_guess("it has the marks of ISO-2022", [name])


def _describe_guess(reason: str, likely: Sequence[str]) -> Encoding:
    first, *others = (_KNOWN_AS.get(name, name) for name in likely)
    also = f"; {', '.join(others)} would fit, too" if others else ""
    warning = f"{reason}; it is read as {first}{also} (the parameter encoding can say otherwise)"
    return Encoding(likely[0], "strict", warning, guessed=True)


def _has_utf8(start: bytes) -> bool:
    valid = sum(not char.isascii() for char in start.decode("utf-8", "ignore"))
    broken = start.decode("utf-8", "replace").count("\ufffd") - start.count("\ufffd".encode())
    return valid > 0 and valid >= broken


def _fault(encoding: str, error: UnicodeDecodeError) -> str:
    return f"it is not valid {encoding.upper()} at byte {error.start:,} (0x{error.object[error.start]:02x})"


def _is_windows(start: bytes) -> bool:
    return not any(byte in start for byte in (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"))
