"""Which format and compression a file has, and which names are data at all."""

from __future__ import annotations

import re

from mason.errors import BadInput

DELIMITED = "csv"
FORMATS = ("csv", "tsv", "psv", "json", "jsonl", "parquet", "orc", "avro", "msgpack")
"""Formats in which tables are read; sheets of Excel are read where others have made them."""
DELIMITERS = {"tsv": "\t", "psv": "|"}

_BY_EXTENSION = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "psv": "psv",
    "txt": "csv",
    "json": "json",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "pq": "parquet",
    "orc": "orc",
    "avro": "avro",
    "msgpack": "msgpack",
    "mpk": "msgpack",
    "xlsx": "xlsx",
    "xlsm": "xlsx",
}
_COMPRESSED = frozenset(["gz", "gzip", "bz2", "zst", "zstd"])
_OTHER_PACKINGS = frozenset(["xz", "lzma", "zip", "lz4", "br", "sz", "snappy", "z", "7z", "rar", "lzo", "tar"])
_CODECS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_MAGIC = {b"PAR1": "parquet", b"PARE": "parquet", b"ORC": "orc", b"Obj\x01": "avro"}
_FIRST_BYTES = re.compile(b"|".join(map(re.escape, [*_CODECS, *_MAGIC]))).match
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]").match
_JSON_KEY = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[?\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}\s*$)').match
_CONTROLS = bytes([*range(0x04, 0x07), *range(0x0E, 0x1B), 0x7F])  # not those that Hive uses as delimiters
_END_MARK = b"\x1a"  # of DOS
_ENOUGH = 4096
_FEW = 50


def is_data(relative: str) -> bool:
    """Say whether a path below a table is data: no part of it may begin with `_` or `.`, as for Spark and Hive.

    A Hive-style folder counts, whatever its key is called: `_year=2024` is a partition.
    """
    *folders, name = relative.split("/")
    hidden = any(folder[:1] == "." or (folder[:1] == "_" and "=" not in folder) for folder in folders)
    return not hidden and name[:1] not in (".", "_")


def format_of_name(name: str) -> str:
    """Return the format that the file's extension claims, looking through `.gz` and the like; "" if it claims none."""
    stem, _, extension = name.rpartition("/")[2].lower().rpartition(".")
    if extension in _COMPRESSED:
        stem, _, extension = stem.rpartition(".")
    return _BY_EXTENSION.get(extension, "") if stem else ""


def name_without_format(name: str) -> str:
    """Return a file's name without the endings that say its format: `orders.csv.gz` → `orders`."""
    while format_of_name(name):
        name = name.rpartition(".")[0]
    return name


def codec_of(start: bytes) -> str:
    """Return the compression that the file's first bytes show, whatever its name says; "" for none."""
    found = _FIRST_BYTES(start)
    return _CODECS.get(found[0], "") if found else ""


def begins_as_data(start: bytes) -> bool:
    """Say whether the first bytes are those by which a format or a compression is known."""
    return bool(_FIRST_BYTES(start))


def is_cut_in_its_codec(name: str, start: bytes) -> bool:
    """Say whether a file that claims to be compressed ends before its compression could be told."""
    claims = name.lower().rpartition(".")[2] in _COMPRESSED
    return claims and any(len(start) < len(magic) and magic.startswith(start) for magic in _CODECS)


def is_archive(name: str) -> bool:
    """Say whether a file is one whose members are files of their own."""
    return name.lower().endswith(".zip")


def unknown_packing(name: str) -> str:
    """Return how data are packed in a way that Mason does not unpack: `xz` for `orders.csv.xz`; "" for other names."""
    stem, _, extension = name.rpartition(".")
    return extension if extension.lower() in _OTHER_PACKINGS and format_of_name(stem) else ""


def format_of(name: str, start: bytes) -> str:
    """Return a file's format: by its first bytes where these are plain, else by its name, else by what text it holds.

    "" means that it is not a format that Mason knows.
    """
    found = _FIRST_BYTES(start)
    if found and found[0] in _MAGIC:
        return _MAGIC[found[0]]
    claimed = format_of_name(name)
    if claimed in ("msgpack", "xlsx") or claimed in _MAGIC.values():
        return claimed  # without the bytes that it must begin with, it is damaged: reading it will say so
    if not is_text(start):
        return _format_of_bytes(start)
    if claimed in ("json", "jsonl"):
        return claimed
    if claimed in ("csv", "tsv", "psv"):
        return "jsonl" if _JSON_KEY(start) else claimed
    return "jsonl" if _JSON_START(start) else DELIMITED


def check_format(wanted: str) -> str:
    """Return the format that the user asked for, by its name or one of its extensions.

    Raises:
        BadInput: there is no such format.
    """
    known = _BY_EXTENSION.get(wanted.lower().lstrip("."), "")
    if wanted and not known:
        raise BadInput(f'"{wanted}" is not a format that can be read.', hint=f"One of: {', '.join(FORMATS)}, xlsx.")
    return known


def is_text(start: bytes) -> bool:
    """Say whether the first bytes could be text, in UTF-8, UTF-16, UTF-32 or a one-byte encoding."""
    if start[:2] in (b"\xff\xfe", b"\xfe\xff") or start[:4] == b"\x00\x00\xfe\xff":
        return True
    start = start[:_ENOUGH] if len(start) >= _ENOUGH else start.rstrip(_END_MARK)
    nulls = start.count(b"\x00")
    controls = len(start) - len(start.translate(None, _CONTROLS))
    length = max(len(start), _FEW)  # one of them in a short text is as little as in a long one
    return controls * 50 <= length and (nulls * 20 <= length or _is_utf16(start, nulls))


def _is_utf16(start: bytes, nulls: int) -> bool:
    return nulls * 3 > len(start) and max(start[::2].count(b"\x00"), start[1::2].count(b"\x00")) * 50 > nulls * 49


def _format_of_bytes(start: bytes) -> str:
    """A short map or array may be Msgpack, which has no magic bytes."""
    return "msgpack" if 0x80 <= start[0] <= 0x9F else ""
