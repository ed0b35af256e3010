"""The records of delimited text in batches, each record accounted for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.formats.delimited.dialect import Ragged
from mason.pipeline.formats.delimited.reading import LOOK, CsvReading, Records, records_of, start_of_records
from mason.pipeline.formats.scanning.chunks import Chunk, split_chunks
from mason.pipeline.formats.scanning.csv_parse import BadRecord, Layout, ParsedChunk, parse_chunk
from mason.pipeline.formats.scanning.csv_typed import can_be_typed, parse_typed, sources_of
from mason.pipeline.formats.scanning.header_repeats import REPEATS, find_repeats
from mason.pipeline.formats.sources import Source, TextSource
from mason.pipeline.reading.tasks.batches import Batch, CannotBeCut, Place
from mason.pipeline.reading.tasks.task import FileInTask
from mason.pipeline.reading.tasks.text_blocks import utf8_blocks
from mason.pipeline.reading.tasks.text_checks import long_record, reject_long_fields
from mason.pipeline.storage.blocks import open_bytes
from mason.pipeline.storage.blocks import translate_read_errors as opening
from mason.pipeline.storage.format_names import codec_of
from mason.pipeline.storage.object_store import StreamingFiles
from mason.pipeline.tables.rejects import Reject

_LARGE = 16 * LOOK
MOST_MISSES = 3  # a file whose chunks were so often in a row not as one writes the values is not tried any more


def read_csv(
    filesystem: pafs.FileSystem, file: FileInTask, nulls: Sequence[str], targets: Mapping[str, pa.DataType]
) -> Iterator[Batch]:
    """Yield the records of a file. `targets` are the types that the table has for its columns."""
    assert file.csv is not None, "how a delimited file is read is known by now"
    layout = Layout(
        dialect=file.csv.dialect,
        width=len(file.columns),
        nulls=nulls,
        surplus=file.csv.surplus,
        ragged=file.csv.ragged,
        all_quoted=file.csv.all_quoted,
    )
    types = _types_to_try(file, targets)
    misses = 0
    notes: list[str] = []
    records = _records(filesystem, file, file.csv, notes)
    number = records.number  # in a range it counts from there: the driver knows what stands before it
    chunks = split_chunks(
        records.blocks, layout.dialect, layout.fields, offset=records.offset, most_field=file.field_bytes
    )
    doubtful = 0
    for chunk in chunks:
        if chunk.passed_over:
            yield _pass_over_record(file, chunk, number)
            number += 1
            continue
        if chunk.scan.odd and not file.is_whole:
            raise CannotBeCut(file.path)
        doubtful += sum(each.record.doubtful for each in chunk.scan.odd)
        typed = parse_typed(chunk, layout, types) if misses < MOST_MISSES else None
        if typed is not None and not len(_repeats(file, typed)):
            misses = 0
            sources = sources_of(typed, chunk, layout)
            yield reject_long_fields(_csv_batch(file, chunk, typed, sources, number), file, len(chunk.text))
            number += chunk.scan.records
            continue
        misses += 1
        parsed = parse_chunk(chunk, layout)
        if parsed.bad and layout.ragged is Ragged.REFUSE:
            raise _refuse_record(file, parsed.bad[0], number)
        parsed = _without_repeats(file, parsed)
        batch = _csv_batch(file, chunk, parsed, list(map(TextSource, parsed.columns)), number)
        yield reject_long_fields(batch, file, len(chunk.text))
        number += chunk.scan.records
    if doubtful:
        notes.append(_describe_doubtful(doubtful))
    if notes:
        yield Batch(columns={}, rows=0, records=0, notes=notes)


def _describe_doubtful(records: int) -> str:
    which = "1 record holds" if records == 1 else f"{records:,} records hold"
    return f"{which} lines that look like records, and {'is' if records == 1 else 'are'} read as text in quotes"


def _repeats(file: FileInTask, parsed: ParsedChunk) -> npt.NDArray[np.int64]:
    """The rows that are the header once more; in one column they may be values."""
    assert file.csv is not None
    if file.is_own or not file.csv.header or (len(file.columns) == 1 and not file.csv.repeats):
        return np.zeros(0, dtype=np.int64)
    return find_repeats(parsed.columns, file.csv.cells or file.columns)


def _without_repeats(file: FileInTask, parsed: ParsedChunk) -> ParsedChunk:
    rows = _repeats(file, parsed)
    if not len(rows):
        return parsed
    found = [BadRecord(index, REPEATS) for index in parsed.indices[rows].tolist()]
    others = np.delete(np.arange(len(parsed.indices)), rows)
    columns = [values.take(pa.array(others)) for values in parsed.columns]
    bad = sorted([*parsed.bad, *found], key=lambda each: each.index)
    return replace(parsed, columns=columns, indices=parsed.indices[others], bad=bad)


def _records(filesystem: pafs.FileSystem, file: FileInTask, reading: CsvReading, notes: list[str]) -> Records:
    if file.offset:
        return Records(utf8_blocks(filesystem, file, notes), file.offset, 1)
    start = _find_start(filesystem, file, reading) if _can_be_entered(filesystem, file, reading) else None
    if start is None:
        return records_of(file.name, utf8_blocks(filesystem, file, notes), reading, file.field_bytes)
    behind = replace(file, offset=start, length=file.length - start)
    return Records(utf8_blocks(filesystem, behind, notes), start, 1 + reading.header)


def _can_be_entered(filesystem: pafs.FileSystem, file: FileInTask, reading: CsvReading) -> bool:
    """Whether to begin behind the header costs less than to cut it off, which copies a block.

    A store is asked twice for it, and a small file opened twice.
    """
    plain = file.encoding == "utf-8" and not (file.archive or reading.skip_footer)
    return plain and file.length > _LARGE and not isinstance(filesystem, StreamingFiles)


def _find_start(filesystem: pafs.FileSystem, file: FileInTask, reading: CsvReading) -> int | None:
    with opening(file.data, filesystem), open_bytes(filesystem, file.path) as raw:
        begun = raw.read(LOOK)
    return None if codec_of(begun) else start_of_records(file.name, begun, reading, final=False)


def _refuse_record(file: FileInTask, bad: BadRecord, number: int) -> UnreadableFile:
    hint = "Mend the file, or have such records filled up (ragged: pad), cut (ragged: cut) or set aside."
    return UnreadableFile(file.name, f"record {number + bad.index:,}: {bad.reason}.", hint=hint)


def _pass_over_record(file: FileInTask, chunk: Chunk, number: int) -> Batch:
    """Return the record of which only the beginning was read."""
    begins = chunk.read.decode("utf-8", "surrogateescape")
    reject = long_record(file, number, chunk.offset, chunk.passed_over, begins)
    return Batch(columns={}, rows=0, records=1, rejects=[reject])


def _types_to_try(file: FileInTask, targets: Mapping[str, pa.DataType]) -> dict[int, pa.DataType]:
    wanted = {number: targets.get(name, pa.string()) for number, name in enumerate(file.columns)}
    return {number: target for number, target in wanted.items() if can_be_typed(target)}


def _csv_batch(file: FileInTask, chunk: Chunk, parsed: ParsedChunk, sources: Sequence[Source], number: int) -> Batch:
    columns = dict(zip(file.columns, sources, strict=True))
    rejects = [
        Reject(file.name, number + each.index, _offset(chunk, each.index), "", each.reason, chunk.raw(each.index))
        for each in parsed.bad
    ]

    def place(row: int) -> Place:
        index = int(parsed.indices[row])
        return Place(number + index, _offset(chunk, index), chunk.raw(index))

    return Batch(
        columns=columns, rows=len(parsed.indices), records=parsed.records, rejects=rejects, place=place, cut=parsed.cut
    )


def _offset(chunk: Chunk, index: int) -> int:
    """Where a record begins."""
    return chunk.offset + (int(chunk.scan.ends[index - 1]) if index else 0)
