"""Quarantined records on their way to somebody who mends them, and back."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from mason.errors import PathNotFound, Unprocessable, UnreadableFile
from mason.pipeline.tables.rejects import Reject
from mason.util.words import counted

COLUMNS = ("Id", "File", "Record", "Offset", "Column", "Reason", "Raw")
_LONGEST_FIELD = 2**31 - 1
_DELIMITERS = (",", ";", "\t")
"""What spreadsheets write between fields, by the language that they speak."""


class NotMended(Unprocessable):
    """Raised when mended records of a quarantine cannot be merged again. 422 · exit 1"""


def encode_rejects(rejects: Iterable[Reject], file: str) -> bytes:
    """Return records as the content of a CSV file, or of JSON lines if its name says so; `Raw` is to be mended."""
    rows = [each.to_dict() for each in rejects]
    if Path(file).suffix in (".jsonl", ".json", ".ndjson"):
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        text = _csv_text(rows)
    # Bytes that are no UTF-8 stay what they were: mending them is what the file is for.
    return text.encode("utf-8", "surrogateescape")


def read_mended(file: Path) -> dict[str, str]:
    """Return the text of each record in such a file, by its id.

    Raises:
        PathNotFound: there is no such file.
        UnreadableFile: it is not what `export` wrote.
    """
    if not file.is_file():
        raise PathNotFound(str(file))
    mended: dict[str, str] = {}
    for number, row in enumerate(_rows(file), 1):
        name, raw = row.get("Id"), row.get("Raw")
        if not isinstance(name, str) or not isinstance(raw, str):
            raise UnreadableFile(file.name, f"record {number:,} has no Id or no Raw: they come from an export.")
        if name in mended:
            raise UnreadableFile(file.name, f'the id "{name}" is there twice.')
        mended[name] = raw
    return mended


def _csv_text(rows: list[dict[str, Any]]) -> str:
    text = StringIO(newline="")
    # Quoted where it need not be, too: a delimiter that is typed into a Raw without quotes would end it there.
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    text = file.read_bytes().decode("utf-8-sig", "surrogateescape")
    if file.suffix in (".jsonl", ".json", ".ndjson"):
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield _object(file, number, line)
        return
    csv.field_size_limit(_LONGEST_FIELD)
    yield from _read_delimited_rows(file, text)


def _read_delimited_rows(file: Path, text: str) -> Iterator[dict[str, Any]]:
    reader = csv.reader(StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    names: list[str] = []
    line = 1
    try:
        for fields in reader:
            names = names or fields
            if fields and len(fields) != len(names):
                raise _not_as_exported(file, line, f"{counted(len(fields), 'field')} instead of {len(names):,}")
            if fields and fields is not names:
                yield dict(zip(names, fields, strict=True))
            line = reader.line_num + 1
    except csv.Error as error:
        raise _not_as_exported(file, line, f"quotes that do not pair ({error})") from error


def _delimiter(text: str) -> str:
    """The delimiter by which the first line names what an export has."""
    first = text.partition("\n")[0].rstrip("\r")
    named = (each for each in _DELIMITERS if {"Id", "Raw"} <= {name.strip('"') for name in first.split(each)})
    return next(named, _DELIMITERS[0])


def _not_as_exported(file: Path, line: int, found: str) -> UnreadableFile:
    hint = 'Put the whole Raw in quotes, and double each quote inside it: "3,""three""".'
    return UnreadableFile(f"{file.name}:{line}", f"the record has {found}.", hint=hint)


def _object(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise UnreadableFile(file.name, f"line {number:,} is not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise UnreadableFile(file.name, f"line {number:,} is not a JSON object.")
    return value
