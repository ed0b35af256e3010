"""The number of each task's first row, known before the tasks run: however the files are cut, a row has the same one.

What is counted are the records in the files, without parsing them. Where a record turns out to be none, or nothing can
be counted so, the numbers are wrong; whoever runs the tasks sees that, and runs them again with the right ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, islice

import numpy as np
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.pipeline.formats.binary.parquet_files import groups_in
from mason.pipeline.formats.delimited.reading import records_of
from mason.pipeline.formats.json.parse import CHUNK, LongLine, split_lines
from mason.pipeline.formats.scanning.chunks import split_chunks
from mason.pipeline.formats.scanning.record_marks import blank_records
from mason.pipeline.formats.scanning.splits import Range
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.plan.read_plan import ReadPlan
from mason.pipeline.storage.archives import inside
from mason.pipeline.storage.blocks import read_blocks, read_range
from mason.pipeline.work.memory_limits import memory_limits

_NEWLINE, _SPACE = b"\n "


def first_rows(filesystem: pafs.FileSystem, plan: ReadPlan) -> Sequence[int]:
    """Return how many records stand before each task of a plan."""
    *tasks, _ = plan.tasks() or [[]]  # nothing stands behind the last
    parts = [part for task in tasks for part in task]
    most = memory_limits().field_bytes  # asked here: the threads below have a context of their own
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = pool.map(lambda part: _records_in(filesystem, part[0], part[1], most), parts)
        return list(accumulate((sum(islice(counts, len(task))) for task in tasks), initial=0))


def _records_in(filesystem: pafs.FileSystem, planned: PlannedFile, part: Range, most: int | None) -> int:
    kind, filesystem = planned.schema.format, inside(filesystem, planned.file.archive)
    if kind == "parquet":
        with filesystem.open_input_file(planned.file.path) as source:
            stored = pq.read_metadata(source)
        return sum(stored.row_group(group).num_rows for group in groups_in(stored, part.offset, part.length))
    if kind == "jsonl":
        return sum(map(_lines_in, split_lines(_blocks(filesystem, planned, part), CHUNK, most)))
    if kind == "csv":
        return _rows_of_text(filesystem, planned, part, most)
    return planned.schema.stated_rows or 0


def _blocks(filesystem: pafs.FileSystem, planned: PlannedFile, part: Range) -> Iterator[bytes]:
    if part.length == planned.file.size:
        return read_blocks(filesystem, planned.file, CHUNK)
    return read_range(filesystem, planned.file, part.offset, part.length, CHUNK)


def _lines_in(text: bytes | LongLine) -> int:
    """Return how many lines are not blank."""
    if isinstance(text, LongLine):
        return 1
    content = np.frombuffer(text, dtype=np.uint8)
    starts = np.append(0, np.flatnonzero(content == _NEWLINE) + 1)
    starts = starts[starts < len(content)]
    doubtful = starts[content[starts] <= _SPACE]
    return len(starts) - sum(_is_blank(text, start) for start in doubtful.tolist())


def _is_blank(text: bytes, start: int) -> bool:
    end = text.find(b"\n", start)
    return not text[start : end if end >= 0 else len(text)].strip()


def _rows_of_text(filesystem: pafs.FileSystem, planned: PlannedFile, part: Range, most: int | None) -> int:
    reading, width = planned.schema.csv, len(planned.schema.columns)
    assert reading is not None
    blocks = _blocks(filesystem, planned, part)
    blocks = blocks if part.offset else records_of(planned.file.name, blocks, reading, most).blocks
    rows = 0
    for chunk in split_chunks(blocks, reading.dialect, width + reading.surplus, offset=part.offset, most_field=most):
        rows += len(chunk.scan.ends)
        if width > 1:
            rows -= int(np.count_nonzero(blank_records(chunk.text, chunk.scan)))
    return rows
