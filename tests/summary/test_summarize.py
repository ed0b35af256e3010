from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.errors import BadPath, Conflict
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.jobs.merge.run import run_merge
from mason.pipeline.jobs.summary import leaves, work
from mason.pipeline.jobs.summary.sketches.number_sketch import NumberSketch
from mason.pipeline.reading.request import NoSuchColumn
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.work.row_sums import RowsLost
from tests.summary.conftest import Summarize


def test_numbers(summarize: Summarize) -> None:
    column = summarize.columns(pa.table({"n": pa.array([4, 1, None, 1, 3], pa.int32())}))["n"]
    assert column == {
        "Name": "n",
        "Column": "n",
        "Type": "int32",
        "Count": 4,
        "Nulls": 1,
        "Distinct": 3,
        "DistinctError": 0.0,
        "Min": 1,
        "Max": 4,
        "Mean": 2.25,
        "StandardDeviation": 1.5,
        "Quantiles": {"P1": 1, "P5": 1, "P25": 1, "P50": 1, "P75": 3, "P95": 4, "P99": 4},
        "QuantileError": 0.0,
        "MostFrequent": [{"Value": 1, "Count": 2}, {"Value": 3, "Count": 1}, {"Value": 4, "Count": 1}],
        "FrequentError": 0,
        "Histogram": [
            {"From": 1, "To": 1, "Count": 2},
            {"From": 2, "To": 2, "Count": 0},
            {"From": 3, "To": 3, "Count": 1},
            {"From": 4, "To": 4, "Count": 1},
        ],
    }


def test_the_largest_and_smallest_integers_have_an_exact_mean(summarize: Summarize) -> None:
    table = pa.table({"i": [2**63 - 1] * 3, "n": [-(2**63)] * 3, "u": pa.array([2**64 - 1, 0, 0], pa.uint64())})
    columns = summarize.columns(table)
    assert (columns["i"]["Min"], columns["i"]["Max"], columns["i"]["Mean"]) == (2**63 - 1, 2**63 - 1, 2.0**63)
    assert (columns["n"]["Min"], columns["n"]["Mean"]) == (-(2**63), -(2.0**63))
    assert int(columns["u"]["Max"]) == 2**64 - 1


def test_text_has_lengths_in_characters_and_binary_in_bytes(summarize: Summarize) -> None:
    columns = summarize.columns(pa.table({"t": ["é", "日本", "", None, "é"], "b": [b"\x00\xff", b"a", None, b"", b""]}))
    assert columns["t"]["Lengths"] == {"Min": 0, "Max": 2, "Mean": 1.0}
    assert (columns["t"]["Min"], columns["t"]["Max"], columns["t"]["Distinct"]) == ("", "日本", 3)
    assert columns["t"]["MostFrequent"][0] == {"Value": "é", "Count": 2}
    assert columns["b"]["Lengths"] == {"Min": 0, "Max": 2, "Mean": 0.75}
    assert (columns["b"]["Min"], columns["b"]["Max"], columns["b"]["Count"]) == ("", "61", 4)
    assert columns["b"]["MostFrequent"][0] == {"Value": "", "Count": 2}


def test_long_texts_are_told_by_their_beginnings_and_still_told_apart(summarize: Summarize) -> None:
    texts = [f"{'x' * 5000}{number}" for number in range(3)] * 2
    column = summarize.columns(pa.table({"t": texts}))["t"]
    assert (column["Distinct"], column["Lengths"]["Max"]) == (3, 5001)
    assert column["Max"] == "x" * 200 + "…"
    assert column["MostFrequent"] == [{"Value": "x" * 200 + "…", "Count": 2}] * 3


def test_bytes_that_are_no_text_do_not_keep_the_rest_from_being_summarized(summarize: Summarize) -> None:
    parts = pa.array([b"\xff\xfe", b"ok", None, "é".encode()]).buffers()
    summarize.given("t.parquet", pa.table({"t": pa.Array.from_buffers(pa.string(), 4, parts)}))
    summary = summarize.run()
    (column,) = (each.to_dict() for each in summary.columns)
    assert (column["Count"], column["Distinct"], column["Max"]) == (2, 2, "é")
    assert (summary.rows, summary.quarantined) == (3, 1)
    assert "1 record did not fit: left out of every figure." in list(summary.warnings)


