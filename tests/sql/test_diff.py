from __future__ import annotations

import math
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.diff.job import DiffJob, DiffOptions, DiffResult, DiffWork
from mason.pipeline.jobs.diff.schemas import NothingToCompare
from mason.pipeline.jobs.merge.job import Mode
from mason.pipeline.reading.request import NoSuchColumn, OwnName
from mason.pipeline.work.row_sums import RowsLost
from tests.sql.conftest import Database

BEFORE = "id,name,price\n1,a,1.00\n2,b,2.00\n3,c,3.00\n3,c,3.00\n,n,0.00\n"
AFTER = "id,name,price\n1,a,1.00\n2,b,2.50\n3,c,3.00\n4,d,4.00\n,n,0.00\n"


def planned(before: Path, after: Path, **options: Any) -> DiffWork:
    return DiffWork.plan(DiffJob(Location(str(before)), Location(str(after)), options=DiffOptions(**options)).to_job())


def diffed(database: Database, before: Path, after: Path, **options: Any) -> DiffResult:
    return planned(before, after, **options).run(database.runner, "diffed", lambda *_: None)


def counts(result: DiffResult) -> tuple[int, int, int, int]:
    return result.same, result.added, result.removed, result.changed


def test_rows_that_one_table_has_more_often_are_added_or_removed(database: Database) -> None:
    result = diffed(database, database.given("b", BEFORE), database.given("a", AFTER))
    assert counts(result) == (3, 2, 2, 0)
    assert [result.to_dict()[name] for name in ("RowsIn", "RowsBefore", "RowsAfter")] == [10, 5, 5]
    assert [(row["id"], row["name"], str(row["price"])) for row in result.samples["Added"]] == [
        (2, "b", "2.50"),
        (4, "d", "4.00"),
    ]
    assert [row["id"] for row in result.samples["Removed"]] == [2, 3]


def test_rows_of_one_key_are_one_row_that_changed(database: Database) -> None:
    result = diffed(database, database.given("b", BEFORE), database.given("a", AFTER), keys=["id"])
    assert counts(result) == (3, 1, 1, 1)
    (change,) = result.samples["Changed"]
    assert change["Key"] == {"id": 2}
    assert (str(change["Before"]["price"]), str(change["After"]["price"])) == ("2.00", "2.50")
    assert [row["id"] for row in result.samples["Added"]] == [4]
    assert [row["id"] for row in result.samples["Removed"]] == [3]


def test_columns_that_came_went_or_changed_their_type_are_told(database: Database) -> None:
    before = database.given("b", pa.table({"id": [1, 2], "n": ["1", "x"], "old": [True, False]}))
    after = database.given("a", pa.table({"id": [1, 2], "n": [1, 2], "new": ["p", "q"]}))
    result = diffed(database, before, after, keys=["id"])
    told = result.to_dict()["Schema"]
    assert told["Added"] == [{"Name": "new", "Type": "string"}]
    assert told["Removed"] == [{"Name": "old", "Type": "bool"}]
    assert told["Changed"] == [{"Name": "n", "Before": "string", "After": "int64"}]
    assert counts(result) == (1, 0, 0, 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (pa.uint8(), pa.int64()),
        (pa.uint64(), pa.uint64()),
        (pa.int8(), pa.int16()),
        (pa.uint32(), pa.float64()),
        (pa.decimal128(23, 2), pa.uint16()),
    ],
    ids=str,
)
def test_numbers_of_two_types_are_compared_as_numbers(
    database: Database, before: pa.DataType, after: pa.DataType
) -> None:
    tables = [
        database.given(name, pa.table({"k": [1, 2], "n": pa.array(values).cast(kind)}))
        for name, values, kind in (("b", [1, 2], before), ("a", [1, 3], after))
    ]
    result = diffed(database, *tables, keys=["k"])
    assert counts(result) == (1, 0, 0, 1)
    (change,) = result.samples["Changed"]
    assert (change["Before"]["n"], change["After"]["n"]) == (2, 3)


def test_versions_of_one_table_are_compared(database: Database) -> None:
    path = database.given("t", BEFORE)
    database.given("t", AFTER, mode=Mode.APPEND)
    result = diffed(database, path, path, version="1", other_version="2")
    assert (result.before.rows, result.after.rows) == (5, 15)
    assert (result.removed, result.added) == (0, 10)


