"""Columns of delimited text straight in their types, where the text is proven to be what one writes for the values.

Arrow reads `007`, `+7` and ` 7` as 7. Each of these is longer than `7`, and no text of a value is shorter than the one
that one writes for it. So where the texts that one writes for all values, and what stands between them, are together as
long as the text that was read, each value stands there as one writes it. Where not, the text must be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.scanning import byte_bits
from mason.pipeline.formats.scanning.chunks import Chunk
from mason.pipeline.formats.scanning.csv_parse import Layout, ParsedChunk, columns_of, parse_chunk, read_table
from mason.pipeline.formats.sources import Source, TextSource
from mason.pipeline.types.column_types import Evidence
from mason.pipeline.types.given_types import Fitted

_DATE = len("2026-01-31")
_LONGEST_INTEGER = 19
_NEWLINE, _ZERO = b"\n0"
_HEX = b"xX"


@dataclass(frozen=True)
class TypedSource:
    """Values whose text is proven to be theirs. Whatever else they are asked, the text answers."""

    values: pa.Array
    text: Callable[[], TextSource]

    def fit(self, target: pa.DataType, timezone: str = "") -> pa.Array | None:
        return self.values if target == self.values.type else self.text().fit(target, timezone)

    def fit_given(self, target: pa.DataType, timezone: str = "") -> Fitted:
        return Fitted(self.values) if target == self.values.type else self.text().fit_given(target, timezone)

    def evidence(self) -> Evidence:
        return self.text().evidence()

    def value(self, index: int) -> Any:
        return self.text().value(index)

    def take(self, indices: Sequence[int]) -> Source:
        return self.text().take(indices)

    def or_else(self, other: Source) -> Source | None:
        return None


def can_be_typed(target: pa.DataType) -> bool:
    """Say whether one text for each value is the shortest, and Arrow takes no other of its length."""
    return target in (pa.int64(), pa.date32(), pa.bool_())


def parse_typed(chunk: Chunk, layout: Layout, types: Mapping[int, pa.DataType]) -> ParsedChunk | None:
    """Return the rows of a chunk with these columns in these types; None without a proof.

    Then `parse_chunk` has to read the chunk.
    """
    scan, text = chunk.scan, chunk.text
    if not types or layout.nulls or layout.surplus or scan.odd or not len(text) or b"\r" in chunk.read:
        return None
    table = read_table(text, layout, _without_hex(types, chunk))
    if table is None or table.num_rows != scan.records:
        return None  # it has blank lines, for one
    columns = columns_of(table)
    if _length_as_text(columns, layout.dialect, scan.quotes) != len(text) + (text[-1] != _NEWLINE):
        return None
    return ParsedChunk(columns=columns, indices=np.arange(table.num_rows), bad=[], records=table.num_rows)


def sources_of(parsed: ParsedChunk, chunk: Chunk, layout: Layout) -> list[Source]:
    """Return the columns of `parse_typed`; text is parsed again, as text, only if somebody asks for it."""
    read: list[ParsedChunk] = []

    def text(column: int) -> TextSource:
        if not read:
            read.append(parse_chunk(chunk, layout))
        return TextSource(read[0].columns[column])

    return [
        TextSource(values) if pa.types.is_string(values.type) else TypedSource(values, partial(text, number))
        for number, values in enumerate(parsed.columns)
    ]


def _without_hex(types: Mapping[int, pa.DataType], chunk: Chunk) -> Mapping[int, pa.DataType]:
    """Leave integers out where 0x stands in the text: 0xFFFFFFFFFF is shorter than the number that Arrow reads."""
    content = np.frombuffer(chunk.text, np.uint8)
    marks = [byte_bits.find(content, letter) for letter in _HEX if bytes([letter]) in chunk.read]
    if not any((mark & byte_bits.after(byte_bits.find(content, _ZERO))).any() for mark in marks):
        return types
    return {number: target for number, target in types.items() if target != pa.int64()}


def _length_as_text(columns: Sequence[pa.Array], dialect: Dialect, quotes: int) -> int:
    """How long the values are as one writes them, with delimiters, line ends, and the quotes that are no values."""
    rows = len(columns[0])
    between = rows * (len(columns) - 1) + rows
    texts = [values for values in columns if quotes and pa.types.is_string(values.type)]
    inside = sum(_count(_content(values), ord(dialect.quote)) for values in texts)
    return sum(map(_length, columns)) + between + quotes - inside


def _length(values: pa.Array) -> int:
    present: int = len(values) - values.null_count
    if pa.types.is_string(values.type):
        return len(_content(values))
    if pa.types.is_date(values.type):
        return present * _DATE
    if pa.types.is_boolean(values.type):
        return present * len("false") - int(values.true_count)
    return present + _more_digits(values)


def _more_digits(values: pa.Array) -> int:
    """How many digits integers have after their first, and signs before it."""
    numbers = np.from_dlpack(values.drop_null())  # to_numpy would import pandas
    if not len(numbers):
        return 0
    sizes = np.abs(numbers).view(np.uint64)  # of the least integer this is right, too
    powers = [10**digits for digits in range(1, _LONGEST_INTEGER) if 10**digits <= int(sizes.max())]
    return int(sum(np.count_nonzero(sizes >= power) for power in powers) + np.count_nonzero(numbers < 0))


def _content(values: pa.Array) -> memoryview:
    """All texts of a column in one piece."""
    _, offsets, data = values.buffers()
    if not len(values) or data is None:
        return memoryview(b"")
    bounds = np.frombuffer(offsets, np.int32)
    return memoryview(data)[int(bounds[values.offset]) : int(bounds[values.offset + len(values)])]


def _count(text: memoryview, byte: int) -> int:
    return byte_bits.count(byte_bits.find(np.frombuffer(text, np.uint8), byte)) if len(text) else 0
