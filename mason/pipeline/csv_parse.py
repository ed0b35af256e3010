"""A chunk of delimited text as columns of text, with every record accounted for.

Arrow's parser is fast, and silent about what it does not like. So its rows are counted against the scan of the bytes;
where the two differ, or a quote stands where none belongs, the chunk is read again by the tokenizer of `csv_records`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pacsv

from mason.pipeline.csv_chunks import Chunk
from mason.pipeline.csv_records import QUOTED_EMPTY, ExactRecord, split_exactly
from mason.pipeline.record_scan import blank_records

TRUE, FALSE = ["true", "True", "TRUE"], ["false", "False", "FALSE"]
_ALL_TEXT: Mapping[int, pa.DataType] = {}


@dataclass(frozen=True)
class Dialect:
    """How a file's records are written; `width` is how many fields one has."""

    delimiter: str
    width: int
    nulls: Sequence[str] = ()


@dataclass(frozen=True)
class BadRecord:
    """A record that is no row: its index among the chunk's records, what is wrong, and its text."""

    index: int
    reason: str
    raw: str


@dataclass(frozen=True)
class ParsedChunk:
    """The rows of a chunk: one array of text per column, and the index of each row among the chunk's records."""

    columns: Sequence[pa.Array]
    indices: npt.NDArray[np.int64]
    bad: Sequence[BadRecord]
    records: int

    def __post_init__(self) -> None:
        assert len(self.indices) + len(self.bad) == self.records

    def without_first(self, rows: int) -> ParsedChunk:
        """Return what comes after some rows."""
        columns = [column.slice(rows) for column in self.columns]
        return ParsedChunk(columns, self.indices[rows:], self.bad, self.records - rows)


def parse_chunk(chunk: Chunk, dialect: Dialect) -> ParsedChunk:
    """Return the rows of a chunk and the records that are none."""
    if not chunk.scan.has_stray_quotes and not chunk.scan.open_quote:
        parsed = _parse_fast(chunk, dialect)
        if parsed is not None:
            return parsed
    return _parse_carefully(chunk, dialect)


def _parse_fast(chunk: Chunk, dialect: Dialect) -> ParsedChunk | None:
    ragged: list[Any] = []

    def set_aside(row: Any) -> str:
        ragged.append(row)
        return "skip"

    table = read_table(chunk.text, dialect, invalid_row_handler=set_aside)
    if table is None or any(row.number is None for row in ragged):
        return None
    wanted = _without_blank(chunk, dialect, table.num_rows + len(ragged))
    if wanted is None:
        return None
    numbers = np.array([row.number - 1 for row in ragged], dtype=np.int64)
    bad = [BadRecord(int(wanted[row.number - 1]), _ragged(row.actual_columns, dialect), row.text) for row in ragged]
    return ParsedChunk(columns_of(table), np.delete(wanted, numbers), bad, len(wanted))


def read_table(
    text: memoryview, dialect: Dialect, types: Mapping[int, pa.DataType] = _ALL_TEXT, **options: Any
) -> pa.Table | None:
    """Return what Arrow makes of a text, or None where it gives up. Columns are text where no other type is asked for.

    An unquoted empty field is null, and so are the words that the dialect names.
    """
    names = [str(number) for number in range(dialect.width)]
    try:
        return pacsv.read_csv(
            pa.BufferReader(text),
            read_options=pacsv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
            parse_options=pacsv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True, **options),
            convert_options=pacsv.ConvertOptions(
                column_types={name: types.get(number, pa.string()) for number, name in enumerate(names)},
                null_values=["", *dialect.nulls],
                true_values=TRUE,
                false_values=FALSE,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None


def columns_of(table: pa.Table) -> list[pa.Array]:
    """Return the columns of a table, each in one piece."""
    return [each.chunk(0) if each.num_chunks == 1 else each.combine_chunks() for each in table.columns]


def _without_blank(chunk: Chunk, dialect: Dialect, rows: int) -> npt.NDArray[np.int64] | None:
    """The indices of the records that are no blank lines, which Arrow passes over; None if these are not its rows.

    In a file of one column a blank line is a null.
    """
    if rows == chunk.scan.records:
        return np.arange(rows)
    if dialect.width == 1:
        return None
    wanted = np.flatnonzero(~blank_records(chunk.text, chunk.scan))
    return wanted if len(wanted) == rows else None


def _parse_carefully(chunk: Chunk, dialect: Dialect) -> ParsedChunk:
    """By the tokenizer, which knows that a quote only opens at the beginning of a field."""
    text = str(chunk.text, "utf-8", errors="surrogateescape")
    rows: list[ExactRecord] = []
    indices, bad = [], []
    for index, record in enumerate(split_exactly(text, dialect.delimiter)):
        if dialect.width > 1 and record.is_blank:
            continue
        problem = _problem(record, dialect)
        if problem:
            bad.append(BadRecord(index, problem, record.raw))
        else:
            rows.append(record)
            indices.append(index)
    columns = [_column(rows, position, dialect.nulls) for position in range(dialect.width)]
    return ParsedChunk(columns, np.array(indices, dtype=np.int64), bad, len(rows) + len(bad))


def _problem(record: ExactRecord, dialect: Dialect) -> str:
    if record.open_quote:
        return "a quote is opened and not closed"
    if not all(map(_is_text, record.fields)):
        return "it is not valid UTF-8"
    return "" if len(record.fields) == dialect.width else _ragged(len(record.fields), dialect)


def _ragged(fields: int, dialect: Dialect) -> str:
    return f"{fields:,} field{'s' * (fields != 1)} instead of {dialect.width:,}"


def _column(rows: Sequence[ExactRecord], position: int, nulls: Sequence[str]) -> pa.Array:
    missing = {"", *nulls}
    fields = ((row.fields[position], row.quoted[position]) for row in rows)
    return pa.array([None if not quoted and value in missing else value for value, quoted in fields], pa.string())


def _is_text(field: str) -> bool:
    """Say whether all bytes of a field could be decoded: those that could not stand in it as surrogates."""
    return field.isascii() or not any("\udc80" <= char <= "\udcff" for char in field)


def join_fields(fields: Sequence[str | None], delimiter: str) -> str:
    """Return a record as text again; only what must be is in quotes."""
    return delimiter.join("" if field is None else _quoted_if_needed(field, delimiter) for field in fields)


def _quoted_if_needed(field: str, delimiter: str) -> str:
    if field == QUOTED_EMPTY or not any(mark in field for mark in (delimiter, '"', "\n")):
        return field
    return '"' + field.replace('"', '""') + '"'