def test_nan_is_one_value_without_a_place_in_any_order_and_minus_zero_is_zero(summarize: Summarize) -> None:
    column = summarize.columns(pa.table({"x": [math.nan, math.nan, -0.0, 0.0, 2.0, None]}))["x"]
    assert (column["Count"], column["Nulls"], column["NaNs"], column["Distinct"]) == (5, 1, 2, 3)
    assert (column["Min"], column["Max"], column["Quantiles"]["P99"]) == (0.0, 2.0, 2.0)
    assert math.copysign(1, column["Min"]) == 1
    assert column["Mean"] == pytest.approx(2 / 3)
    assert column["MostFrequent"][0] == {"Value": 0.0, "Count": 2}
    assert [each["Count"] for each in column["MostFrequent"]] == [2, 2, 1]
    assert sum(each["Count"] for each in column["Histogram"]) == 3


def test_infinite_numbers_and_the_widest_range_have_a_summary_that_is_json(summarize: Summarize) -> None:
    infinite = [math.inf, -math.inf, 1.0, 2.0]
    widest = [-1.7e308, 1.7e308, 0.0, 0.0]
    decimals = pa.array([Decimal("1.5")] * 4, pa.decimal128(30, 2))
    columns = summarize.columns(pa.table({"i": infinite, "w": widest, "n": [math.nan] * 4, "d": decimals}))
    assert (columns["i"]["Min"], columns["i"]["Max"]) == (-math.inf, math.inf)
    assert "StandardDeviation" not in columns["i"]
    assert sum(each["Count"] for each in columns["i"]["Histogram"]) == 2
    assert sum(each["Count"] for each in columns["w"]["Histogram"]) == 4
    assert (columns["n"]["NaNs"], columns["n"]["Distinct"]) == (4, 1)
    assert "Min" not in columns["n"]
    kept = json.loads(json.dumps(summarize.run().to_dict(), allow_nan=False))
    assert [each["Mean"] for each in kept["Columns"] if "Mean" in each] == ["nan", 0.0, "1.50"]


