"""A chunk of delimited text as columns of text, with every record accounted for.

Arrow's parser is fast, and silent about what it does not like. So its rows are counted against the scan of the bytes;
where the two differ, the chunk is read again by the tokenizer of `csv_tokens`. Records with quotes where none belong
are read so from the start, and put between the others. Records with bytes that are no UTF-8 are found first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from mason.pipeline.formats.delimited.dialect import Dialect, Ragged
from mason.pipeline.formats.delimited.records import QUOTED_EMPTY
from mason.pipeline.formats.delimited.tokens import ExactRecord, is_text, split_exactly
from mason.pipeline.formats.scanning.chunks import Chunk
from mason.pipeline.formats.scanning.record_marks import OddRecord, Scan, blank_records

_PIECE = 64 * 1024  # an error of Python holds a copy of all that was decoded


def find_broken_records(chunk: Chunk, dialect: Dialect, width: int) -> Sequence[OddRecord]:
    """Return the records of a chunk that are not UTF-8, besides those that are odd already."""
    known = chunk.odd_by_index
    places = (place for index, *place in _find_broken_places(chunk) if index not in known)
    texts = ((start, end, chunk.read[start:end].decode("utf-8", "surrogateescape")) for start, end in places)
    return [OddRecord(start, end, next(split_exactly(text, dialect, width))) for start, end, text in texts]


def _find_broken_places(chunk: Chunk) -> Iterator[tuple[int, int, int]]:
    """Yield the numbers of records that cannot be decoded, with where they begin and end."""
    ends = chunk.scan.ends
    place = 0
    while place < chunk.scan.end:
        last = int(np.searchsorted(ends, min(place + _PIECE, chunk.scan.end)))
        try:
            chunk.read[place : int(ends[last])].decode("utf-8")
        except UnicodeDecodeError as error:
            index = int(np.searchsorted(ends, place + error.start, side="right"))
            yield index, int(ends[index - 1]) if index else 0, int(ends[index])
            place = int(ends[index])
        else:
            place = int(ends[last])


TRUE, FALSE = ["true", "True", "TRUE"], ["false", "False", "FALSE"]
_ALL_TEXT: Mapping[int, pa.DataType] = {}
_NEWLINE = b"\n"[0]
_FEW = 4  # where more than every fourth record is odd, all of them are read field by field


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What the records of a file are to be: how they are written, and how many fields each of them has.

    `surplus`: behind the last field stands one more delimiter. `ragged` says what happens to records with fewer or more
    fields. `all_quoted`: fields are in quotes whatever they hold.
    """

    dialect: Dialect
    width: int
    nulls: Sequence[str] = ()
    surplus: bool = False
    ragged: Ragged = Ragged.QUARANTINE
    all_quoted: bool = False

    @cached_property
    def quoted_nulls(self) -> Collection[str]:
        """What is null in quotes, too."""
        empty = {""} if QUOTED_EMPTY in self.nulls else set()
        return empty | (set(self.nulls) - {QUOTED_EMPTY} if self.all_quoted else set())

    @property
    def fields(self) -> int:
        """How many fields a record has in the file."""
        return self.width + self.surplus


@dataclass(frozen=True)
class BadRecord:
    """A record that is no row: its index among the chunk's records, and what is wrong."""

    index: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class ParsedChunk:
    """The rows of a chunk: one array of text per column, and the index of each row among the chunk's records."""

    columns: Sequence[pa.Array]
    indices: npt.NDArray[np.int64]
    bad: Sequence[BadRecord]
    records: int
    cut: int = 0
    """How many rows had more fields in the file, which were dropped."""

    def __post_init__(self) -> None:
        assert len(self.indices) + len(self.bad) == self.records


