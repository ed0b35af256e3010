"""Where a Parquet file can be cut: a row group belongs to the range in which it begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.pipeline.formats.scanning.splits import Range

_CUT_BYTES = 32 * 1024 * 1024


def find_group_ranges(filesystem: pafs.FileSystem, path: str, size: int) -> Sequence[Range]:
    """Return ranges that tile a large file; none for one that is small, or has but one row group."""
    if size < 2 * _CUT_BYTES:
        return ()
    with filesystem.open_input_file(path) as source:
        stored = pq.ParquetFile(source).metadata
    starts = [0]
    for group in range(1, stored.num_row_groups):
        begin = _begin(stored, group)
        if begin - starts[-1] >= _CUT_BYTES and size - begin >= _CUT_BYTES // 2:
            starts.append(begin)
    ends = [*starts[1:], size]
    return [Range(start, end - start) for start, end in zip(starts, ends, strict=True)] if len(starts) > 1 else ()


def groups_in(stored: Any, offset: int, length: int) -> list[int]:
    """Return the row groups of a range, given the file's footer."""
    begins = [0, *(_begin(stored, group) for group in range(1, stored.num_row_groups))]
    return [group for group in range(stored.num_row_groups) if offset <= begins[group] < offset + length]


def _begin(stored: Any, group: int) -> int:
    columns = [stored.row_group(group).column(number) for number in range(stored.num_columns)]
    return min((_first_page(each) for each in columns), default=0)


def _first_page(column: Any) -> int:
    first: int = column.data_page_offset
    return min(first, column.dictionary_page_offset) if column.has_dictionary_page else first