def test_dates_and_times(summarize: Summarize) -> None:
    zone = dt.UTC
    table = pa.table(
        {
            "day": [dt.date(2026, 1, 1), dt.date(2026, 1, 2), None],
            "naive": [dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, 0, 0, 2), None],
            "zoned": [dt.datetime(2026, 1, 1, tzinfo=zone), dt.datetime(2026, 1, 1, 0, 0, 2, tzinfo=zone), None],
            "time": [dt.time(1), dt.time(3), None],
            "far": pa.array([10**18 // 2, 0, None], pa.timestamp("us")),
        }
    )
    columns = summarize.columns(table)
    assert (columns["day"]["Min"], columns["day"]["Max"]) == ("2026-01-01", "2026-01-02")
    assert columns["day"]["Mean"] == "2026-01-01T12:00:00"
    assert columns["day"]["StandardDeviation"] == pytest.approx(math.sqrt(0.5))  # days
    assert (columns["naive"]["Mean"], columns["zoned"]["Mean"]) == ("2026-01-01T00:00:01", "2026-01-01T00:00:01+00:00")
    assert columns["naive"]["StandardDeviation"] == pytest.approx(math.sqrt(2))  # seconds
    assert columns["zoned"]["Max"] == "2026-01-01T00:00:02+00:00"
    assert (columns["time"]["Min"], columns["time"]["Mean"]) == ("01:00:00", "02:00:00")
    assert columns["far"]["Max"].startswith("17814")  # a year that Python has no word for
    assert columns["zoned"]["Quantiles"]["P50"] == "2026-01-01T00:00:00+00:00"


@pytest.mark.parametrize("digits", [10, 18, 30, 38])
def test_decimals_are_exact(summarize: Summarize, digits: int) -> None:
    values = [Decimal("0.10"), Decimal("0.20"), Decimal("-3.33"), None, Decimal("0.20")]
    column = summarize.columns(pa.table({"d": pa.array(values, pa.decimal128(digits, 2))}))["d"]
    assert (column["Min"], column["Max"]) == (Decimal("-3.33"), Decimal("0.20"))
    assert str(column["Mean"]) == "-0.7075"
    assert column["StandardDeviation"] == pytest.approx(1.7491, abs=1e-3)
    assert column["Quantiles"]["P50"] == Decimal("0.10")
    assert (column["Distinct"], column["MostFrequent"][0]) == (3, {"Value": Decimal("0.20"), "Count": 2})


def test_the_sum_of_the_largest_decimals_does_not_overflow(summarize: Summarize) -> None:
    largest = Decimal(10**38 - 1)
    column = summarize.columns(pa.table({"d": pa.array([largest] * 1000, pa.decimal128(38, 0))}))["d"]
    assert (str(column["Mean"]), column["Max"], column["Distinct"]) == (str(largest), largest, 1)


def test_quantiles_of_decimals_of_many_digits_are_values_and_not_beyond_the_extremes(summarize: Summarize) -> None:
    few = [Decimal("99999999999999999999999999999999.99"), Decimal("-0.01"), Decimal("1.10")]
    column = summarize.columns(pa.table({"d": pa.array(few, pa.decimal128(38, 2))}))["d"]
    assert [column["Quantiles"][name] for name in ("P1", "P50", "P99")] == [few[1], few[2], few[0]]
    assert column["QuantileError"] == 0

    many = [Decimal(f"{10**32 - 1 - number}.99") for number in range(10_000)]
    column = summarize.columns(pa.table({"d": pa.array(many, pa.decimal128(38, 2))}))["d"]
    low, high = column["Min"], column["Max"]
    assert (low, high) == (many[-1], many[0])
    assert all(low <= value <= high for value in column["Quantiles"].values())
    assert all(low <= each["From"] <= each["To"] <= high for each in column["Histogram"])


def test_booleans(summarize: Summarize) -> None:
    column = summarize.columns(pa.table({"b": [True, True, False, None]}))["b"]
    assert (column["Min"], column["Max"], column["Distinct"]) == (False, True, 2)
    assert column["Mean"] == pytest.approx(2 / 3)
    assert column["MostFrequent"] == [{"Value": True, "Count": 2}, {"Value": False, "Count": 1}]
    assert "Quantiles" not in column


def test_a_column_of_nulls_only_and_an_empty_table(summarize: Summarize) -> None:
    kinds = [pa.int64(), pa.float64(), pa.string(), pa.date32(), pa.decimal128(38, 2), pa.bool_(), pa.list_(pa.int8())]
    names = [f"c{number}" for number in range(len(kinds))]
    for rows in (3, 0):
        table = pa.table({name: pa.nulls(rows, kind) for name, kind in zip(names, kinds, strict=True)})
        columns = summarize.columns(table)
        assert set(columns) == {*names, "c6[]"}
        for name in names:
            assert (columns[name]["Count"], columns[name]["Nulls"]) == (0, rows)
            assert columns[name].get("Distinct", 0) == 0
            assert "Min" not in columns[name]
        assert (columns["c6[]"]["Count"], columns["c6[]"]["Nulls"]) == (0, 0)


def test_nested_columns_are_summarized_by_leaf(summarize: Summarize) -> None:
    rows = [
        {"address": {"city": "Ulm", "geo": {"lat": 48.4}}, "items": [{"price": 1, "tags": ["a", "b"]}, {"price": 3}]},
        {"address": None, "items": []},
        {"address": {"city": None, "geo": None}, "items": None},
        {"address": {"city": "Ulm", "geo": {"lat": 48.0}}, "items": [None, {"price": 5, "tags": []}]},
    ]
    summarize.given("t.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    columns = summarize.columns()
    assert list(columns) == [
        "address.city",
        "address.geo.lat",
        "items",
        "items[].price",
        "items[].tags",
        "items[].tags[]",
    ]
    assert {each["Column"] for each in columns.values()} == {"address", "items"}
    assert (columns["address.city"]["Count"], columns["address.city"]["Nulls"]) == (2, 2)
    assert columns["address.geo.lat"]["Max"] == 48.4
    assert (columns["items"]["Count"], columns["items"]["Nulls"]) == (3, 1)
    assert columns["items"]["Lengths"] == {"Min": 0, "Max": 2, "Mean": pytest.approx(4 / 3)}
    assert (columns["items[].price"]["Count"], columns["items[].price"]["Nulls"]) == (3, 1)
    assert columns["items[].price"]["Mean"] == 3.0
    assert columns["items[].tags[]"]["Count"] == 2


def test_maps_and_lists_of_lists(summarize: Summarize) -> None:
    table = pa.table(
        {
            "m": pa.array([[("a", 1), ("b", None)], None, []], pa.map_(pa.string(), pa.int64())),
            "l": pa.array([[[1, 2], []], [None, [3]], None], pa.list_(pa.list_(pa.int64()))),
        }
    )
    columns = summarize.columns(table)
    assert list(columns) == ["m", "m[].key", "m[].value", "l", "l[]", "l[][]"]
    assert (columns["m[].value"]["Count"], columns["m[].value"]["Nulls"]) == (1, 1)
    assert (columns["l[]"]["Count"], columns["l[]"]["Nulls"]) == (3, 1)
    assert (columns["l[][]"]["Count"], columns["l[][]"]["Max"]) == (3, 3)


def test_types_that_only_some_formats_have(summarize: Summarize) -> None:
    table = pa.table(
        {
            "fixed": pa.array([b"abcd", b"\x00\x00\x00\x01", b"abcd"], pa.binary(4)),
            "large": pa.array(["a", "bc", None], pa.large_string()),
            "small": pa.array([1, 2, 3], pa.int8()),
            "half": pa.array([0.5, 1.5, None], pa.float32()),
            "coded": pa.array(["x", "y", "x"]).dictionary_encode(),
            "pairs": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int32(), 2)),
            "nano": pa.array([1, 2, 3], pa.time64("ns")),
        }
    )
    columns = summarize.columns(table)
    assert (columns["fixed"]["Distinct"], columns["fixed"]["Min"], columns["fixed"]["Max"]) == (
        2,
        "00000001",
        "61626364",
    )
    assert (columns["large"]["Lengths"]["Max"], columns["coded"]["Distinct"]) == (2, 2)
    assert (columns["small"]["Mean"], columns["half"]["Max"]) == (2.0, 1.5)
    assert (columns["pairs"]["Lengths"]["Mean"], columns["pairs[]"]["Max"]) == (2.0, 4)
    assert columns["nano"]["Count"] == 3
    assert summarize.columns(exact=True)["fixed"]["Distinct"] == 2


