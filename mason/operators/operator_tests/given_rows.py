"""Writes the rows that a test gives as a file, in the format that its name says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from mason.operators.operator_tests.case import GivenFile, Row
from mason.operators.operator_tests.cells import arrow_type, read_cell
from mason.util.json_text import json_value


def write_rows(given: GivenFile, file: Path) -> None:
    """Write the rows of a given file."""
    WRITABLE[file.suffix](file, given.rows or (), given.schema)


def _write_csv(file: Path, rows: Sequence[Row], schema: Mapping[str, str]) -> None:
    names = _columns(rows, schema)
    lines = [names, *([row.get(name) for name in names] for row in rows)]
    text = "".join(",".join(map(_field, line)) + "\n" for line in lines)
    file.write_text(text, encoding="utf-8")


def _field(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(json_value(value), ensure_ascii=False)
    # An empty text is not nothing: only a field without quotes is null.
    plain = text and not any(mark in text for mark in ',"\r\n') and text == text.strip()
    return text if plain else '"' + text.replace('"', '""') + '"'


def _write_json(file: Path, rows: Sequence[Row], schema: Mapping[str, str]) -> None:
    file.write_text(json.dumps(list(rows), ensure_ascii=False) + "\n", encoding="utf-8")


def _write_json_lines(file: Path, rows: Sequence[Row], schema: Mapping[str, str]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _write_parquet(file: Path, rows: Sequence[Row], schema: Mapping[str, str]) -> None:
    pq.write_table(_table(rows, schema), file)


def _write_orc(file: Path, rows: Sequence[Row], schema: Mapping[str, str]) -> None:
    orc.write_table(_table(rows, schema), str(file))


def _table(rows: Sequence[Row], schema: Mapping[str, str]) -> pa.Table:
    if not schema:
        return pa.Table.from_pylist([{name: row.get(name) for name in _columns(rows, schema)} for row in rows])
    types = {name: arrow_type(word) for name, word in schema.items()}
    return pa.table(
        {name: pa.array([read_cell(row.get(name), kind) for row in rows], kind) for name, kind in types.items()}
    )


def _columns(rows: Sequence[Row], schema: Mapping[str, str]) -> Sequence[str]:
    return list(schema) or list(dict.fromkeys(name for row in rows for name in row))


WRITABLE: Mapping[str, Callable[[Path, Sequence[Row], Mapping[str, str]], None]] = {
    ".csv": _write_csv,
    ".json": _write_json,
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
    ".orc": _write_orc,
}
