"""The summary as a table: a row for each column, committed as every table is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from mason.engines.storage.models.location import Location
from mason.errors import BadPath
from mason.pipeline.formats.writers.table_writer import TableWriter
from mason.pipeline.jobs.summary.summaries import SHARES, ColumnSummary
from mason.pipeline.jobs.table_output import TableOutput
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.work.output_place import check_output, overlap
from mason.pipeline.work.row_sums import RowSums
from mason.util.json_text import json_value

_FREQUENT = pa.struct([("value", pa.string()), ("count", pa.int64())])
_BIN = pa.struct([("from", pa.string()), ("to", pa.string()), ("count", pa.int64())])

SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("column", pa.string()),
        ("type", pa.string()),
        ("count", pa.int64()),
        ("nulls", pa.int64()),
        ("nans", pa.int64()),
        ("distinct", pa.int64()),
        ("distinct_error", pa.float64()),
        ("min", pa.string()),
        ("max", pa.string()),
        ("mean", pa.string()),
        ("standard_deviation", pa.float64()),
        *((share.lower(), pa.string()) for share in SHARES),
        ("quantile_error", pa.float64()),
        ("most_frequent", pa.list_(_FREQUENT)),
        ("frequent_error", pa.int64()),
        ("min_length", pa.int64()),
        ("max_length", pa.int64()),
        ("mean_length", pa.float64()),
        ("histogram", pa.list_(_BIN)),
    ]
)
"""Values of columns are text: each row is of a column of another type."""


def check_place(path: Location, output: Location, foreign: str = Foreign.REFUSE) -> None:
    """Raise BadPath where the summary would replace what it summarizes, or lie in it, or over what must not go."""
    if overlap(path, output):
        raise BadPath(f"The output {output} and {path}, which is summarized, must be apart.")
    check_output([], output, foreign)


def commit_summary(output: TableOutput, job_id: str, columns: Sequence[ColumnSummary]) -> CommitRecord:
    """Write the summary and make it the table.

    Raises:
        Conflict: another job committed to the table meanwhile.
    """
    with output.stage(job_id) as staged:
        with TableWriter(staged.filesystem, staged.folder, f"part-{job_id}-00000.parquet", SCHEMA) as writer:
            writer.write(pa.RecordBatch.from_pylist([_row(each) for each in columns], SCHEMA))
        files = staged.take(writer.files)
        sums = RowSums(len(columns), sum(each.rows for each in files), came="columns were summarized")
        return staged.commit(files, sums, SCHEMA)


def _row(column: ColumnSummary) -> dict[str, Any]:
    said = column.to_dict()
    quantiles, lengths = said.get("Quantiles", {}), said.get("Lengths", {})
    return {
        "name": column.name,
        "column": column.column,
        "type": column.type,
        "count": column.count,
        "nulls": column.nulls,
        "nans": column.nans,
        "distinct": column.distinct,
        "distinct_error": said.get("DistinctError"),
        "min": _text(column.low),
        "max": _text(column.high),
        "mean": _text(column.mean),
        "standard_deviation": column.deviation,
        **{share.lower(): _text(quantiles.get(share)) for share in SHARES},
        "quantile_error": said.get("QuantileError"),
        "most_frequent": _texts(said.get("MostFrequent")),
        "frequent_error": said.get("FrequentError"),
        "min_length": lengths.get("Min"),
        "max_length": lengths.get("Max"),
        "mean_length": lengths.get("Mean"),
        "histogram": _texts(said.get("Histogram")),
    }


def _texts(items: Iterable[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    if items is None:
        return None
    return [
        {name.lower(): value if name == "Count" else _text(value) for name, value in each.items()} for each in items
    ]


def _text(value: Any) -> str | None:
    """A value as text, as the JSON of the summary has it."""
    plain = json_value(value)
    if isinstance(plain, bool):
        return str(plain).lower()
    return None if plain is None else str(plain)
