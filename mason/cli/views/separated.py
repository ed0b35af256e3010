"""Rows for other programs: CSV, and a line of JSON for each."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from mason.cli.views.rows import Rows
from mason.util.json_text import compact_json

_LINES_TOGETHER = 1000


def csv_parts(rows: Rows) -> Iterator[str]:
    """Yield the rows as CSV, the names of the columns first, in parts of many lines."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if rows.columns:
        writer.writerow(rows.columns)
    for number, row in enumerate(rows.values, 1):
        writer.writerow([_field(row.get(name)) for name in rows.columns])
        if number % _LINES_TOGETHER == 0:
            yield _take(buffer)
    yield _take(buffer)


def json_lines(rows: Rows) -> Iterator[str]:
    """Yield the rows as lines of JSON, in parts of many lines."""
    for start in range(0, len(rows.values), _LINES_TOGETHER):
        part = rows.values[start : start + _LINES_TOGETHER]
        yield "".join(f"{_line({name: each.get(name) for name in rows.columns})}\n" for each in part)


def _line(row: dict[str, Any]) -> str:
    return compact_json(row).decode()


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return json.dumps(value, ensure_ascii=False)


def _take(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