def test_names_of_any_kind(summarize: Summarize) -> None:
    names = ["select", "a.b", 'quo"te', "🦜", "<script>alert(1)</script>", "x[]", " ", "`"]
    table = pa.table({name: [number] for number, name in enumerate(names)})
    nested = pa.array([{"c.d": 1, "e": 2}])
    columns = summarize.columns(table.append_column("s", nested))
    assert list(columns) == [*names, "s.`c.d`", "s.e"]
    assert [columns[name]["Max"] for name in names] == list(range(len(names)))


def test_only_the_columns_that_are_asked_for(summarize: Summarize) -> None:
    summarize.given("t.parquet", pa.table({"a": [1], "b": [2], "c": [3]}))
    assert list(summarize.columns(columns=["c", "a"])) == ["c", "a"]
    with pytest.raises(NoSuchColumn, match='"bb"'):
        summarize.plan(columns=["bb"])


def test_files_of_several_formats_are_one_table(summarize: Summarize) -> None:
    summarize.given("a.csv", "id,price\n1,1.50\n2,2.50\n")
    summarize.given("b.jsonl", '{"id": 3, "price": 4, "note": "x"}\n')
    columns = summarize.columns()
    assert (columns["id"]["Count"], columns["price"]["Mean"]) == (3, Decimal("2.66666667"))
    assert (columns["note"]["Count"], columns["note"]["Nulls"]) == (1, 2)


def test_a_committed_table_is_read_through_its_commit(summarize: Summarize, tmp_path: Path) -> None:
    summarize.given("t.csv", "a\n1\n2\n")
    job = MergeJob(Location(str(summarize.inputs)), Location(str(tmp_path / "table")))
    run_merge(plan_merge(job), summarize.runner, "made", lambda *_: None)
    pq.write_table(pa.table({"a": [99]}), tmp_path / "table" / "stray.parquet")
    found = work.SummaryWork.plan(work.SummaryJob(path=Location(str(tmp_path / "table"))).to_job())
    assert found.to_dict()["RowsIn"] == 2
    (column,) = summarize.run_plan(found).columns
    assert (column.count, column.high) == (2, 2)


