"""The records of a file in batches, each record accounted for, whatever the format."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.blocks import read_blocks, read_range
from mason.pipeline.columnar_files import parsing
from mason.pipeline.csv_chunks import CHUNK, Chunk, cut_chunks
from mason.pipeline.csv_parse import Dialect, ParsedChunk, join_fields, parse_chunk
from mason.pipeline.files import DataFile
from mason.pipeline.json_parse import Line, ParsedLines, cut_lines, lines_in, parse_lines
from mason.pipeline.json_values import NotAnObject, load, load_object
from mason.pipeline.merge.task import FileInTask
from mason.pipeline.rejects import Reject
from mason.pipeline.row_group_splits import groups_in
from mason.pipeline.sources import ArrowSource, Source, TextSource, ValueSource, with_text_inside

BLOCK = CHUNK  # one block is one chunk: nothing is copied to make it larger
ROWS = 20_000
ROW_GROUP = 122_880
READ_BUFFER = 1024 * 1024
MOST_MISSES = 3  # a file whose chunks were so often in a row too odd for the fast parser is not tried any more


class CannotBeCut(Exception):
    """A quote stands where none belongs: the ranges of this file need not begin with a record."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True)
class Place:
    """Where a record stands: its number from 1, its first byte (-1 where unknown), and its text, if it has one."""

    record: int
    offset: int
    raw: str | None = None


@dataclass(frozen=True)
class Batch:
    """Some rows of a file by column, and the records that are no rows. `records` counts both."""

    columns: Mapping[str, Source]
    rows: int
    records: int
    rejects: Sequence[Reject] = ()
    place: Callable[[int], Place] | None = None
    """Says of a row where it stands in the file; asked only for rows that turn out to be bad."""

    def describe(self, file: str, index: int) -> Reject:
        """Return a row as the record that it was, still without what is wrong with it."""
        place = self.place(index) if self.place else Place(-1, -1)
        raw = place.raw if place.raw is not None else self._as_json(index)
        return Reject(file, place.record, place.offset, "", "", raw)

    def _as_json(self, index: int) -> str:
        values = {name: source.value(index) for name, source in self.columns.items()}
        return json.dumps(values, ensure_ascii=False, default=str)


def read_batches(
    filesystem: pafs.FileSystem,
    file: FileInTask,
    nulls: Sequence[str],
    schema: pa.Schema,
    columns: Collection[str] = (),
) -> Iterator[Batch]:
    """Yield the records of a file. The schema, which is the table's, says what a fast parser may expect.

    Columns are those that are needed, by their names in the file: others are left out where that saves work.

    Raises:
        UnreadableFile: it cannot be read, or is not what it was when the plan was made.
    """
    _check_unchanged(filesystem, file)
    if file.is_own and file.format != "parquet":
        yield from _read_own(filesystem, file, schema, columns)
    else:
        yield from _read(filesystem, file, nulls, schema, columns)
    _check_unchanged(filesystem, file)


def _read(
    filesystem: pafs.FileSystem, file: FileInTask, nulls: Sequence[str], schema: pa.Schema, columns: Collection[str]
) -> Iterator[Batch]:
    if file.format == "csv":
        yield from _read_csv(filesystem, file, nulls)
    elif file.format == "jsonl":
        yield from _read_json_lines(filesystem, file, schema)
    elif file.format == "parquet":
        yield from _read_parquet(filesystem, file, columns)
    else:
        yield from _READERS[file.format](filesystem, file)


def _read_own(
    filesystem: pafs.FileSystem, file: FileInTask, schema: pa.Schema, columns: Collection[str]
) -> Iterator[Batch]:
    """A file that Mason wrote: whatever the format made of its types is taken back."""
    from mason.pipeline.writers.read_back import read_back, stored_types

    for batch in _read(filesystem, file, (), stored_types(file.format, schema), columns):
        found = read_back(file.name, file.format, batch.columns, file.columns, schema, batch.rows, columns)
        yield replace(batch, columns=found)


