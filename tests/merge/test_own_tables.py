"""Tables that Mason wrote in other formats than Parquet, merged: types and names come back by their commit."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.format.job import FormatJob, FormatOptions
from mason.pipeline.jobs.format.plan import plan_format
from mason.pipeline.jobs.format.run import run_format
from tests.merge.conftest import Merge

ROWS = pa.table(
    {
        "a b": pa.array([1, 2], pa.int16()),
        "day": pa.array([date(2024, 1, 31), None]),
        "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        "moment": pa.array([datetime(2024, 1, 31, 5), None], pa.timestamp("us")),
        "code": ["007", "2024-01-31"],
        "bytes": [b"\x00\xff", None],
        "tags": [["x"], []],
    }
)


def write_table(root: Path, format_: str, name: str = "in", rows: pa.Table = ROWS) -> Path:
    """A table of Mason's in a format."""
    source = root / f"source-{name}"
    source.mkdir(exist_ok=True)
    pq.write_table(rows, source / "a.parquet")
    job = FormatJob(Location(str(source)), Location(str(root / name)), options=FormatOptions(format=format_))
    run_format(plan_format(job), InProcessRunner(), f"written-{name}", lambda *_: None)
    return root / name


@pytest.mark.parametrize("format_", ["json", "jsonl", "avro", "msgpack", "csv", "orc"])
def test_types_and_names_come_back(tmp_path: Path, format_: str) -> None:
    write_table(tmp_path, format_)
    merge = Merge(tmp_path)

    result = merge.run()

    assert merge.table().cast(ROWS.schema).to_pylist() == ROWS.to_pylist()
    assert merge.types() == {each.name: str(each.type).replace("list<item", "list<element") for each in ROWS.schema}
    assert (result.rows_in, result.rows_out) == (2, 2)


def test_they_are_added_to_a_table_that_is_wider(tmp_path: Path) -> None:
    merge = Merge(tmp_path)
    write_table(tmp_path, "json", "wide", pa.table({"a b": [2**40], "code": ["x"]}))
    merge.run_plan(merge.plan(inputs=tmp_path / "wide"))
    write_table(tmp_path, "msgpack")

    merge.run(mode="append")

    assert sorted(merge.table()["a b"].to_pylist()) == [1, 2, 2**40]


def test_a_given_type_holds_for_them_too(tmp_path: Path) -> None:
    write_table(tmp_path, "json")
    merge = Merge(tmp_path)

    merge.run(schema='day string, "a b" bigint')

    assert merge.table()["day"].to_pylist() == ["2024-01-31", None]
    assert merge.types()["a b"] == "int64"


def test_who_gives_the_format_gets_what_the_files_show(tmp_path: Path) -> None:
    write_table(tmp_path, "jsonl")
    merge = Merge(tmp_path)

    merge.run(input_format="jsonl")

    assert merge.types()["day"] == "string"


def test_only_what_is_new_of_a_table_is_merged_incrementally(tmp_path: Path) -> None:
    write_table(tmp_path, "avro")
    merge = Merge(tmp_path)
    merge.run(incremental=True)

    result = merge.run(incremental=True)

    assert result.rows_in == 0
    assert merge.table().num_rows == 2


def test_lines_that_look_like_records_are_text_in_a_table_of_masons_own(tmp_path: Path) -> None:
    rows = pa.table({"a": ["1", "2"], "b": ["p\n4,d\n5,e\n6,f\n7,g", "q"]})
    write_table(tmp_path, "csv", rows=rows)
    merge = Merge(tmp_path)

    result = merge.run()

    assert merge.table().to_pylist() == rows.to_pylist()
    assert (result.rows_in, result.rows_out) == (2, 2)
