"""What a merge did with some files, in words that an expectation can be written in."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mason.errors import MasonError
from mason.pipeline.jobs.merge.run import MergeResult
from mason.pipeline.work.row_sums import RowsLost
from tests.merge.conftest import Merge

SHOWN = 300
LONG_TEXT = 1_000_000


@dataclass(frozen=True)
class Outcome:
    """What a merge did with a case, in the words of `expected.json`."""

    error: str = ""
    columns: Sequence[tuple[str, str]] = ()
    rows: Sequence[str] = ()
    rejects: Sequence[str] = ()
    warnings: Sequence[str] = ()
    conflicts: Sequence[str] = ()
    counts: tuple[int, int, int] = (0, 0, 0)
    left_behind: Sequence[str] = ()


def outcome_of(merge: Merge, options: Mapping[str, Any]) -> Outcome:
    """Merge what is given. Only errors of Mason's own are caught: whatever else is raised is a crash.

    So are sums that do not hold: no input is to lead to that.
    """
    try:
        result = merge.run(**options)
    except RowsLost:
        raise
    except MasonError as error:
        left_behind = sorted(
            [*(each.name for each in merge.root.iterdir() if each.name not in ("in", ".mason")), *merge.left_behind()]
        )
        return Outcome(error=str(error), left_behind=left_behind)
    table = _read(merge.output, result)
    rejects = [
        {"file": each.file, "record": each.record, "reason": each.reason, "raw": each.raw} for each in merge.rejects()
    ]
    return Outcome(
        columns=[(field.name, str(field.type)) for field in table.schema],
        rows=[as_json(row) for row in _to_rows(table)],
        rejects=[as_json(each) for each in rejects],
        warnings=[*result.plan.warnings, *result.warnings],
        conflicts=sorted(each.column for each in result.plan.conflicts),
        counts=(result.rows_in, result.rows_out, result.quarantined),
    )


def _to_rows(table: pa.Table) -> Sequence[dict[str, Any]]:
    """Rows as Python has them; times in years that Python does not know, as their numbers."""
    try:
        return list(table.to_pylist())
    except OverflowError:
        types = [pa.int64() if pa.types.is_timestamp(each.type) else each.type for each in table.schema]
        return list(table.cast(pa.schema(zip(table.column_names, types, strict=True))).to_pylist())


def _read(output: Path, result: MergeResult) -> pa.Table:
    """The files of the commit as any reader of Parquet sees them; without rows there is no file, but a schema."""
    tables = [pq.ParquetFile(output / each.path).read() for each in result.commit.files]
    return pa.concat_tables(tables) if tables else result.plan.schema.empty_table()


def compare(what: str, expected: Sequence[str], seen: Sequence[str]) -> Iterator[str]:
    """Rows have no order: as many of each as expected."""
    wanted, found = Counter(expected), Counter(seen)
    yield from (f"{what}: missing {shorten(each)}" for each in wanted - found)
    yield from (f"{what}: too many {shorten(each)}" for each in found - wanted)


def compare_warnings(fragments: Sequence[str], seen: Sequence[str]) -> Iterator[str]:
    yield from (f'warnings: nothing says "{each}"' for each in fragments if not any(each in text for text in seen))
    for text in seen:
        if not any(each in text for each in fragments):
            yield f"warnings: not expected: {text}"


def as_json(value: Any) -> str:
    """A value as the text that tells 1, 1.0, "1" and true apart."""
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, str) and len(value) > LONG_TEXT:
        return {"length": len(value), "sha256": hashlib.sha256(value.encode()).hexdigest()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, float) and value != value:
        return "NaN"
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def shorten(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text):,} characters)"
