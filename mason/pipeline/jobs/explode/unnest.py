"""Takes records apart, column by column: the rows of every flat table of a batch, and how many there should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.jobs.explode.json_text import read_texts
from mason.pipeline.jobs.explode.shape import Elements, Fields, FlatTable, JsonText, Leaf, Part, Path, entries_type
from mason.pipeline.types.column_types import NOTHING, Evidence, merge


@dataclass
class Tally:
    """What was seen beside the rows: how long the lists are together, and text that is not what it should be."""

    elements: Counter[int] = field(default_factory=Counter)
    """For each table the sum of the lengths of its lists."""
    kept: Counter[Path] = field(default_factory=Counter)
    """Texts that hold no JSON, by the path of the text."""
    seen: dict[Path, Evidence] = field(default_factory=dict)
    """What texts hold beyond the type that was expected: then the rows are worth nothing."""


def unnest(
    tables: Sequence[FlatTable], rows: pa.RecordBatch, first: int, tally: Tally
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the rows of each table, with its number. `first` is the number of the first of the records."""
    keys = [pa.array(np.arange(first, first + rows.num_rows))] if tables[0].keys else []
    yield from _unnest(tables, 0, rows.to_struct_array(), keys, tally)


def _unnest(
    tables: Sequence[FlatTable], number: int, values: pa.Array, keys: Sequence[pa.Array], tally: Tally
) -> Iterator[tuple[int, pa.RecordBatch]]:
    table = tables[number]
    spread = _Spread([None] * (len(table.schema) - len(keys)), tally)
    spread.take(table.part, values)
    if not tally.seen:
        yield number, pa.record_batch([*keys, *spread.columns], schema=table.schema)
    for child, lists in spread.lists:
        lengths = _lengths(lists)
        yield from _unnest(tables, child, pc.list_flatten(lists), _child_keys(keys, lengths), tally)


class _Spread:
    """The columns of one table, as they are found in its records, and the lists that are tables of their own."""

    def __init__(self, columns: list[pa.Array | None], tally: Tally) -> None:
        self.columns = columns
        self.lists: list[tuple[int, pa.Array]] = []
        self._tally = tally

    def take(self, part: Part, values: pa.Array) -> None:
        if isinstance(part, Leaf):
            self.columns[part.column] = values
        elif isinstance(part, Fields):
            for inner, field_values in zip(part.parts, values.flatten(), strict=True):
                self.take(inner, field_values)
        elif isinstance(part, Elements):
            self._take_list(part, values)
        else:
            self._take_text(part, values)

    def _take_list(self, part: Elements, values: pa.Array) -> None:
        lists = values.cast(entries_type(values.type)) if pa.types.is_map(values.type) else values
        lengths = pc.list_value_length(lists)
        self.columns[part.count] = lengths
        self._tally.elements[part.table] += pc.sum(lengths).as_py() or 0
        self.lists.append((part.table, lists))

    def _take_text(self, part: JsonText, values: pa.Array) -> None:
        texts = read_texts(values, part.type)
        if texts.seen is not None:
            self._tally.seen[part.path] = merge(self._tally.seen.get(part.path, NOTHING), texts.seen)
        self._tally.kept[part.path] += len(texts.kept) - texts.kept.null_count
        self.columns[part.column] = texts.kept
        self.take(part.inside, texts.values)


def _lengths(lists: pa.Array) -> np.ndarray:
    lengths: np.ndarray = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return lengths


def _child_keys(keys: Sequence[pa.Array], lengths: np.ndarray) -> Sequence[pa.Array]:
    """The keys of the records, once for each element of their lists, and the places of the elements in these."""
    total = int(lengths.sum())
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    positions = np.arange(total) - np.repeat(starts, lengths)
    above = [pa.array(np.repeat(key.to_numpy(), lengths)) for key in keys]
    return [*above, pa.array(positions.astype(np.int32))]
