"""Days and moments before the year 1 and after 9999, which Parquet holds and Python does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mason.clients.athena.query_work import AthenaRows, AthenaWork
from mason.engines.storage.models.location import Location, TableRef
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.formats.writers.output_format import CannotHold
from mason.pipeline.jobs.check.job import CheckJob
from mason.pipeline.jobs.check.reading import read_checks
from mason.pipeline.jobs.check.work import CheckWork
from mason.pipeline.jobs.dedupe.job import DedupeJob, DedupeOptions, DedupeWork
from mason.pipeline.jobs.diff.job import DiffJob, DiffOptions, DiffWork
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.jobs.explode.work import ExplodeWork
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.jobs.merge.run import run_merge
from mason.pipeline.jobs.query.job import QueryJob, QueryWork
from mason.pipeline.jobs.summary.job import SummaryJob
from mason.pipeline.jobs.summary.work import SummaryWork
from mason.pipeline.reading.preview import preview_table
from mason.pipeline.reading.view import view_table
from mason.pipeline.tables.rejects import read_quarantine
from mason.pipeline.types.python_values import python_rows, python_values
from mason.pipeline.types.time_text import any_year_text, check_written, times_of_text
from tests.format.conftest import Format, read_table

LOCAL = pafs.LocalFileSystem()
DAY = 24 * 60 * 60 * 1_000_000
DAYS = [-800_000, 3_000_000, 0, None]
TEXTS = ["-0221-09-04", "10183-09-21"]
NESTED = pa.struct([("days", pa.list_(pa.date32())), ("by", pa.map_(pa.string(), pa.timestamp("us")))])


def far_table(*columns: str) -> pa.Table:
    moments = [None if each is None else each * DAY + 1 for each in DAYS]
    nested = [{"days": [day], "by": [("x", moment)]} for day, moment in zip(DAYS, moments, strict=True)]
    table = pa.table(
        {
            "id": [1, 2, 3, 4],
            "day": pa.array(DAYS, pa.date32()),
            "at": pa.array(moments, pa.timestamp("us")),
            "instant": pa.array(moments, pa.timestamp("us", "UTC")),
            "nested": pa.array(nested, NESTED),
        }
    )
    return table.select(["id", *columns]) if columns else table


@pytest.fixture
def far(tmp_path: Path) -> Path:
    path = tmp_path / "far"
    path.mkdir()
    pq.write_table(far_table(), path / "a.parquet")
    return path


def run(work: Any, job_id: str = "job") -> Any:
    return work.run(InProcessRunner(), job_id, lambda *_: None)


def merged(source: Path, output: Path, **options: Any) -> Any:
    plan = plan_merge(MergeJob(Location(str(source)), Location(str(output)), options=MergeOptions(**options)))
    return run_merge(plan, InProcessRunner(), "merged", lambda *_: None)


def check_shown(rows: Any) -> None:
    """Check what is shown of the first two rows of the table."""
    assert [str(row["day"]) for row in rows[:2]] == TEXTS
    assert [str(row["at"]) for row in rows[:2]] == [f"{day} 00:00:00.000001" for day in TEXTS]
    assert [str(row["instant"]) for row in rows[:2]] == [f"{day} 00:00:00.000001Z" for day in TEXTS]
    assert [str(row["nested"]["days"][0]) for row in rows[:2]] == TEXTS
    assert [row["nested"]["by"] for row in rows[:2]] == [[("x", f"{day} 00:00:00.000001")] for day in TEXTS]


# Text


@settings(deadline=None)
@given(
    st.one_of(
        st.tuples(st.integers(-(2**31), 2**31 - 1), st.just(pa.date32())),
        st.tuples(st.integers(-(2**62), 2**62), st.sampled_from([pa.timestamp("us"), pa.timestamp("us", "UTC")])),
        st.tuples(st.integers(-(2**40), 2**40), st.just(pa.timestamp("s"))),
    )
)
def test_any_day_or_moment_is_a_text_and_comes_back_from_it(case: tuple[int, pa.DataType]) -> None:
    number, kind = case
    values = pa.array([number], pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)

    text = any_year_text(values[0])

    assert times_of_text(pa.array([None, text]), kind).equals(pa.concat_arrays([pa.nulls(1, kind), values]))
    try:
        assert check_written(values).cast(pa.string()).to_pylist() == [text]
    except ValueError as problem:
        assert f"{text} is in a year that text does not hold" in str(problem)
        assert not -32_000 < int(text.rsplit("-", 2)[0]) < 32_000


def test_values_that_python_has_are_as_ever() -> None:
    table = far_table().slice(2)

    assert python_rows(table) == table.to_pylist()
    assert python_values(table["day"]) == table["day"].to_pylist()


# What is shown


@pytest.mark.parametrize("at_random", [False, True])
def test_they_are_shown_by_a_preview(far: Path, at_random: bool) -> None:
    shown = preview_table(LOCAL, view_table(Location(str(far))), 4, at_random=at_random)

    check_shown(sorted(shown.rows, key=lambda row: row["id"]))
    assert any(TEXTS[1] in line for line in shown.picture(200))


def test_they_are_shown_by_a_query(far: Path, tmp_path: Path) -> None:
    merged(far, tmp_path / "t")
    work = QueryWork.plan(
        QueryJob(
            statement="SELECT * FROM t ORDER BY id",
            database="shop",
            tables={"t": TableRef("t", Location(str(tmp_path / "t")))},
        ).to_job()
    )

    result = run(work)

    check_shown(result.preview["Rows"])
    assert any(TEXTS[1] in line for line in result.picture(200))


def test_they_are_shown_by_a_query_of_athena() -> None:
    job = QueryJob(statement="SELECT 1", database="shop", tables={})
    result = AthenaRows(far_table(), False, AthenaWork(job=job, statement=None, tables={}, columns={}))  # type: ignore[arg-type]

    check_shown(result.to_dict()["Rows"])
    assert any(TEXTS[1] in line for line in result.picture(200))


def test_they_are_shown_by_a_diff(far: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    pq.write_table(far_table("day").set_column(1, "day", pa.array([3_000_001] * 4, pa.date32())), other / "a.parquet")

    result = run(
        DiffWork.plan(DiffJob(Location(str(far)), Location(str(other)), options=DiffOptions(keys=["id"])).to_job())
    )

    changes = {each["Key"]["id"]: (each["Before"]["day"], each["After"]["day"]) for each in result.samples["Changed"]}
    assert (changes[1], changes[2]) == ((TEXTS[0], "10183-09-22"), (TEXTS[1], "10183-09-22"))


def test_they_are_shown_by_a_check(far: Path) -> None:
    fresh = {"check": "freshness", "column": "day", "max_age": "1 day"}
    checks = read_checks([{"check": "range", "column": "id", "min": 3}, {"check": "not_null", "column": "day"}, fresh])

    result = run(CheckWork.plan(CheckJob(path=Location(str(far)), checks=checks).to_job()))

    assert [each["day"] for each in result.verdicts[0].samples] == TEXTS
    assert result.verdicts[1].found["RowsFailed"] == 1
    assert result.verdicts[2].holds


def test_they_are_shown_by_an_explode_and_are_in_its_tables(far: Path, tmp_path: Path) -> None:
    shown = run(ExplodeWork.plan(ExplodeJob(path=Location(str(far)), name="far").to_job()))
    first = next(iter(shown.previews.values()))
    assert [str(row["day"]) for row in first.rows[:2]] == TEXTS

    result = run(
        ExplodeWork.plan(
            ExplodeJob(path=Location(str(far)), name="far", output=Location(str(tmp_path / "out"))).to_job()
        )
    )
    assert result.to_dict()["RowsIn"] == 4


def test_they_are_summarized_and_deduped(far: Path, tmp_path: Path) -> None:
    summary = run(SummaryWork.plan(SummaryJob(path=Location(str(far))).to_job())).to_dict()
    (day,) = (each for each in summary["Columns"] if each["Name"] == "day")
    assert (day["Min"], day["Max"]) == (TEXTS[0], TEXTS[1])

    run(
        DedupeWork.plan(
            DedupeJob(
                path=Location(str(far)), output=Location(str(tmp_path / "out")), options=DedupeOptions(keys=["day"])
            ).to_job()
        )
    )
    assert view_table(Location(str(tmp_path / "out"))).rows_in_files == [4]


# What is written


def test_a_merge_keeps_them_and_keeps_aside_what_no_folder_can_stand_for(far: Path, tmp_path: Path) -> None:
    year_0 = pa.table({"id": [5], "day": pa.array([-719_528], pa.date32())})
    pq.write_table(year_0, far / "b.parquet")

    result = merged(far, tmp_path / "out", repartition_keys=["day"], most_bad_share=1)

    commit = result.commit
    folders = {each.path.partition("/")[0] for each in commit.files}
    assert folders == {"day=0000-01-01", "day=1970-01-01", "day=__HIVE_DEFAULT_PARTITION__"}
    rejects = list(read_quarantine(Location(str(tmp_path / "out"))))
    reason = "cannot be the value of a partition: its year has no four digits"
    assert [each.reason for each in rejects] == [f"{day} {reason}" for day in TEXTS]
    assert all(day in each.raw for day, each in zip(TEXTS, rejects, strict=True))
    rows = preview_table(LOCAL, view_table(Location(str(tmp_path / "out"))), 10).rows
    assert {row["id"]: str(row["day"]) for row in rows} == {3: "1970-01-01", 4: "None", 5: "0000-01-01"}


def test_a_bad_record_that_has_one_is_kept_aside_as_it_is(far: Path, tmp_path: Path) -> None:
    merged(far, tmp_path / "out", schema="id boolean", most_bad_share=1)

    rejects = list(read_quarantine(Location(str(tmp_path / "out"))))
    assert [day in each.raw for day, each in zip(TEXTS, rejects, strict=False)] == [True, True]


def test_beside_text_they_are_text(far: Path, tmp_path: Path) -> None:
    (far / "b.csv").write_text("id,day,nested\n5,x,y\n")

    merged(far, tmp_path / "out")

    rows = preview_table(LOCAL, view_table(Location(str(tmp_path / "out"))), 10).rows
    assert [row["day"] for row in rows] == [*TEXTS, "1970-01-01", None, "x"]
    assert TEXTS[0] in rows[0]["nested"]


@pytest.mark.parametrize("kind", ["day", "at", "instant", "nested"])
@pytest.mark.parametrize("written", ["parquet", "csv", "jsonl", "json", "orc", "avro", "msgpack"])
def test_a_format_holds_them_or_says_that_it_does_not(format_: Format, written: str, kind: str) -> None:
    table = far_table(kind)
    format_.given(table)
    cannot = written == "avro" or (written == "orc" and kind != "day") or (written, kind) == ("msgpack", "instant")

    if cannot:
        with pytest.raises(CannotHold, match=rf'^Column "{kind}": .*-0221-09-04.*Parquet, CSV and JSON lines hold'):
            format_.run(written)
        assert format_.commit() is None
    else:
        format_.run(written)
        assert read_table(format_.output).equals(table)


@pytest.mark.parametrize("kind", ["day", "at", "instant", "nested"])
def test_a_sheet_has_them_as_text(format_: Format, kind: str) -> None:
    format_.given(far_table(kind))

    result = format_.run("xlsx")

    (file,) = format_.files()
    cells = [row[1] for row in openpyxl.load_workbook(file).active.iter_rows(min_row=2, max_row=3, values_only=True)]
    assert [day in cell for day, cell in zip(TEXTS, cells, strict=True)] == [True, True]
    noted = [each for each in result.warnings if "years from 1 to 9999, written as text" in each]
    assert len(noted) == (kind in ("day", "at"))


@pytest.mark.parametrize("written", ["csv", "jsonl", "json", "msgpack"])
def test_a_year_that_no_text_holds_is_refused(format_: Format, written: str) -> None:
    format_.given(pa.table({"day": pa.array([2**31 - 1], pa.date32())}))

    with pytest.raises(CannotHold, match='^Column "day": 5881580-07-11 is in a year that text does not hold; Parquet'):
        format_.run(written)


@pytest.fixture
def format_(tmp_path: Path) -> Format:
    return Format(tmp_path)
