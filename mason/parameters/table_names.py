"""How a table is written in a parameter: `database.table`, or a path, and the version of it that is meant."""

from __future__ import annotations

import re

_NAME = re.compile(r"[^.\s/]+\.[^.\s/]+")
_VERSION = re.compile(r"^(.*\S)\s+VERSION\s+AS\s+OF\s+(\S+)$", re.IGNORECASE | re.DOTALL)
_FORMATS = ("csv", "tsv", "json", "jsonl", "ndjson", "parquet", "orc", "avro", "msgpack", "xlsx")
_ENDINGS = tuple(f".{each}{packed}" for each in _FORMATS for packed in ("", ".gz", ".zst", ".bz2"))


def is_path(text: str) -> bool:
    """Say whether a text is the path of a table: it has a slash or a scheme in it, or the ending of a data file."""
    return "/" in text or text.lower().endswith(_ENDINGS)


def is_table_name(text: str) -> bool:
    """Say whether a text can name a table, by a path or by its database."""
    return "\0" not in text and (is_path(text) or _NAME.fullmatch(text) is not None)


def split_version(text: str) -> tuple[str, str]:
    """Return a table as it is written, and the version that is meant; "" for the newest."""
    found = _VERSION.match(text.strip())
    return (found[1], found[2]) if found else (text.strip(), "")
