from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.formats.binary import parquet_files
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.jobs.merge.run import run_merge
from mason.pipeline.reading.request import NoSuchColumn
from mason.pipeline.reading.scan import Scan, ScanResult, plan_scan, run_scan
from mason.pipeline.reading.tasks.sinks import SinkPlace, SinkSpec
from mason.pipeline.work.row_sums import RowsLost


class Rows:
    """A sink that hands back what it got."""

    files = ()

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def write(self, rows: pa.RecordBatch) -> None:
        self.rows += rows.to_pylist()

    def result(self) -> Mapping[str, Any]:
        return {"rows": [{name: str(value) for name, value in row.items()} for row in self.rows]}

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *raised: object) -> None:
        pass


def rows_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> Rows:
    return Rows()


def scanned(scan: Scan) -> ScanResult:
    return run_scan(scan, SinkSpec(f"{__name__}:rows_sink"), InProcessRunner(), "job", lambda *_: None)


def rows_of(result: ScanResult) -> list[dict[str, str]]:
    return [row for payload in result.payloads for row in payload["rows"]]


def merged(source: Path, output: Path, job_id: str = "made", **options: Any) -> None:
    job = MergeJob(Location(str(source)), Location(str(output)), options=MergeOptions(**options))
    plan = plan_merge(job)
    run_merge(plan, InProcessRunner(), job_id, lambda *_: None)


def test_files_are_read_in_one_schema_that_holds_what_the_sample_did_not_show(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,n\n" + "".join(f"{number},{number}\n" for number in range(3000)) + "x,1.5\n")
    result = scanned(plan_scan(Location(str(tmp_path)), options=MergeOptions(sample=10)))
    assert (result.rows_in, result.rows, result.quarantined) == (3001, 3001, 0)
    assert rows_of(result)[-1] == {"id": "x", "n": "1.5"}
    assert [str(kind) for kind in result.scan.schema.types] == ["string", "decimal128(18, 1)"]


def test_a_committed_table_is_read_through_its_commit_alone(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,day\n1,2026-01-01\n2,2026-01-02\n")
    merged(tmp_path / "in.csv", tmp_path / "out", repartition_keys=("day",))
    pq.write_table(pa.table({"id": [99]}), tmp_path / "out" / "stray.parquet")
    scan = plan_scan(Location(str(tmp_path / "out")))
    assert scan.rows == 2
    assert rows_of(scanned(scan)) == [{"id": "1", "day": "2026-01-01"}, {"id": "2", "day": "2026-01-02"}]


def appended(tmp_path: Path) -> Path:
    """A table whose first file is older than one of its columns, and has another order of the rest."""
    for number, text in enumerate(["b,a\n1,2\n", "new,a,b\nx,4,3\n"]):
        (tmp_path / f"{number}.csv").write_text(text)
        merged(tmp_path / f"{number}.csv", tmp_path / "out", f"made{number}", mode=Mode.APPEND)
    return tmp_path / "out"


@pytest.mark.parametrize("columns", [(), ("new", "a"), ("new",)])
def test_a_file_that_is_older_than_a_column_has_nulls_there(tmp_path: Path, columns: tuple[str, ...]) -> None:
    rows = rows_of(scanned(plan_scan(Location(str(appended(tmp_path))), columns)))
    whole = [{"b": "1", "a": "2", "new": "None"}, {"b": "3", "a": "4", "new": "x"}]
    assert rows == [{name: row[name] for name in columns or row} for row in whole]


def test_an_append_that_widens_writes_files_anew_that_are_older_than_a_column(tmp_path: Path) -> None:
    output = appended(tmp_path)
    (tmp_path / "text.csv").write_text("a\nmuch\n")
    merged(tmp_path / "text.csv", output, "made2", mode=Mode.APPEND)
    rows = rows_of(scanned(plan_scan(Location(str(output)))))
    assert sorted((row["a"], row["b"], row["new"]) for row in rows) == [
        ("2", "1", "None"),
        ("4", "3", "x"),
        ("much", "None", "None"),
    ]


def test_only_the_columns_that_are_asked_for_reach_the_sink(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": ["x"], "c": [None]}), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a,b,c\n2,y,z\n")
    result = scanned(plan_scan(Location(str(tmp_path)), ["b", "a"]))
    assert rows_of(result) == [{"b": "y", "a": "2"}, {"b": "x", "a": "1"}]
    with pytest.raises(NoSuchColumn, match='"bb"'):
        plan_scan(Location(str(tmp_path)), ["bb"])


def test_a_large_parquet_file_is_read_in_ranges_that_tile_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "_CUT_BYTES", 2_000)
    pq.write_table(pa.table({"a": list(range(10_000))}), tmp_path / "t.parquet", row_group_size=700)
    scan = plan_scan(Location(str(tmp_path)))
    (file,) = scan.plan.files
    assert len(file.parts) > 3
    assert [part.offset for part in file.parts] == [0, *(part.offset + part.length for part in file.parts)][:-1]
    assert sum(part.length for part in file.parts) == file.file.size
    assert [row["a"] for row in rows_of(scanned(scan))] == [str(number) for number in range(10_000)]


def test_a_row_that_is_dropped_on_the_way_fails_the_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mason.pipeline.reading.tasks import kernel

    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "t.parquet")
    whole = kernel.pa.record_batch
    monkeypatch.setattr(kernel.pa, "record_batch", lambda *args, **given: whole(*args, **given).slice(1))
    with pytest.raises(RowsLost, match="2 records were read, but 1 taken"):
        scanned(plan_scan(Location(str(tmp_path))))
