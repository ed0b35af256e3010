"""The records of a file in batches, each record accounted for, whatever the format."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.blocks import read_blocks, read_range
from mason.pipeline.csv_chunks import CHUNK, Chunk, cut_chunks
from mason.pipeline.csv_parse import Dialect, ParsedChunk, parse_chunk
from mason.pipeline.files import DataFile
from mason.pipeline.merge.task import FileInTask
from mason.pipeline.rejects import Reject
from mason.pipeline.sources import ArrowSource, Source, TextSource, ValueSource

BLOCK = CHUNK  # one block is one chunk: nothing is copied to make it larger
ROWS = 20_000


@dataclass(frozen=True)
class Batch:
    """Some rows of a file by column, and the records that are no rows. `records` counts both."""

    columns: Mapping[str, Source]
    rows: int
    records: int
    rejects: Sequence[Reject] = ()


def read_batches(filesystem: pafs.FileSystem, file: FileInTask, nulls: Sequence[str]) -> Iterator[Batch]:
    """Yield the records of a file.

    Raises:
        UnreadableFile: it cannot be read, or is not what it was when the plan was made.
    """
    _check_unchanged(filesystem, file)
    if file.format == "csv":
        yield from _read_csv(filesystem, file, nulls)
    else:
        yield from _READERS[file.format](filesystem, file)
    _check_unchanged(filesystem, file)


def _check_unchanged(filesystem: pafs.FileSystem, file: FileInTask) -> None:
    info = filesystem.get_file_info(file.path)
    if info.type != pafs.FileType.File:
        raise UnreadableFile(file.name, "it vanished after the plan was made.", hint="Run the merge again.")
    if (info.size, info.mtime_ns or 0) != (file.size, file.modified_ns):
        raise UnreadableFile(file.name, "it was changed after the plan was made.", hint="Run the merge again.")


def _read_csv(filesystem: pafs.FileSystem, file: FileInTask, nulls: Sequence[str]) -> Iterator[Batch]:
    dialect = Dialect(file.delimiter, len(file.columns), nulls)
    number = file.first_record
    for chunk in cut_chunks(_utf8_blocks(filesystem, file), file.delimiter, offset=file.offset):
        is_first = chunk.offset == 0
        parsed = parse_chunk(chunk, dialect)
        skipped = 1 if is_first and file.header and parsed.records else 0
        yield _csv_batch(file, chunk, parsed, number, skipped)
        number += max(len(chunk.scan.ends), parsed.records)


def _csv_batch(file: FileInTask, chunk: Chunk, parsed: ParsedChunk, number: int, skipped: int) -> Batch:
    columns = {
        name: TextSource(column.slice(skipped)) for name, column in zip(file.columns, parsed.columns, strict=True)
    }
    rejects = [
        Reject(file.name, number + each.index, _offset(chunk, each.index), "", each.reason, each.raw)
        for each in parsed.bad
    ]
    return Batch(columns, len(parsed.indices) - skipped, parsed.records - skipped, rejects)


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
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "surrogateescape")
    yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")


def _blocks(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[bytes]:
    data = DataFile(file.path, file.name, file.size)
    if file.is_whole:
        return read_blocks(filesystem, data, BLOCK)
    return read_range(filesystem, data, file.offset, file.length, BLOCK)


def _read_json_lines(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    lines = enumerate(_lines(_utf8_blocks(filesystem, file)), 1)
    while some := list(islice(lines, ROWS)):
        present = [(number, line) for number, line in some if line.strip()]
        rows, rejects = [], []
        for number, line in present:
            value = _loaded(line)
            if isinstance(value, dict):
                rows.append(value)
            else:
                raw = line.decode("utf-8", "surrogateescape")
                rejects.append(Reject(file.name, number, -1, "", "it is not a JSON object", raw))
        yield _rows_batch(rows, len(present), rejects)


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(line.removeprefix(codecs.BOM_UTF8))
    except (ValueError, RecursionError):
        return None


def _read_json(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    """Read an array of objects, or one object: JSON that is not in lines has no place to be cut at."""
    content = b"".join(_utf8_blocks(filesystem, file)).removeprefix(codecs.BOM_UTF8)
    try:
        value = json.loads(content)
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
    while rows := maps.take(ROWS):
        yield _rows_batch(rows, len(rows), [])
    if maps.problem:
        raise UnreadableFile(file.name, f"only its beginning could be read: {maps.problem}.")


def _rows_batch(rows: Sequence[Mapping[Any, Any]], records: int, rejects: Sequence[Reject]) -> Batch:
    names = dict.fromkeys(str(name) for row in rows for name in row)
    columns: dict[str, Source] = {name: ValueSource([row.get(name) for row in rows]) for name in names}
    return Batch(columns, len(rows), records, rejects)


def _read_parquet(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    import pyarrow.parquet as pq

    with filesystem.open_input_file(file.path) as source:
        parquet = pq.ParquetFile(source)
        yield from _declared(file, parquet.iter_batches(batch_size=ROWS, use_threads=False), parquet.metadata.num_rows)


def _read_orc(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    from pyarrow import orc

    with filesystem.open_input_file(file.path) as source:
        stored = orc.ORCFile(source)
        yield from _declared(file, map(stored.read_stripe, range(stored.nstripes)), stored.nrows)


def _read_avro(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    import fastavro

    from mason.pipeline.avro_types import arrow_schema

    with filesystem.open_input_stream(file.path, compression=None) as source:
        reader = fastavro.reader(source)
        schema = arrow_schema(reader.writer_schema)
        while rows := list(islice(reader, ROWS)):
            columns: dict[str, Source] = {
                field.name: ArrowSource(pa.array([row.get(field.name) for row in rows], field.type)) for field in schema
            }
            yield Batch(columns, len(rows), len(rows))


def _declared(file: FileInTask, batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[Batch]:
    """Yield what the batches hold, and hold them against the count in the file's footer."""
    seen = 0
    for batch in batches:
        seen += batch.num_rows
        columns: dict[str, Source] = {
            name: ArrowSource(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }
        yield Batch(columns, batch.num_rows, batch.num_rows)
    if seen != rows:
        raise UnreadableFile(file.name, f"its footer says {rows:,} rows, and {seen:,} were read.")


_READERS: Mapping[str, Callable[[pafs.FileSystem, FileInTask], Iterator[Batch]]] = {
    "jsonl": _read_json_lines,
    "json": _read_json,
    "msgpack": _read_msgpack,
    "parquet": _read_parquet,
    "orc": _read_orc,
    "avro": _read_avro,
}
