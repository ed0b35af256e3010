"""A few rows of a table, quickly: no more is read than they need."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.pipeline.formats.binary.parquet_files import open_parquet
from mason.pipeline.formats.sources import ArrowSource, Source
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.request import choose_columns
from mason.pipeline.reading.tasks.batches import Batch
from mason.pipeline.reading.view import TableView
from mason.pipeline.storage.archives import inside
from mason.pipeline.tables.rejects import Reject
from mason.pipeline.types.python_values import python_value, python_values
from mason.pipeline.work.memory_limits import ResultTooLarge, memory_limits, size_of
from mason.util.json_text import json_value
from mason.util.text_table import clip_lines
from mason.util.words import counted

_LONGEST_CELL = 200


@dataclass(frozen=True)
class Preview:
    """Some rows of a table, with the types of their columns."""

    schema: pa.Schema
    rows: Sequence[dict[str, Any]]
    left_out: int = 0
    """How many records could not be read, of those that were looked at."""

    @property
    def warnings(self) -> Sequence[str]:
        if not self.left_out:
            return []
        left = counted(self.left_out, "record")
        return [f"Left out, since unreadable: {left}. A merge of the files keeps such records in its quarantine."]

    def picture(self, width: int) -> list[str]:
        """Return the rows as a table, as many columns of it as have room."""
        names = self.schema.names[:width]
        types = [str(self.schema.field(name).type) for name in names]
        rows = [[_cell(row[name]) for name in names] for row in self.rows]
        lines, fitting = clip_lines([*map(_cell, names)], [types, *rows], width)
        hidden = len(self.schema) - fitting
        return [*lines, f"… and {counted(hidden, 'column')} more"] if hidden else lines

    def to_dict(self) -> dict[str, Any]:
        return {"Columns": _describe_columns(self.schema), "Rows": list(self.rows)}


def preview_plan(view: TableView, limit: int, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a preview would show, as far as that is known without reading a row.

    Raises:
        NoSuchColumn: a column that was asked for is not there.
    """
    schema, rows = choose_columns(view.schema, columns), view.rows_in_files
    document: dict[str, Any] = {
        "Inputs": [each.file.path for each in view.files],
        "Columns": _describe_columns(schema),
        "Limit": limit,
    }
    return document if rows is None else {**document, "RowsShown": min(limit, sum(rows))}


def preview_table(
    filesystem: pafs.FileSystem, view: TableView, limit: int, columns: Sequence[str] = (), *, at_random: bool = False
) -> Preview:
    """Return the first rows, or some at random: of Parquet any, of text those that a look into its files meets.

    Raises:
        NoSuchColumn: a column that was asked for is not there.
    """
    schema = choose_columns(view.schema, columns)
    bad: list[Reject] = []
    every = _random_rows(filesystem, view, limit, bad) if at_random else _rows(filesystem, view, limit, bad)
    chosen = ({name: row.get(name) for name in schema.names} for row in islice(every, limit))
    return Preview(schema, list(_within_limits(chosen)), len(bad))


