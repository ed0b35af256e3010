from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mason.engines.storage.models.location import Location
from mason.errors import BadPath
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.dedupe import find
from mason.pipeline.jobs.dedupe.job import DedupeJob, DedupeOptions, DedupeResult, DedupeWork, NotComparable
from mason.pipeline.jobs.dedupe.sink import DividingSink
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.reading.request import NoSuchColumn, OwnName
from mason.pipeline.tables.commit import ChangedMeanwhile
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.rejects import read_quarantine
from mason.pipeline.work.row_sums import RowsLost
from mason.pipeline.work.tasks import TaskRunner
from tests.sql.conftest import Database

ROWS = "id,version,name\n1,1,a\n2,1,b\n1,3,c\n1,2,d\n2,,e\n,1,f\n,2,g\n"


def planned(path: Path, output: Path | None = None, removed: Path | None = None, **options: Any) -> DedupeWork:
    job = DedupeJob(
        path=Location(str(path)),
        output=Location(str(output or path)),
        removed=Location(str(removed)) if removed else None,
        options=DedupeOptions(**options),
    )
    return DedupeWork.plan(job.to_job())


def deduped(
    runner: TaskRunner, path: Path, output: Path | None = None, removed: Path | None = None, **options: Any
) -> DedupeResult:
    return planned(path, output, removed, **options).run(runner, "deduped", lambda *_: None)