def parse_chunk(chunk: Chunk, layout: Layout) -> ParsedChunk:
    """Return the rows of a chunk and the records that are none."""
    odd = chunk.scan.odd
    if len(odd) * _FEW > chunk.scan.records:
        return _parse_carefully(chunk, layout)
    parsed = _parse_fast(_without_odd(chunk) if odd else chunk, layout)
    if parsed is None and (broken := find_broken_records(chunk, layout.dialect, layout.fields)):
        # Arrow reads none of a text in which one byte is wrong: without the records that have such, it does.
        return parse_chunk(chunk.with_odd(broken), layout)
    if parsed is None or (parsed.bad and (layout.surplus or layout.ragged is not Ragged.QUARANTINE)):
        return _parse_carefully(chunk, layout)
    return _with_odd(parsed, chunk, layout) if odd else parsed


def _without_odd(chunk: Chunk) -> Chunk:
    places = [0, *(place for each in chunk.scan.odd for place in (each.start, each.end)), chunk.scan.end]
    text = b"".join(chunk.read[start:end] for start, end in zip(places[::2], places[1::2], strict=True))
    ends = np.delete(chunk.scan.ends, list(chunk.odd_by_index))
    removed = np.cumsum([each.end - each.start for each in chunk.scan.odd])
    before = np.searchsorted([each.start for each in chunk.scan.odd], ends)  # how many odd ones stand before an end
    moved = ends - np.append(0, removed)[before]
    return Chunk(read=text, scan=Scan.of(moved, text), offset=chunk.offset, is_last=chunk.is_last)


def _with_odd(parsed: ParsedChunk, chunk: Chunk, layout: Layout) -> ParsedChunk:
    """Put the records that were read field by field between the others."""
    odd = chunk.odd_by_index
    plain = np.delete(np.arange(chunk.scan.records), list(odd))
    bad = [BadRecord(int(plain[each.index]), each.reason) for each in parsed.bad]
    careful = _parse_records(((index, each.record) for index, each in odd.items()), layout)
    indices = np.append(plain[parsed.indices], careful.indices)
    order = np.argsort(indices, kind="stable")
    columns = [
        pa.concat_arrays(both).take(pa.array(order)) for both in zip(parsed.columns, careful.columns, strict=True)
    ]
    found = sorted([*bad, *careful.bad], key=lambda each: each.index)
    return ParsedChunk(
        columns=columns, indices=indices[order], bad=found, records=parsed.records + careful.records, cut=careful.cut
    )


def _parse_fast(chunk: Chunk, layout: Layout) -> ParsedChunk | None:
    ragged: list[Any] = []

    def set_aside(row: Any) -> str:
        ragged.append(row)
        return "skip"

    table = read_table(chunk.text, layout)
    if table is None and _is_utf8(chunk.text):  # Arrow hands out a ragged row as text, and complains where it is none
        table = read_table(chunk.text, layout, invalid_row_handler=set_aside)
    if table is None or any(row.number is None for row in ragged):
        return None
    wanted = _without_blank(chunk, layout, table.num_rows + len(ragged))
    if wanted is None:
        return None
    numbers = np.array([row.number - 1 for row in ragged], dtype=np.int64)
    bad = [BadRecord(int(wanted[row.number - 1]), _explain_ragged(row.actual_columns, layout)) for row in ragged]
    columns = columns_of(table)[: layout.width]
    if layout.quoted_nulls:  # without quotes they are null already
        words = pa.array(sorted(layout.quoted_nulls), pa.string())
        columns = [pc.if_else(pc.is_in(each, words), pa.scalar(None, pa.string()), each) for each in columns]
    return ParsedChunk(columns=columns, indices=np.delete(wanted, numbers), bad=bad, records=len(wanted))


