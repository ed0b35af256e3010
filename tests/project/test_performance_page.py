"""The page of figures says what was measured, and the proofs behind the figures notice what they are there for."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import data
from benchmarks.equality import Different, Written, proven_equal
from benchmarks.jobs import JOBS
from benchmarks.measure import (
    RESULTS,
    Comparison,
    Contestant,
    HotSpot,
    Output,
    Profile,
    Result,
    Runs,
    interleaved,
    read_results,
)
from benchmarks.report import GROUPS, PAGE, render_page, render_result

MACHINE = {"cores", "memory_gib", "python", "pyspark", "pyarrow", "duckdb"}
NAMES = [name for group in GROUPS for name in group.names]
SAMPLE = Result(
    "sample",
    "three files",
    [Comparison("merge", Runs("Mason", [1.0, 2.0, 4.0]), Runs("rival", [2.0, 2.5, 2.0]), limit=0.9)],
    [Output("Mason", 3, "1f-2a", 1000)],
    ["A note."],
    Profile("the kernel", 2.0, [HotSpot("kernel.py:fit", 3, 1.5)]),
    date="2026-01-31",
    machine={"cores": 2, "memory_gib": 4, "python": "3", "pyspark": "4", "pyarrow": "20", "duckdb": "1"},
)


def test_the_page_is_what_the_results_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_page(read_results(RESULTS)), "run python -m benchmarks.report"


def test_every_part_of_the_page_has_its_figures() -> None:
    assert sorted(read_results(RESULTS)) == sorted(NAMES), "run benchmarks/all.sh"


@pytest.mark.parametrize("file", sorted(RESULTS.glob("*.json")), ids=lambda file: file.stem)
def test_a_result_has_all_that_makes_it_worth_something(file: Path) -> None:
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept.keys() == {field.name for field in fields(Result)}
    result = Result.of(kept)
    assert result.name == file.stem
    assert result.scale == 1, "a try is not for the page"
    assert len(result.date) == len("2026-01-31")
    assert result.machine.keys() == MACHINE
    assert result.comparisons
    for each in result.comparisons:
        least = 1 if each.unit == "requests" else 3  # what is counted is the same every time
        assert len(each.ours.values) == len(each.rival.values) >= least
        assert min(*each.ours.values, *each.rival.values) > 0
    assert len({(each.rows, each.digest) for each in result.outputs}) <= 1
    assert result.outputs or result.name not in JOBS, "no figure of a merge without a proof"
    assert result.all_met or result.profile or result.name == "memory", "a target that is not met asks for a profile"


def test_a_result_is_read_as_it_was_written() -> None:
    assert Result.of(json.loads(SAMPLE.to_json())) == SAMPLE


def test_the_page_shows_median_spread_ratio_and_verdict() -> None:
    (row,) = [line for line in render_result(SAMPLE) if line.startswith("| merge")]

    assert row == (
        "| merge | Mason: 2.00 s (1.00–4.00) | rival: 2.00 s (2.00–2.50) | 1.00 × (0.50–2.00) | at most 0.9 × "
        "| **not met** |"
    )


def test_a_speed_up_is_the_rivals_time_by_masons() -> None:
    speed_up = replace(SAMPLE.comparisons[0], limit=1.0, ratio_is="speed-up")

    assert speed_up.ratios == [2.0, 1.25, 0.5]
    assert speed_up.met
    assert not replace(speed_up, limit=1.1).met
    assert replace(speed_up, limit=None).met is None


def test_a_figure_that_is_changed_shows_on_the_page() -> None:
    changed = replace(SAMPLE.comparisons[0], ours=Runs("Mason", [1.0, 1.5, 4.0]))

    assert render_result(replace(SAMPLE, comparisons=[changed])) != render_result(SAMPLE)


def test_the_contestants_run_in_turn_and_the_warm_up_does_not_count() -> None:
    ran: list[str] = []

    def contestant(label: str) -> Contestant:
        return Contestant(label, lambda: float(len(ran)), lambda: ran.append(label))

    one, other = interleaved([contestant("one"), contestant("other")], 2)

    assert ran == ["one", "other"] * 3
    assert (one.values, other.values) == ([3.0, 5.0], [4.0, 6.0])


class TestEqualityOfOutputs:
    ROWS = {"id": [1, 2, 3], "price": [1.5, 2.25, None]}
    COLUMNS = {"id": "id", "price": "CAST(price AS DOUBLE)"}

    @pytest.fixture
    def equal(self, tmp_path: Path) -> Written:
        return written(tmp_path / "one", pa.table(self.ROWS))

    def test_neither_the_order_of_rows_nor_decimal_for_double_counts(self, equal: Written, tmp_path: Path) -> None:
        other = pa.table({"price": pa.array([None, 1.5, 2.25]).cast(pa.decimal128(18, 2)), "id": [3, 1, 2]})

        one, two = proven_equal([equal, written(tmp_path / "two", other)], self.COLUMNS)

        assert (one.rows, one.digest) == (two.rows, two.digest)
        assert one.bytes == (tmp_path / "one" / "all.parquet").stat().st_size

    @pytest.mark.parametrize(
        "rows",
        [
            {"id": [1, 2, 3], "price": [1.5, 2.25, 0.0]},
            {"id": [1, 2, 3], "price": [2.25, 1.5, None]},
            {"id": [1, 2, 3, 3], "price": [1.5, 2.25, None, None]},
            {"id": [1, 2], "price": [1.5, 2.25]},
            {"id": [1, 2, 3]},
            {"id": [1, 2, 3], "price": [1.5, 2.25, None], "more": [1, 2, 3]},
        ],
        ids=["a value", "values of other rows", "a row twice", "a row less", "a column less", "a column more"],
    )
    def test_a_difference_is_noticed(self, equal: Written, tmp_path: Path, rows: dict[str, list[float]]) -> None:
        with pytest.raises(Different):
            proven_equal([equal, written(tmp_path / "two", pa.table(rows))], self.COLUMNS)


def test_the_data_are_the_same_every_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        data.write_quoted_csv(tmp_path / name / "csv" / "all.csv", 1000)
        data.write_json_file(tmp_path / name / "json" / "all.jsonl", 1000)
        data.write_parquet_files(tmp_path / name / "parquet", 1000)

    files = [file.relative_to(tmp_path / "one") for file in (tmp_path / "one").rglob("*.*")]
    assert len(files) == 2 + data.FILES
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def written(folder: Path, table: pa.Table) -> Written:
    folder.mkdir()
    pq.write_table(table, folder / "all.parquet")
    return Written(folder.name, folder)