def test_nan_minus_zero_and_nulls_are_the_same_as_themselves(database: Database) -> None:
    before = database.given("b", pa.table({"k": [1, 2, 3, None], "f": [math.nan, -0.0, None, 1.0]}))
    after = database.given("a", pa.table({"k": [1, 2, 3, None], "f": [math.nan, 0.0, None, 1.0]}))
    assert counts(diffed(database, before, after, keys=["k"])) == (4, 0, 0, 0)


def test_of_a_key_that_is_there_several_times_every_row_is_told_as_it_is_counted(database: Database) -> None:
    before = database.given("b", pa.table({"id": [1, 1, 2, None], "v": ["a", "b", "x", "n"]}))
    after = database.given("a", pa.table({"id": [1, 2, 2, None, None], "v": ["c", "y", "z", "n", "m"]}))
    result = diffed(database, before, after, keys=["id"])
    assert counts(result) == (1, 2, 1, 2)
    assert [tuple(row.values()) for row in result.samples["Added"]] == [(None, "m"), (2, "z")]
    assert [tuple(row.values()) for row in result.samples["Removed"]] == [(1, "b")]
    changed = [(each["Before"]["v"], each["After"]["v"]) for each in result.samples["Changed"]]
    assert changed == [("a", "c"), ("x", "y")]


def test_a_row_whose_key_is_minus_zero_and_then_zero_has_changed(database: Database) -> None:
    before = database.given("b", pa.table({"k": [-0.0, math.nan], "v": [1, 1]}))
    after = database.given("a", pa.table({"k": [0.0, math.nan], "v": [2, 3]}))
    result = diffed(database, before, after, keys=["k"])
    assert counts(result) == (0, 0, 0, 2)
    assert [(each["Before"]["v"], each["After"]["v"]) for each in result.samples["Changed"]] == [(1, 2), (1, 3)]


def test_nested_values_are_compared_and_maps_are_not(database: Database) -> None:
    kind = pa.struct([("x", pa.list_(pa.int64()))])
    maps = pa.map_(pa.string(), pa.int64())
    rows = [{"x": [1, 2]}, {"x": None}]
    (database.root / "b").mkdir()
    (database.root / "a").mkdir()
    for name, last in (("b", {"x": [3]}), ("a", {"x": [4]})):
        table = pa.table({"s": pa.array([*rows, last], kind), "m": pa.array([[("k", 1)]] * 3, maps)})
        pq.write_table(table, database.root / name / "t.parquet")
    result = diffed(database, database.root / "b", database.root / "a")
    assert counts(result) == (2, 1, 1, 0)
    assert result.to_dict()["Schema"]["NotCompared"] == ["m"]
    assert 'Column "m" is not compared' in " ".join(result.work.warnings)