def _check_unchanged(filesystem: pafs.FileSystem, file: FileInTask) -> None:
    info = filesystem.get_file_info(file.path)
    if info.type != pafs.FileType.File:
        raise UnreadableFile(file.name, "it vanished after the plan was made.", hint="Run the merge again.")
    if (info.size, info.mtime_ns or 0) != (file.size, file.modified_ns):
        raise UnreadableFile(file.name, "it was changed after the plan was made.", hint="Run the merge again.")


def _read_csv(filesystem: pafs.FileSystem, file: FileInTask, nulls: Sequence[str]) -> Iterator[Batch]:
    dialect = Dialect(file.delimiter, len(file.columns), nulls)
    number = 1  # in a range it counts from there: the driver knows what stands before it
    for chunk in cut_chunks(_utf8_blocks(filesystem, file), file.delimiter, offset=file.offset):
        if chunk.scan.has_stray_quotes and not file.is_whole:
            raise CannotBeCut(file.path)
        parsed = parse_chunk(chunk, dialect)
        skipped = _header_rows(file, chunk, parsed) if chunk.offset == 0 and file.header and parsed.records else 0
        yield _csv_batch(file, chunk, parsed, number, skipped)
        number += max(len(chunk.scan.ends), parsed.records)


def _header_rows(file: FileInTask, chunk: Chunk, parsed: ParsedChunk) -> int:
    """How many rows the header takes: itself, and in a file of one column the blank lines before it.

    Raises:
        UnreadableFile: the header is no good record, so that the row after it would be taken for it.
    """
    if parsed.bad and (not len(parsed.indices) or parsed.bad[0].index < parsed.indices[0]):
        raise UnreadableFile(file.name, f"its header cannot be read: {parsed.bad[0].reason}.")
    blank = chunk.text[: len(chunk.text) - len(chunk.text.lstrip(b"\r\n"))]
    return 1 + (len(blank.splitlines()) if len(file.columns) == 1 else 0)


def _csv_batch(file: FileInTask, chunk: Chunk, parsed: ParsedChunk, number: int, skipped: int) -> Batch:
    columns = {
        name: TextSource(column.slice(skipped)) for name, column in zip(file.columns, parsed.columns, strict=True)
    }
    rejects = [
        Reject(file.name, number + each.index, _offset(chunk, each.index), "", each.reason, each.raw)
        for each in parsed.bad
    ]

    def place(row: int) -> Place:
        index = int(parsed.indices[row + skipped])
        return Place(number + index, _offset(chunk, index), _csv_text(file, chunk, columns, index, row))

    return Batch(columns, len(parsed.indices) - skipped, parsed.records - skipped, rejects, place)


def _csv_text(file: FileInTask, chunk: Chunk, columns: Mapping[str, TextSource], index: int, row: int) -> str:
    """The text of a record: as it stands in the chunk, or put together again where quotes cannot be trusted."""
    ends = chunk.scan.ends
    if chunk.scan.has_stray_quotes or index >= len(ends):
        return join_fields([source.value(row) for source in columns.values()], file.delimiter)
    start = int(ends[index - 1]) if index else 0
    return chunk.text[start : int(ends[index])].decode("utf-8", "surrogateescape").rstrip("\r\n")


def _offset(chunk: Chunk, index: int) -> int:
    """Where a record begins; only the chunk's beginning is known where quotes cannot be trusted."""
    reliable = not chunk.scan.has_stray_quotes and 0 < index <= len(chunk.scan.ends)
    return chunk.offset + (int(chunk.scan.ends[index - 1]) if reliable else 0)


