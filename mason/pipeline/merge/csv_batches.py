"""The records of delimited text in batches, each record accounted for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.csv_chunks import Chunk, cut_chunks
from mason.pipeline.csv_parse import Dialect, ParsedChunk, join_fields, parse_chunk
from mason.pipeline.csv_typed import can_be_typed, parse_typed, sources_of
from mason.pipeline.merge.batches import Batch, CannotBeCut, Place
from mason.pipeline.merge.long_fields import long_record, set_aside_long
from mason.pipeline.merge.task import FileInTask
from mason.pipeline.merge.text_blocks import utf8_blocks
from mason.pipeline.rejects import Reject
from mason.pipeline.sources import Source, TextSource

MOST_MISSES = 3  # a file whose chunks were so often in a row not as one writes the values is not tried any more


def read_csv(
    filesystem: pafs.FileSystem, file: FileInTask, nulls: Sequence[str], targets: Mapping[str, pa.DataType]
) -> Iterator[Batch]:
    """Yield the records of a file. `targets` are the types that the table has for its columns."""
    dialect = Dialect(file.delimiter, len(file.columns), nulls)
    types = _types_to_try(file, targets)
    number = 1  # in a range it counts from there: the driver knows what stands before it
    misses = 0
    blocks = utf8_blocks(filesystem, file)
    for chunk in cut_chunks(blocks, file.delimiter, offset=file.offset, most_field=file.field_bytes):
        if chunk.passed_over:
            yield _passed_over(file, chunk, number)
            number += 1
            continue
        if chunk.scan.has_stray_quotes and not file.is_whole:
            raise CannotBeCut(file.path)
        header = chunk.offset == 0 and file.header
        typed = parse_typed(chunk, dialect, types, header=header) if misses < MOST_MISSES else None
        if typed is not None:
            misses = 0
            sources = sources_of(typed, chunk, dialect, header=header)
            yield set_aside_long(_csv_batch(file, chunk, typed, sources, number), file, len(chunk.text))
            number += chunk.scan.records
            continue
        misses += 1
        parsed = parse_chunk(chunk, dialect)
        rows = parsed.without_first(_header_rows(file, chunk, parsed) if header and parsed.records else 0)
        batch = _csv_batch(file, chunk, rows, list(map(TextSource, rows.columns)), number)
        yield set_aside_long(batch, file, len(chunk.text))
        number += max(chunk.scan.records, parsed.records)


def _passed_over(file: FileInTask, chunk: Chunk, number: int) -> Batch:
    """Return the record of which only the beginning was read."""
    begins = chunk.read.decode("utf-8", "surrogateescape")
    if chunk.offset == 0 and file.header:
        raise UnreadableFile(file.name, f"its header has more than {file.field_bytes:,} bytes (field_bytes).")
    reject = long_record(file, number, chunk.offset, chunk.passed_over, begins)
    return Batch({}, 0, 1, [reject])


def _types_to_try(file: FileInTask, targets: Mapping[str, pa.DataType]) -> dict[int, pa.DataType]:
    wanted = {number: targets.get(name, pa.string()) for number, name in enumerate(file.columns)}
    return {number: target for number, target in wanted.items() if can_be_typed(target)}


def _header_rows(file: FileInTask, chunk: Chunk, parsed: ParsedChunk) -> int:
    """How many rows the header takes: itself, and in a file of one column the blank lines before it.

    Raises:
        UnreadableFile: the header is no good record, so that the row after it would be taken for it.
    """
    if parsed.bad and (not len(parsed.indices) or parsed.bad[0].index < parsed.indices[0]):
        raise UnreadableFile(file.name, f"its header cannot be read: {parsed.bad[0].reason}.")
    if len(file.columns) > 1:
        return 1
    text = chunk.text.tobytes()
    return 1 + len(text[: len(text) - len(text.lstrip(b"\r\n"))].splitlines())


def _csv_batch(file: FileInTask, chunk: Chunk, parsed: ParsedChunk, sources: Sequence[Source], number: int) -> Batch:
    columns = dict(zip(file.columns, sources, strict=True))
    rejects = [
        Reject(file.name, number + each.index, _offset(chunk, each.index), "", each.reason, each.raw)
        for each in parsed.bad
    ]

    def place(row: int) -> Place:
        index = int(parsed.indices[row])
        return Place(number + index, _offset(chunk, index), _csv_text(file, chunk, columns, index, row))

    return Batch(columns, len(parsed.indices), parsed.records, rejects, place)


def _csv_text(file: FileInTask, chunk: Chunk, columns: Mapping[str, Source], index: int, row: int) -> str:
    """The text of a record: as it stands in the chunk, or put together again where quotes cannot be trusted."""
    if chunk.scan.has_stray_quotes or index >= chunk.scan.records:
        return join_fields([source.value(row) for source in columns.values()], file.delimiter)
    ends = chunk.scan.ends
    start = int(ends[index - 1]) if index else 0
    return str(chunk.text[start : int(ends[index])], "utf-8", "surrogateescape").rstrip("\r\n")


def _offset(chunk: Chunk, index: int) -> int:
    """Where a record begins; only the chunk's beginning is known where quotes cannot be trusted."""
    reliable = not chunk.scan.has_stray_quotes and 0 < index <= chunk.scan.records
    return chunk.offset + (int(chunk.scan.ends[index - 1]) if reliable else 0)
