"""How Parquet files are opened: the same wherever their rows, or their columns, are looked at."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_FIRST, _LAST = -9_223_372_036_854_775, 9_223_372_036_854_775
"""The microseconds between which nanoseconds since 1970 fit 64 bits."""


def open_parquet(source: Any, **options: Any) -> pq.ParquetFile:
    """Return a Parquet file whose INT96 times come in microseconds and whose pages are held against their checksums.

    Spark 2, Hive and Impala write INT96. As nanoseconds, which Arrow takes it for, only the years 1677 to 2262 fit 64
    bits: any other would come out as another date.
    """
    return pq.ParquetFile(source, coerce_int96_timestamp_unit="us", page_checksum_verification=True, **options)


def columns_of_int96(stored: pq.FileMetaData, names: list[str]) -> list[str]:
    """Return those of some columns that hold INT96 times, and nothing nested."""
    columns = [stored.schema.column(number) for number in range(stored.num_columns)]
    found = {each.path for each in columns if each.physical_type == "INT96"}
    return [name for name in names if name in found]


def count_finer(values: pa.Array, kept: pa.Array) -> int:
    """Return how many times lose something finer than a microsecond: `values` have it, `kept` do not.

    Of times that nanoseconds cannot tell, nothing is said.
    """
    far = pc.or_(pc.less(kept.cast(pa.int64()), _FIRST + 1), pc.greater(kept.cast(pa.int64()), _LAST - 1))
    whole = pc.if_else(far, pa.scalar(None, kept.type), kept).cast(values.type)
    return int(pc.sum(pc.not_equal(values, whole)).as_py() or 0)