def test_many_values_are_estimated_within_the_stated_errors_and_counted_on_request(summarize: Summarize) -> None:
    numbers = np.random.default_rng(3).integers(0, 50_000, 120_000)
    texts = [f"text {number}" for number in numbers]
    for part in range(3):
        some = slice(part * 40_000, (part + 1) * 40_000)
        summarize.given(f"{part}.parquet", pa.table({"n": numbers[some], "t": texts[some]}))
    real = len(set(texts))
    for column in summarize.columns().values():
        assert 0 < column["DistinctError"] < 0.05
        assert abs(column["Distinct"] - real) <= column["DistinctError"] * real
    for column in summarize.columns(exact=True).values():
        assert (column["Distinct"], column["DistinctError"]) == (real, 0.0)


@pytest.mark.parametrize(("different", "is_exact"), [(4096, True), (4097, False)])
def test_everything_is_exact_up_to_4096_different_values(summarize: Summarize, different: int, is_exact: bool) -> None:
    numbers = np.random.default_rng(6).permutation(np.repeat(np.arange(different), 20))
    for part in range(3):
        some = numbers[part::3]
        summarize.given(f"{part}.parquet", pa.table({"n": some, "t": [f"v{each}" for each in some]}))
    columns = summarize.columns()
    for name in ("n", "t"):
        errors = (columns[name]["DistinctError"], columns[name]["FrequentError"])
        assert (errors == (0, 0)) == is_exact
    if is_exact:
        assert [columns[name]["Distinct"] for name in ("n", "t")] == [4096, 4096]
        assert columns["n"]["MostFrequent"] == [{"Value": value, "Count": 20} for value in range(10)]
        assert columns["n"]["Quantiles"]["P25"] == 1023
    assert (columns["n"]["QuantileError"] == 0) == is_exact


def test_frequent_values_are_found_among_many(summarize: Summarize) -> None:
    chance = np.random.default_rng(4)
    often = np.where(chance.random(100_000) < 0.3, 7, chance.integers(0, 10**9, 100_000))
    columns = summarize.columns(pa.table({"n": often, "t": [f"v{each}" for each in often]}))
    real = int((often == 7).sum())
    for name, value in (("n", 7), ("t", "v7")):
        (found,) = columns[name]["MostFrequent"]
        assert found["Value"] == value
        assert real - columns[name]["FrequentError"] <= found["Count"] <= real


def test_the_histogram_has_as_many_bins_as_asked_for(summarize: Summarize) -> None:
    table = pa.table({"n": list(range(1000)), "x": [each / 10 for each in range(1000)]})
    for bins in (0, 1, 7, 20, 1000):
        columns = summarize.columns(table, histogram=bins)
        for name in ("n", "x"):
            found = columns[name].get("Histogram", [])
            assert len(found) == bins
            assert sum(each["Count"] for each in found) == (1000 if bins else 0)
    assert columns["n"]["Histogram"][0] == {"From": 0, "To": 0, "Count": 1}


def test_a_plan_says_what_the_run_does(summarize: Summarize, tmp_path: Path) -> None:
    for part in range(3):
        summarize.given(f"{part}.parquet", pa.table({"a": [1, 2], "s": [{"x": [1]}, None]}))
    page, output = tmp_path / "page.html", tmp_path / "summary"
    plan = summarize.plan(output=str(output), html=str(page))
    told = plan.to_dict()
    assert not page.exists()
    assert not output.exists()
    result = summarize.run_plan(plan)
    done = result.to_dict()
    assert told["RowsIn"] == done["RowsIn"] == done["Rows"] == 6
    assert told["Columns"] == [{"Name": each["Name"], "Type": each["Type"]} for each in done["Columns"]]
    assert (told["Output"], told["Html"]) == (done["Output"], done["Html"]) == (str(output), str(page))
    assert told["ExactUpTo"] == 4096
    assert page.exists()
    assert output.exists()