def _utf8_blocks(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[bytes]:
    """Yield the file's text in UTF-8. What cannot be decoded stays as it is, for the reader of records to refuse."""
    blocks = _blocks(filesystem, file)
    if codecs.lookup(file.encoding or "utf-8").name == "utf-8":
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(file.encoding)("surrogateescape")
    try:
        for block in blocks:
            yield decoder.decode(block).encode("utf-8", "surrogateescape")
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")
    except UnicodeDecodeError as error:  # UTF-16, whose broken pairs nothing can stand for
        raise UnreadableFile(file.name, f"it is not valid {file.encoding.upper()}: {error.reason}.") from error


def _blocks(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[bytes]:
    data = DataFile(file.path, file.name, file.size)
    if file.is_whole:
        return read_blocks(filesystem, data, BLOCK)
    return read_range(filesystem, data, file.offset, file.length, BLOCK)


def _read_json_lines(filesystem: pafs.FileSystem, file: FileInTask, schema: pa.Schema) -> Iterator[Batch]:
    targets = _types_in_file(file, schema)
    number, offset, misses = 1, file.offset, 0
    for text in cut_lines(_utf8_blocks(filesystem, file), BLOCK):
        parsed = parse_lines(text, targets, file.constants) if misses < MOST_MISSES else None
        misses = misses + 1 if parsed is None else 0
        lines = partial(lines_in, text, number, offset)
        yield from _load_lines(file, lines()) if parsed is None else [_parsed_batch(parsed, lines)]
        number += text.count(b"\n") if parsed is None else parsed.lines
        offset += len(text)


def _types_in_file(file: FileInTask, schema: pa.Schema) -> dict[str, pa.DataType]:
    """The table's types by the names that the columns have in the file."""
    others = {*file.constants, *file.renames.values()}
    names = {name: name for name in schema.names if name not in others} | dict(file.renames)
    return {old: schema.field(new).type for old, new in names.items() if new in schema.names}


def _parsed_batch(parsed: ParsedLines, lines: Callable[[], Iterator[Line]]) -> Batch:
    placed = cache(lambda: list(map(_place, lines())))
    return Batch(parsed.columns, parsed.rows, parsed.rows, place=lambda row: placed()[row])


def _load_lines(file: FileInTask, lines: Iterator[Line]) -> Iterator[Batch]:
    while some := list(islice(lines, ROWS)):
        yield _loaded_batch(file, some)


def _loaded_batch(file: FileInTask, lines: Sequence[Line]) -> Batch:
    """Read lines one by one: whatever is wrong with one of them does not touch the others."""
    rows, good, rejects = [], [], []
    for line in lines:
        try:
            rows.append(load_object(line.text))
            good.append(line)
        except NotAnObject as problem:
            rejects.append(Reject(file.name, line.number, line.offset, "", str(problem), line.raw))
    return replace(_rows_batch(rows, len(lines), rejects), place=lambda row: _place(good[row]))


def _place(line: Line) -> Place:
    return Place(line.number, line.offset, line.raw)


def _read_json(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    """Read an array of objects, or one object: JSON that is not in lines has no place to be cut at."""
    content = b"".join(_utf8_blocks(filesystem, file)).removeprefix(codecs.BOM_UTF8)
    try:
        value = load(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(file.name, f"it is not valid JSON: {error}.") from error
    elements = value if isinstance(value, list) else [value]
    rows = [each for each in elements if isinstance(each, dict)]
    rejects = [
        Reject(file.name, number, -1, "", "it is not a JSON object", json.dumps(each))
        for number, each in enumerate(elements, 1)
        if not isinstance(each, dict)
    ]
    yield _rows_batch(rows, len(elements), rejects)


def _read_msgpack(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    from mason.pipeline.msgpack_files import Maps

    maps = Maps(file.name, _blocks(filesystem, file))
    while (rows := maps.take(ROWS)) or maps.others:
        rejects = [
            Reject(file.name, number, -1, "", "it is not a Msgpack map", json.dumps(value, default=str))
            for number, value in maps.others
        ]
        maps.others.clear()
        yield _rows_batch(rows, len(rows) + len(rejects), rejects)
    if maps.problem:
        raise UnreadableFile(file.name, f"only its beginning could be read: {maps.problem}.")


def _rows_batch(rows: Sequence[Mapping[Any, Any]], records: int, rejects: Sequence[Reject]) -> Batch:
    names = dict.fromkeys(str(name) for row in rows for name in row)
    columns: dict[str, Source] = {name: ValueSource([row.get(name) for row in rows]) for name in names}
    return Batch(columns, len(rows), records, rejects)


def _read_parquet(filesystem: pafs.FileSystem, file: FileInTask, columns: Collection[str]) -> Iterator[Batch]:
    import pyarrow.parquet as pq

    with filesystem.open_input_file(file.path) as source, parsing(file.name, "Parquet"):
        # Without a buffer whole column chunks would be loaded: of a file with one row group that is all of it.
        parquet = pq.ParquetFile(source, buffer_size=READ_BUFFER, pre_buffer=False)
        stored = parquet.metadata
        groups = groups_in(stored, file.offset, file.length)
        wanted = _wanted(file, columns)
        batches = parquet.iter_batches(_rows_at_once(stored), groups, wanted, use_threads=False)
        before = sum(stored.row_group(group).num_rows for group in range(groups[0] if groups else 0))
        rows = sum(stored.row_group(group).num_rows for group in groups)
        yield from _declared(file, file.columns if wanted is None else wanted, batches, rows, before)


def _wanted(file: FileInTask, columns: Collection[str]) -> list[str] | None:
    """The columns to be read; all, where the names need not be what they seem: a dot may stand for something nested."""
    if not columns or file.renames or any("." in name for name in file.columns):
        return None
    return [name for name in file.columns if name in columns]


def _rows_at_once(stored: Any) -> int:
    """As many rows as make a good row group again, but no more than fit some memory."""
    groups = [stored.row_group(number) for number in range(stored.num_row_groups)]
    size = sum(group.total_byte_size for group in groups) // max(stored.num_rows, 1) + 1
    return max(min(ROW_GROUP, int(4 * BLOCK // size)), 1)


def _read_orc(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    from pyarrow import orc

    with filesystem.open_input_file(file.path) as source, parsing(file.name, "ORC"):
        stored = orc.ORCFile(source)
        yield from _declared(file, file.columns, map(stored.read_stripe, range(stored.nstripes)), stored.nrows)


def _read_avro(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    import fastavro

    from mason.pipeline.avro_types import arrow_schema

    with filesystem.open_input_stream(file.path, compression=None) as source, parsing(file.name, "Avro"):
        reader = fastavro.reader(source)
        schema = arrow_schema(reader.writer_schema)
        while rows := list(islice(reader, ROWS)):
            columns: dict[str, Source] = {
                field.name: ArrowSource(
                    pa.array(with_text_inside([row.get(field.name) for row in rows], field.type), field.type)
                )
                for field in schema
            }
            yield Batch(columns, len(rows), len(rows))


def _counted_from(before: int) -> Callable[[int], Place]:
    return lambda index: Place(before + index + 1, -1)


def _declared(
    file: FileInTask, names: Sequence[str], batches: Iterable[pa.RecordBatch], rows: int, before: int = 0
) -> Iterator[Batch]:
    """Yield what the batches hold, and hold them against the count in the file's footer."""
    seen = 0
    for batch in batches:
        columns: dict[str, Source] = {
            # By position: names that the file has twice are others in the table.
            name: ArrowSource(column)
            for name, column in zip(names, batch.columns, strict=True)
        }
        yield Batch(columns, batch.num_rows, batch.num_rows, place=_counted_from(before + seen))
        seen += batch.num_rows
    if seen != rows:
        raise UnreadableFile(file.name, f"its footer says {rows:,} rows, and {seen:,} were read.")


_READERS: Mapping[str, Callable[[pafs.FileSystem, FileInTask], Iterator[Batch]]] = {
    "json": _read_json,
    "msgpack": _read_msgpack,
    "orc": _read_orc,
    "avro": _read_avro,
}
