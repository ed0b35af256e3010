"""Quarantined records on their way to somebody who mends them, and back."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from mason.errors import BadPath, PathNotFound, Unprocessable, UnreadableFile
from mason.pipeline.rejects import Reject
from mason.util.atomic_file import write_file
from mason.util.disk_room import why_not_written

COLUMNS = ("Id", "File", "Record", "Offset", "Column", "Reason", "Raw")
_LONGEST_FIELD = 2**31 - 1


class NotMended(Unprocessable):
    """422 · exit 1"""


def export_rejects(rejects: Iterable[Reject], file: Path) -> int:
    """Write records to a CSV file, or to JSON lines if its name says so, and return how many; `Raw` is to be mended.

    Raises:
        BadPath: no file can be written there.
    """
    rows = [each.to_dict() for each in rejects]
    if file.suffix in (".jsonl", ".json", ".ndjson"):
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        text = _csv_text(rows)
    try:
        # Bytes that are no UTF-8 stay what they were: mending them is what the file is for.
        write_file(file, text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise BadPath(f"{file} cannot be written: {why_not_written(error, file)}.") from error
    return len(rows)


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
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
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
    yield from csv.DictReader(StringIO(text, newline=""))


def _object(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise UnreadableFile(file.name, f"line {number:,} is not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise UnreadableFile(file.name, f"line {number:,} is not a JSON object.")
    return value
