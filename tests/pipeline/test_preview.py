"""Some rows of any table or path, without an engine."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.jobs.merge.run import run_merge
from mason.pipeline.reading.preview import Preview, preview_plan, preview_table
from mason.pipeline.reading.request import NoSuchColumn
from mason.pipeline.reading.view import view_table
from mason.util.text_table import room

LOCAL = pafs.LocalFileSystem()


def preview(path: Path, limit: int = 10, *columns: str, at_random: bool = False) -> Preview:
    return preview_table(LOCAL, view_table(Location(str(path))), limit, columns, at_random=at_random)


def merged(tmp_path: Path, **options: object) -> Path:
    given = MergeOptions(**options)  # type: ignore[arg-type]
    plan = plan_merge(MergeJob(Location(str(tmp_path / "in")), Location(str(tmp_path / "out")), given))
    run_merge(plan, InProcessRunner(), uuid4().hex[:16], lambda *_: None)
    return tmp_path / "out"


def test_the_first_rows_of_files_that_differ_are_in_the_types_of_all(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,n\n1,1\n2,2\n")
    (tmp_path / "b.jsonl").write_text('{"n": 1.5, "x": {"y": 1}}\n')

    found = preview(tmp_path)

    assert found.rows == [
        {"id": 1, "n": 1.0, "x": None},
        {"id": 2, "n": 2.0, "x": None},
        {"id": None, "n": 1.5, "x": {"y": 1}},
    ]
    assert preview(tmp_path, 1).rows == found.rows[:1]


@pytest.mark.parametrize("at_random", [False, True])
def test_records_that_cannot_be_read_are_counted_and_told(tmp_path: Path, at_random: bool) -> None:
    (tmp_path / "a.csv").write_text("id,n\n1,1\n2,2,2\n3,3\n")

    found = preview(tmp_path, at_random=at_random)

    assert [row["id"] for row in found.rows] == [1, 3]
    told = "Left out, since unreadable: 1 record. A merge of the files keeps such records in its quarantine."
    assert found.warnings == [told]


def test_a_table_is_read_through_its_newest_commit_with_its_partitions(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id,day\n1,2026-01-01\n2,2026-01-02\n")
    out = merged(tmp_path, repartition_keys=("day",))
    stranger = pa.table({"id": [99]})
    pq.write_table(stranger, out / "day=2026-01-01" / "stranger.parquet")

    rows = preview(out).rows

    assert [(row["id"], str(row["day"])) for row in rows] == [(1, "2026-01-01"), (2, "2026-01-02")]


@pytest.mark.parametrize("at_random", [False, True])
def test_a_file_that_is_older_than_a_column_has_nulls_there(tmp_path: Path, at_random: bool) -> None:
    (tmp_path / "in").mkdir()
    for text in ("id\n1\n", "id,name\n2,x\n"):
        (tmp_path / "in" / "a.csv").write_text(text)
        out = merged(tmp_path, mode=Mode.APPEND)

    rows = preview(out, at_random=at_random).rows

    assert rows == [{"id": 1, "name": None}, {"id": 2, "name": "x"}]


def test_columns_are_chosen_in_the_order_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,c\n1,2,3\n")

    assert list(preview(tmp_path, 1, "c", "a").rows[0].items()) == [("c", 3), ("a", 1)]
    with pytest.raises(NoSuchColumn, match='There is no column "bb"'):
        preview(tmp_path, 1, "bb")


def test_rows_at_random_come_from_everywhere_in_parquet(tmp_path: Path) -> None:
    table = pa.table({"id": range(10_000)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1_000)

    ids = [row["id"] for row in preview(tmp_path, 200, at_random=True).rows]

    assert len(set(ids)) == 200
    assert min(ids) < 2_000 and max(ids) > 8_000, "a chance of less than one in 10^19 to be wrong"


def test_rows_at_random_are_as_many_as_are_wanted_and_none_comes_twice(tmp_path: Path) -> None:
    for number in range(20):
        pq.write_table(pa.table({"id": [2 * number, 2 * number + 1]}), tmp_path / f"{number:02}.parquet")
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), tmp_path / "in" / "a.parquet")

    ids = [row["id"] for row in preview(tmp_path, 39, at_random=True).rows]

    assert len(ids) == len(set(ids)) == 39
    assert preview(merged(tmp_path), 5, at_random=True).rows == []


def test_rows_at_random_of_text_are_rows_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(1000)))

    ids = [row["id"] for row in preview(tmp_path, 50, at_random=True).rows]

    assert len(set(ids)) == 50 and set(ids) <= set(range(1000)) and ids != list(range(50))


def test_a_plan_says_what_is_then_shown(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2, 3], "b": ["x", "y", None]}), tmp_path / "t.parquet")
    for limit in (2, 10):
        plan = preview_plan(view_table(Location(str(tmp_path))), limit, ["b"])
        shown = preview(tmp_path, limit, "b")
        assert plan["Inputs"] == [str(tmp_path / "t.parquet")]
        assert (plan["Columns"], plan["RowsShown"]) == (shown.to_dict()["Columns"], len(shown.rows))


def test_a_value_beyond_the_sample_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n" + "1\n" * 3_000 + "x\n")

    assert preview(tmp_path, 10_000).rows[-1] == {"n": "x"}


def test_an_empty_table_has_columns_and_no_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n")

    found = preview(tmp_path).to_dict()

    assert [each["Name"] for each in found["Columns"]] == ["a", "b"] and found["Rows"] == []


def test_the_picture_fits_the_terminal_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    names = [f"column {n}" for n in range(5_000)]
    (tmp_path / "a.csv").write_text(",".join(names) + "\n" + ",".join(["some\x1btext" + "x" * 100] * 5_000) + "\n")

    lines = preview(tmp_path).picture(60)

    assert max(map(len, lines)) <= 60
    assert lines[-1] == "… and 4,998 columns more"
    assert not any("\x1b" in line for line in lines)


def test_columns_stand_below_each_other_whatever_the_characters(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,n\n日本語,1\nplain,2\n" + "語" * 30 + ",3\n")

    *_, japanese, plain, long = preview(tmp_path).picture(60)

    assert room(japanese) == room(plain) == room(long) == len("語" * 13) * 2 + len("… ") + len("  1")


def test_the_picture_tells_empty_text_from_null(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('n,name\n1,\n2,""\n')

    *_, null, empty = preview(tmp_path).picture(60)

    assert (null.split(), empty.split()) == (["1"], ["2", '""'])


def test_an_accent_that_is_a_character_of_its_own_takes_no_room(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,n\ncafe\u0301,1\nplain,2\n", encoding="utf-8")

    *_, accent, plain = preview(tmp_path).picture(60)

    assert accent.replace("\u0301", "").index("1") == plain.index("2")
