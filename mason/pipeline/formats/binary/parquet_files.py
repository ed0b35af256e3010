"""How Parquet files are opened, the same wherever their rows or columns are read, and where they can be cut.

A row group belongs to the range in which it begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.pipeline.formats.scanning.splits import Range


def open_parquet(source: Any, **options: Any) -> pq.ParquetFile:
    """Return a Parquet file whose INT96 times come in microseconds and whose pages are held against their checksums.

    Spark 2, Hive and Impala write INT96. As nanoseconds, which Arrow takes it for, only the years 1677 to 2262 fit 64
    bits: any other would come out as another date.
    """
    return pq.ParquetFile(source, coerce_int96_timestamp_unit="us", page_checksum_verification=True, **options)


_MARKS = {
    "UUID": "a UUID: the table has its 16 bytes",
    "INTERVAL": "an interval: the table has its 12 bytes",
    "BSON": "BSON: the table has its bytes",
    "GEOMETRY": "a geometry: the table has its bytes (WKB), without their coordinate system",
    "GEOGRAPHY": "a geography: the table has its bytes (WKB), without their coordinate system",
}
_VARIANTS = re.compile(r"^  \w+ group field_id=-?[0-9]+ (.*) \(Variant\([0-9]+\)\) \{$", re.MULTILINE)
_GEO = b"geo"


def find_lost_marks(file: pq.ParquetFile) -> list[str]:
    """Return what a file says of its columns that a table of plain columns does not say."""
    leaves = [file.schema.column(number) for number in range(len(file.schema))]
    marks = [(leaf.path, _MARKS.get(leaf.logical_type.type) or _MARKS.get(leaf.converted_type)) for leaf in leaves]
    notes = [f'column "{path}" is {mark}' for path, mark in marks if mark]
    for name in _VARIANTS.findall(str(file.schema)):
        notes.append(f'column "{name}" is a VARIANT: the table has the parts that it is stored in')
    return [*notes, *_geo_notes((file.metadata.metadata or {}).get(_GEO))]


def _geo_notes(metadata: bytes | None) -> list[str]:
    """What GeoParquet says in the footer: which columns are geometries, and in which coordinate system."""
    if metadata is None:
        return []
    try:
        named = ", ".join(json.loads(metadata)["columns"])
    except (ValueError, TypeError, LookupError):
        named = "its columns"
    return [f"what GeoParquet says of {named} (encoding, coordinate system) is not in the table, their bytes are"]


def columns_of_words(file: pq.ParquetFile) -> list[str]:
    """Return the columns of an ENUM, which Arrow takes for bytes, and which are words."""
    leaves = [file.schema.column(number) for number in range(len(file.schema))]
    flat = set(file.schema_arrow.names)
    return [leaf.path for leaf in leaves if leaf.logical_type.type == "ENUM" and leaf.path in flat]


def columns_of_int96(stored: pq.FileMetaData, names: list[str]) -> list[str]:
    """Return those of some columns that hold INT96 times, and nothing nested."""
    columns = [stored.schema.column(number) for number in range(stored.num_columns)]
    found = {each.path for each in columns if each.physical_type == "INT96"}
    return [name for name in names if name in found]


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