def _within_limits(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows as long as they are not too large an answer: no more are read then."""
    most = memory_limits().result_bytes
    size = 0
    for row in rows:
        yield row
        size += 0 if most is None else size_of(row)
        if most is not None and size > most:
            raise ResultTooLarge(most)


def first_rows(filesystem: pafs.FileSystem, view: TableView, limit: int) -> pa.RecordBatch:
    """Return the first rows in the types of the table; a value that does not fit is null."""
    found, left = pa.RecordBatch.from_pylist([], view.schema), limit
    for file, batch in _batches(filesystem, view):
        rows = range(min(batch.rows, left))
        columns = {file.renames.get(name, name): source.take(rows) for name, source in batch.columns.items()}
        arrays = [_column(file, field, columns.get(field.name), len(rows)) for field in view.schema]
        found = pa.concat_batches([found, pa.record_batch(arrays, schema=view.schema)])
        left -= len(rows)
        if not left:
            break
    return found


def _column(file: PlannedFile, field: pa.Field, source: Source | None, rows: int) -> pa.Array:
    if file.constants.get(field.name) is not None:
        return pa.repeat(pa.scalar(file.constants[field.name]).cast(field.type), rows)
    if source is None or field.name in file.constants:
        return pa.nulls(rows, field.type)
    values = source.fit(field.type)
    return source.fit_given(field.type).values if values is None else values


def _rows(filesystem: pafs.FileSystem, view: TableView, limit: int, bad: list[Reject]) -> Iterator[dict[str, Any]]:
    for file, batch in _batches(filesystem, view):
        bad += batch.rejects
        yield from _fit_rows(view.schema, file, batch, range(min(batch.rows, limit)))


def _batches(filesystem: pafs.FileSystem, view: TableView) -> Iterator[tuple[PlannedFile, Batch]]:
    for file in view.files:
        for batch in view.batches(filesystem, file):
            yield file, batch


def _random_rows(
    filesystem: pafs.FileSystem, view: TableView, limit: int, bad: list[Reject]
) -> Iterator[dict[str, Any]]:
    """Rows from files chosen by how much they hold, so that a large file has its share of them."""
    chance = random.Random()
    chosen = _rows_by_file(view, limit, chance)
    for number in sorted(chosen):
        file = view.files[number]
        if file.schema.format == "parquet":
            yield from _any_of_parquet(filesystem, view.schema, file, chosen[number], chance)
        else:
            yield from _any_of_text(filesystem, view, file, chosen[number], chance, bad)


def _rows_by_file(view: TableView, limit: int, chance: random.Random) -> Counter[int]:
    """How many rows to take of each file, by its number: by their rows, or by their size where only that is known."""
    rows, files = view.rows_in_files, range(len(view.files))
    if not files or (rows is not None and not sum(rows)):
        return Counter()
    if rows is not None:
        return Counter(chance.sample(files, min(limit, sum(rows)), counts=rows))
    return Counter(chance.choices(files, [max(file.file.size, 1) for file in view.files], k=limit))


def _any_of_parquet(
    filesystem: pafs.FileSystem, schema: pa.Schema, file: PlannedFile, count: int, chance: random.Random
) -> Iterator[dict[str, Any]]:
    opened = inside(filesystem, file.file.archive).open_input_file(file.file.path)
    with opened as source, open_parquet(source) as stored:
        # A file of the table's own may be older than some of its columns.
        names = stored.schema_arrow.names if file.is_base else list(file.schema.columns)
        total = stored.metadata.num_rows
        wanted = sorted(chance.sample(range(total), min(count, total)))
        first = 0
        for number in range(stored.num_row_groups):
            rows = stored.metadata.row_group(number).num_rows
            here = [index - first for index in wanted if first <= index < first + rows]
            if here:
                columns = {
                    name: ArrowSource(values.combine_chunks())
                    for name, values in zip(names, stored.read_row_group(number).columns, strict=True)
                }
                yield from _fit_rows(schema, file, Batch(columns=columns, rows=rows, records=rows), here)
            first += rows


def _any_of_text(
    filesystem: pafs.FileSystem,
    view: TableView,
    file: PlannedFile,
    count: int,
    chance: random.Random,
    bad: list[Reject],
) -> Iterator[dict[str, Any]]:
    batch = next(view.batches(filesystem, file), None)
    if batch is not None:
        bad += batch.rejects
        yield from _fit_rows(view.schema, file, batch, sorted(chance.sample(range(batch.rows), min(count, batch.rows))))


def _fit_rows(schema: pa.Schema, file: PlannedFile, batch: Batch, indices: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Rows in the types of the table; a value that does not fit is shown as it is."""
    columns = {file.renames.get(name, name): source.take(indices) for name, source in batch.columns.items()}
    fitted = {name: _render_column(columns[name], schema.field(name).type) for name in schema.names if name in columns}
    constants = _constants(schema, file)
    for row in range(len(indices)):
        yield {**{name: values[row] for name, values in fitted.items()}, **constants}


def _render_column(source: Source, target: pa.DataType) -> list[Any]:
    values = source.fit(target)
    return python_values(source.fit_given(pa.string()).values if values is None else values)


def _describe_columns(schema: pa.Schema) -> list[dict[str, str]]:
    return [{"Name": field.name, "Type": str(field.type)} for field in schema]


def _cell(value: Any) -> str:
    """A value in one line: null as nothing, empty text as quotes, no text with what would move the cursor."""
    if value is None or value == "":
        return "" if value is None else '""'
    plain = json_value(value)
    text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text[:_LONGEST_CELL])


def _constants(schema: pa.Schema, file: PlannedFile) -> dict[str, Any]:
    return {
        name: None if value is None else python_value(pa.scalar(value).cast(schema.field(name).type))
        for name, value in file.constants.items()
    }