def rows_of(path: Path, columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    commit = TableFolder(str(path)).current()
    assert commit is not None
    tables = [pq.read_table(path / each.path, partitioning=None) for each in commit.files]
    return pa.concat_tables(tables).to_pylist() if tables else []


def names(path: Path) -> str:
    return "".join(row["name"] for row in rows_of(path))


@pytest.fixture(params=["by tasks", "by many tasks", "by a query"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to find the rows that go, and the first with several shares of the keys."""
    if request.param == "by a query":
        monkeypatch.setattr(find, "MOST_ROWS_BY_TASKS", -1)
    elif request.param == "by many tasks":
        monkeypatch.setattr(find, "FEW_ROWS", 0)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"keys": ["id"]}, "abf"),
        ({"keys": ["id"], "keep": "last"}, "deg"),
        ({"keys": ["id"], "order_by": ["version"]}, "abf"),
        ({"keys": ["id"], "order_by": ["version"], "keep": "last"}, "bcg"),
        ({"keys": ["id"], "order_by": ["version desc"]}, "bcg"),
        ({"keys": ["id"], "order_by": ["version desc"], "keep": "last"}, "abf"),
        ({"keys": ["id", "version"]}, "abcdefg"),
        ({}, "abcdefg"),
    ],
)
def test_of_the_rows_with_one_key_the_same_one_is_kept_on_every_engine(
    database: Database, options: dict[str, Any], kept: str
) -> None:
    path = database.given("t", ROWS)
    result = deduped(database.runner, path, **options)
    assert names(path) == kept
    assert (result.rows_in, result.commit.rows, result.removed) == (7, len(kept), 7 - len(kept))


def test_whole_rows_that_are_the_same_are_kept_once(database: Database) -> None:
    path = database.given("t", "a,b\n1,x\n1,x\n1,\n1,\n2,x\n")
    deduped(database.runner, path)
    assert [tuple(row.values()) for row in rows_of(path)] == [(1, "x"), (1, None), (2, "x")]


def test_nan_and_minus_zero_are_keys_as_sql_groups_them(database: Database) -> None:
    table = pa.table({"k": [math.nan, -0.0, 0.0, math.nan, None, None, math.inf], "name": list("abcdefg")})
    path = database.given("t", table)
    deduped(database.runner, path, keys=["k"])
    assert names(path) == "abeg"


def test_ties_are_broken_by_file_and_row(database: Database) -> None:
    source = database.root / "in" / "t"
    source.mkdir(parents=True)
    for number in range(5):
        pq.write_table(
            pa.table({"k": [1, 2, 3], "v": [7, 7, 7], "from": [number * 10 + row for row in range(3)]}),
            source / f"{number}.parquet",
        )
    path = database.given("t", pa.table({"k": [1], "v": [7], "from": [99]}))
    for keep, expected in (("first", {1: 0, 2: 1, 3: 2}), ("last", {1: 40, 2: 41, 3: 42})):
        output = database.root / keep
        deduped(database.runner, path, output, keys=["k"], order_by=["v"], keep=keep)
        assert {row["k"]: row["from"] for row in rows_of(output)} == expected


def test_removed_rows_are_counted_and_can_be_saved(database: Database, tmp_path: Path) -> None:
    path = database.given("t", ROWS)
    result = deduped(database.runner, path, tmp_path / "out", tmp_path / "removed", keys=["id"])
    assert (names(tmp_path / "out"), names(tmp_path / "removed")) == ("abf", "cdeg")
    assert result.to_dict()["RowsRemoved"] == 4
    assert names(path) == "abcdefg"


def test_the_picture_shows_how_many_rows_stayed(here: Database, tmp_path: Path) -> None:
    result = deduped(here.runner, here.given("t", ROWS), tmp_path / "out", keys=["id"])
    kept, removed = result.picture(80)
    assert (kept.split()[:2], removed.split()[:2]) == (["kept", "3"], ["removed", "4"])
    assert kept.count("█") * 4 == pytest.approx(removed.count("█") * 3, abs=4)


def test_a_partitioned_table_keeps_its_folders(database: Database) -> None:
    text = "k,day,name\n1,2026-01-01,a\n1,2026-01-02,b\n2,2026-01-02,c\n2,,d\n"
    path = database.given("t", text, repartition_keys=("day",))
    deduped(database.runner, path, keys=["k"], order_by=["day"], keep="last")
    commit = TableFolder(str(path)).current()
    assert commit is not None
    assert (list(commit.partition_keys), commit.rows) == (["day"], 2)
    assert sorted(names(path)) == ["b", "c"]
    assert all(each.path.startswith("day=2026-01-02/") for each in commit.files)


def test_a_table_that_is_deduped_keeps_its_quarantine_and_knows_what_was_merged(here: Database) -> None:
    path = here.given("t", "id,n\n1,1\n2\n1,1\n3,3\n")
    before = list(read_quarantine(Location(str(path))))

    deduped(here.runner, path)

    assert list(read_quarantine(Location(str(path)))) == before and len(before) == 1
    again = MergeJob(Location(str(here.root / "in" / "t")), Location(str(path)), options=MergeOptions(incremental=True))
    assert list(plan_merge(again).files) == [], "nothing is new"


def test_files_that_are_no_table_are_deduped_into_one(database: Database, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.csv").write_text("id,name\n1,a\n1,b\n")
    (tmp_path / "raw" / "b.jsonl").write_text('{"id": 1, "name": "c"}\n{"id": 2, "name": "d"}\n')
    deduped(database.runner, tmp_path / "raw", tmp_path / "out", keys=["id"], keep="last")
    assert names(tmp_path / "out") == "cd"


def test_an_empty_table_and_one_of_nulls_only(database: Database, tmp_path: Path) -> None:
    path = database.given("t", pa.table({"a": pa.array([None, None], pa.string())}))
    assert deduped(database.runner, path, keys=["a"]).commit.rows == 1
    database.ask("select * from t where a = 'x'", output=str(tmp_path / "empty"))
    result = deduped(database.runner, tmp_path / "empty", keys=["a"])
    assert (result.rows_in, result.commit.rows) == (0, 0)


@pytest.mark.parametrize("name", ["select", "a.b", 'quo"te', "back`tick", "sp ace desc", "x; drop table t", "Ü😀"])
def test_any_name_can_be_a_key(database: Database, name: str) -> None:
    path = database.given("t", pa.table({name: [1, 1, 2], "name": list("abc")}))
    deduped(database.runner, path, keys=[name], order_by=[name])
    assert names(path) == "ac"


def test_a_list_and_a_struct_can_be_keys_and_a_map_cannot(here: Database) -> None:
    table = pa.table(
        {
            "l": pa.array([[1], [1], None]),
            "s": pa.array([{"x": 1}, {"x": 1}, None]),
            "name": list("abc"),
        }
    )
    path = here.given("t", table)
    deduped(here.runner, path, keys=["l", "s"])
    assert names(path) == "ac"
    odd = here.root / "maps"
    odd.mkdir()
    pq.write_table(pa.table({"m": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))}), odd / "m.parquet")
    with pytest.raises(NotComparable, match='"m" holds maps'):
        planned(odd, here.root / "out", keys=["m"])


def test_a_key_that_does_not_exist_is_refused_with_the_nearest_name(here: Database) -> None:
    path = here.given("t", ROWS)
    with pytest.raises(NoSuchColumn, match='no column "verson"') as raised:
        planned(path, keys=["id"], order_by=["verson desc"])
    assert 'Did you mean "version"?' in str(raised.value)


def test_a_column_that_is_called_as_masons_own_is_refused_by_its_name(here: Database) -> None:
    path = here.given("t", pa.table({"id": [1, 1], "_mason_file": [0, 0]}))
    with pytest.raises(OwnName, match='Column "_mason_file" is called as one that Mason adds'):
        planned(path, keys=["id"])


def test_files_that_are_no_table_are_not_replaced(here: Database, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(BadPath, match="Give an output_path"):
        planned(tmp_path / "a.csv", keys=["a"])


def test_a_table_inside_another_one_is_refused(here: Database) -> None:
    path, out = here.given("t", ROWS), here.root / "out"
    for output in (path.parent, path / "out"):
        with pytest.raises(BadPath, match="lies inside"):
            planned(path, output, keys=["id"])
    for removed in (path, path / "removed", path.parent, out, out / "removed"):
        with pytest.raises(BadPath, match="The removed rows cannot go to"):
            planned(path, out, removed, keys=["id"])


def test_a_plan_says_what_the_run_then_reads(here: Database) -> None:
    path = here.given("t", ROWS)
    work = planned(path, keys=["id"])
    plan = work.to_dict()
    assert (plan["RowsIn"], plan["Keys"], plan["Keep"]) == (7, ["id"], "first")
    done = work.run(here.runner, "run", lambda *_: None).to_dict()
    assert {name: done[name] for name in plan} == plan


def test_removed_rows_are_not_written_over_what_another_job_wrote_meanwhile(here: Database, tmp_path: Path) -> None:
    path, removed = here.given("t", ROWS), tmp_path / "removed"
    work = planned(path, removed=removed, keys=["id"])

    def overtake(*_: int) -> None:
        if not removed.exists():
            deduped(here.runner, here.given("other", ROWS), tmp_path / "once", removed, keys=["id", "version"])

    with pytest.raises(ChangedMeanwhile, match="removed was changed by another job"):
        work.run(here.runner, "late", overtake)
    assert names(path) == "abcdefg"
    assert TableFolder(str(removed)).current().job == "deduped"  # type: ignore[union-attr]


def test_a_row_that_is_dropped_fails_the_job_and_leaves_the_table(
    here: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = here.given("t", ROWS)
    write = DividingSink.write
    monkeypatch.setattr(DividingSink, "write", lambda self, rows: write(self, rows.slice(0, rows.num_rows - 1)))
    with pytest.raises(RowsLost):
        deduped(here.runner, path, keys=["id"])
    assert names(path) == "abcdefg"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([1, 2, None]), st.sampled_from([date(2026, 1, 1), date(2026, 1, 2), None]))),
    st.sampled_from(["first", "last"]),
    st.booleans(),
)
def test_the_row_that_is_kept_is_the_first_in_a_total_order(
    rows: list[tuple[int | None, date | None]], keep: str, descending: bool
) -> None:
    import tempfile

    if not rows:
        return
    with tempfile.TemporaryDirectory() as folder:
        here = Database(Path(folder), InProcessRunner())
        keys, days = [row[0] for row in rows], [row[1] for row in rows]
        table = pa.table({"k": pa.array(keys, pa.int64()), "d": pa.array(days, pa.date32()), "n": range(len(rows))})
        path = here.given("t", table)
        order = ["d desc" if descending else "d"]
        deduped(here.runner, path, keys=["k"], order_by=order, keep=keep)
        kept = {row["k"]: row["n"] for row in rows_of(path)}
    backwards = descending != (keep == "last")
    for key in set(keys):
        mine = [(days[number], number) for number in range(len(rows)) if keys[number] == key]
        dated = [each for each in mine if each[0] is not None]
        ends = [day for day, _ in dated]
        best = (max(ends) if backwards else min(ends)) if ends else None
        candidates = [number for day, number in mine if day == best]
        assert kept[key] == (max(candidates) if keep == "last" else min(candidates))