def test_files_of_any_format_are_compared(database: Database, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("id,name\n1,a\n2,b\n")
    (tmp_path / "a.jsonl").write_text('{"id": 1, "name": "a"}\n{"id": 3, "name": "b"}\n')
    assert counts(diffed(database, tmp_path / "b.csv", tmp_path / "a.jsonl")) == (1, 1, 1, 0)


@pytest.mark.parametrize("name", ["select", "a.b", 'quo"te', "back`tick", "x; drop table t", "Ü😀", "a", "r", "_most"])
def test_any_name_can_be_a_key(database: Database, name: str) -> None:
    before = database.given("b", pa.table({name: [1, 2], "v": [1, 2]}))
    after = database.given("c", pa.table({name: [1, 2], "v": [1, 3]}))
    assert counts(diffed(database, before, after, keys=[name])) == (1, 0, 0, 1)


def test_a_column_that_is_called_as_a_variable_of_spark_keeps_its_name_and_tells_no_value(database: Database) -> None:
    before = database.given("b", "id,${env:HOME}\n1,x\n2,y\n")
    after = database.given("a", "id,${env:HOME}\n1,x\n2,z\n")

    result = diffed(database, before, after, keys=["${env:HOME}"])

    assert counts(result) == (1, 1, 1, 0)
    assert [row["${env:HOME}"] for row in result.samples["Added"]] == ["z"]


def test_samples_of_changes_are_pairs_however_many_rows_a_key_has(database: Database) -> None:
    before = database.given("b", pa.table({"k": [1] * 40, "v": [f"a{number:02}" for number in range(40)]}))
    after = database.given("a", pa.table({"k": [1] * 40, "v": [f"b{number:02}" for number in range(40)]}))

    result = diffed(database, before, after, keys=["k"], limit=5)

    assert counts(result) == (0, 0, 0, 40)
    pairs = [(each["Before"]["v"], each["After"]["v"]) for each in result.samples["Changed"]]
    assert pairs == [(f"a{number:02}", f"b{number:02}") for number in range(5)]


def test_a_row_that_changed_several_times_is_in_as_many_samples(database: Database) -> None:
    before = database.given("b", pa.table({"k": [1, 1, 1, 2, 2], "v": ["a", "a", "b", "x", "x"]}))
    after = database.given("a", pa.table({"k": [1, 1, 1, 2, 2], "v": ["c", "d", "d", "y", "y"]}))

    result = diffed(database, before, after, keys=["k"], limit=4)

    assert counts(result) == (0, 0, 0, 5)
    pairs = [(each["Before"]["v"], each["After"]["v"]) for each in result.samples["Changed"]]
    assert pairs == [("a", "c"), ("a", "d"), ("b", "d"), ("x", "y")]


def test_an_empty_table_and_itself(database: Database, tmp_path: Path) -> None:
    database.given("b", BEFORE)
    database.ask("select * from b where 1 = 0", output=str(tmp_path / "empty"))
    assert counts(diffed(database, tmp_path / "empty", tmp_path / "b")) == (0, 5, 0, 0)
    assert counts(diffed(database, tmp_path / "empty", tmp_path / "empty")) == (0, 0, 0, 0)


def test_tables_without_a_common_column_and_keys_that_are_not_there_are_refused(here: Database) -> None:
    before, after = here.given("b", pa.table({"x": [1]})), here.given("a", pa.table({"y": [1]}))
    with pytest.raises(NothingToCompare, match="no column in common"):
        planned(before, after)
    with pytest.raises(NoSuchColumn, match='no column "z"'):
        planned(before, before, keys=["z"])


def test_a_column_that_is_called_as_masons_own_is_refused_by_its_name(here: Database) -> None:
    before, after = here.given("b", pa.table({"x": [1], "_MASON_more": [1]})), here.given("a", pa.table({"x": [1]}))
    assert counts(diffed(here, before, after))[0] == 1, "what is not compared may have any name"
    with pytest.raises(OwnName, match='Column "_MASON_more" is called as one that Mason adds'):
        planned(before, before)


def test_the_picture_shows_what_became_of_each_row(here: Database) -> None:
    result = diffed(here, here.given("b", BEFORE), here.given("a", AFTER), keys=["id"])
    lines = [" ".join(line.split()) for line in result.picture(80)]
    assert "~ - 2 b 2.00" in lines
    assert "~ + 2 b 2.50" in lines
    assert "+ 4 d 4.00" in lines


def test_a_difference_that_is_lost_fails_the_job(here: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from mason.pipeline.formats.writers.table_writer import TableWriter

    before, after = here.given("b", BEFORE), here.given("a", AFTER + "9,z,9.00\n")
    write = TableWriter.write
    monkeypatch.setattr(TableWriter, "write", lambda self, batch: write(self, batch.slice(1)))
    with pytest.raises(RowsLost):
        diffed(here, before, after)


_ROWS = st.lists(st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["a", "", None])), min_size=1)


@settings(max_examples=30, deadline=None)
@given(_ROWS, _ROWS)
def test_what_is_added_and_removed_is_the_difference_of_the_multisets(
    before: list[tuple[int | None, str | None]], after: list[tuple[int | None, str | None]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Database(Path(folder), InProcessRunner())
        paths = [
            here.given(name, pa.table({"k": pa.array([k for k, _ in rows], pa.int64()), "v": [v for _, v in rows]}))
            for name, rows in (("b", before), ("a", after))
        ]
        result = diffed(here, *paths)
    assert result.added == (Counter(after) - Counter(before)).total()
    assert result.removed == (Counter(before) - Counter(after)).total()