def test_the_summary_can_become_a_table(summarize: Summarize, tmp_path: Path) -> None:
    summarize.given("t.parquet", pa.table({"n": [1, 2, 2], "t": ["a", None, "ccc"], "day": [dt.date(2026, 1, 1)] * 3}))
    output = tmp_path / "summary"
    for version in (1, 2):
        result = summarize.run(output=str(output))
        commit = TableFolder(str(output)).current()
        assert commit is not None
        assert (commit.number, commit.rows, commit.id) == (version, 3, result.commit and result.commit.id)
    (file,) = commit.files
    rows = {row["name"]: row for row in pq.read_table(output / file.path).to_pylist()}
    assert (rows["n"]["min"], rows["n"]["p50"], rows["n"]["mean"]) == ("1", "2", str(5 / 3))
    assert rows["n"]["most_frequent"][0] == {"value": "2", "count": 2}
    assert (rows["t"]["nulls"], rows["t"]["max_length"], rows["t"]["standard_deviation"]) == (1, 3, None)
    assert rows["day"]["histogram"] == [{"from": "2026-01-01", "to": "2026-01-01", "count": 3}]


@pytest.mark.parametrize("output", ["in", "in/below", "."])
def test_a_summary_does_not_replace_what_it_summarizes(summarize: Summarize, tmp_path: Path, output: str) -> None:
    summarize.given("t.parquet", pa.table({"n": [1]}))
    with pytest.raises(BadPath, match="apart"):
        summarize.plan(output=str((tmp_path / output).resolve()))


def test_a_table_that_another_job_changed_meanwhile_is_left_to_it(
    summarize: Summarize, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summarize.given("t.parquet", pa.table({"n": [1]}))
    output = str(tmp_path / "summary")
    scan = work.run_scan

    def overtaken(*given: Any) -> Any:
        monkeypatch.setattr(work, "run_scan", scan)
        summarize.run(output=output)
        return scan(*given)

    monkeypatch.setattr(work, "run_scan", overtaken)
    with pytest.raises(Conflict):
        summarize.run(output=output)
    commit = TableFolder(output).current()
    assert commit is not None
    assert commit.number == 1
    assert list(tmp_path.glob(".mason/tables/*/staging/*")) == []


def test_a_folder_that_is_not_there_is_named_before_anything_is_read(summarize: Summarize, tmp_path: Path) -> None:
    summarize.given("t.parquet", pa.table({"n": [1]}))
    with pytest.raises(work.NoSuchFolder, match="nowhere"):
        summarize.plan(html=str(tmp_path / "nowhere" / "page.html"))


def test_a_row_that_a_sketch_loses_fails_the_job(summarize: Summarize, monkeypatch: pytest.MonkeyPatch) -> None:
    summarize.given("t.parquet", pa.table({"n": [1, 2, 3]}))
    add = NumberSketch.add
    monkeypatch.setattr(NumberSketch, "add", lambda self, values: add(self, values.slice(1)))
    with pytest.raises(RowsLost, match=r'"n" there are 3, but 2'):
        summarize.run()


def test_an_element_of_a_list_that_is_lost_fails_the_job(summarize: Summarize, monkeypatch: pytest.MonkeyPatch) -> None:
    summarize.given("t.parquet", pa.table({"l": [[1, 2], [3]]}))
    flatten = leaves.pc.list_flatten
    monkeypatch.setattr(leaves.pc, "list_flatten", lambda values: flatten(values).slice(1))
    with pytest.raises(RowsLost, match=r'"l\[\]" there are 3, but 2'):
        summarize.run()


def test_a_page_that_cannot_be_written_leaves_no_half_of_it(
    summarize: Summarize, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    summarize.given("t.parquet", pa.table({"n": [1]}))
    page = tmp_path / "page.html"
    summarize.run(html=str(page))
    page.write_text("the old one")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        summarize.run(html=str(page), overwrite=True)
    assert page.read_text() == "the old one"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in", "page.html"]


def test_five_thousand_columns(summarize: Summarize) -> None:
    rows = 50
    summarize.given("t.parquet", pa.table({f"c{number}": [number] * rows for number in range(5000)}))
    result = summarize.run()
    assert [each.high for each in result.columns] == list(range(5000))
    lines = result.picture(80)
    assert lines[-1] == "… and 4,900 columns more"
    assert len(lines) < 1000