def _is_utf8(text: memoryview) -> bool:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def read_table(
    text: memoryview, layout: Layout, types: Mapping[int, pa.DataType] = _ALL_TEXT, **options: Any
) -> pa.Table | None:
    """Return what Arrow makes of a text, or None where it gives up. Columns are text where no other type is asked for.

    An unquoted empty field is null, and so are the words that the layout names.
    """
    names = [str(number) for number in range(layout.fields)]
    dialect = layout.dialect
    try:
        table = pacsv.read_csv(
            pa.BufferReader(_with_line_end(text)),
            read_options=pacsv.ReadOptions(use_threads=False, block_size=len(text) + 2, column_names=names),
            parse_options=pacsv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char=dialect.quote or False,
                newlines_in_values=bool(dialect.quote),
                **options,
            ),
            convert_options=pacsv.ConvertOptions(
                column_types={name: types.get(number, pa.string()) for number, name in enumerate(names)},
                null_values=["", *layout.nulls],
                true_values=TRUE,
                false_values=FALSE,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if layout.surplus and table.column(layout.width).null_count < table.num_rows:
        return None  # something stands behind the last delimiter
    return table


def _with_line_end(text: memoryview) -> memoryview | bytes:
    """Return a text with a line end behind its last record: without one Arrow takes an empty last field for quoted."""
    return text if not len(text) or text[-1] == _NEWLINE else bytes(text) + b"\n"


def columns_of(table: pa.Table) -> list[pa.Array]:
    """Return the columns of a table, each in one piece."""
    return [each.chunk(0) if each.num_chunks == 1 else each.combine_chunks() for each in table.columns]


def _without_blank(chunk: Chunk, layout: Layout, rows: int) -> npt.NDArray[np.int64] | None:
    """The indices of the records that are no blank lines, which Arrow passes over; None if these are not its rows.

    In a file of one column a blank line is a null.
    """
    if rows == chunk.scan.records:
        return np.arange(rows)
    if layout.fields == 1:
        return None
    wanted = np.flatnonzero(~blank_records(chunk.text, chunk.scan))
    return wanted if len(wanted) == rows else None


def _parse_carefully(chunk: Chunk, layout: Layout) -> ParsedChunk:
    """Field by field, by the tokenizer, which knows that a quote only opens at the beginning of a field."""
    return _parse_records(enumerate(chunk.records(layout.dialect, layout.fields)), layout)


def _parse_records(records: Iterable[tuple[int, ExactRecord]], layout: Layout) -> ParsedChunk:
    rows: list[ExactRecord] = []
    indices, bad, cut = [], [], 0
    for index, record in records:
        if layout.fields > 1 and record.is_blank:
            continue
        mended = _mend_record(record, layout)
        problem = _problem(mended, layout)
        if problem:
            bad.append(BadRecord(index, problem))
        else:
            rows.append(mended)
            cut += any(record.fields[len(mended.fields) :])
            indices.append(index)
    columns = [_column(rows, position, layout) for position in range(layout.width)]
    return ParsedChunk(
        columns=columns, indices=np.array(indices, dtype=np.int64), bad=bad, records=len(rows) + len(bad), cut=cut
    )


def _mend_record(record: ExactRecord, layout: Layout) -> ExactRecord:
    """The record with as many fields as the table has columns, where the layout says how."""
    fields, width = record.fields, layout.width
    if layout.surplus and len(fields) == width + 1 and not fields[-1]:
        return replace(record, fields=fields[:-1], quoted=record.quoted[:-1])
    if layout.ragged is Ragged.CUT and len(fields) > width:
        return replace(record, fields=fields[:width], quoted=record.quoted[:width])
    lacks_last = layout.ragged is Ragged.LAST_IS_NULL and len(fields) == width - 1
    if lacks_last or (layout.ragged in (Ragged.PAD, Ragged.CUT) and len(fields) < width):
        missing = width - len(fields)
        return replace(record, fields=[*fields, *[""] * missing], quoted=[*record.quoted, *[False] * missing])
    return record


def _problem(record: ExactRecord, layout: Layout) -> str:
    if record.problem:
        return record.problem
    if not all(map(is_text, record.fields)):
        return "it is not valid UTF-8"
    return "" if len(record.fields) == layout.width else _explain_ragged(len(record.fields), layout)


def _explain_ragged(fields: int, layout: Layout) -> str:
    return f"{fields:,} field{'s' * (fields != 1)} instead of {layout.width:,}"


def _column(rows: Sequence[ExactRecord], position: int, layout: Layout) -> pa.Array:
    missing = {"", *layout.nulls}
    in_quotes = layout.quoted_nulls
    fields = ((row.fields[position], row.quoted[position]) for row in rows)
    values = [None if value in (in_quotes if quoted else missing) else value for value, quoted in fields]
    return pa.array(values, pa.string())
