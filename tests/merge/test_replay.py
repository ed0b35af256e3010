"""Quarantined records that somebody mended go back into the table, and the numbers add up."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from mason.engines.storage.models.location import Location
from mason.errors import UnreadableFile
from mason.pipeline.jobs.merge.mended import NotMended, encode_rejects
from mason.pipeline.jobs.merge.replay import ReplayJob, ReplayPlan, ReplayResult, plan_replay, run_replay
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.rejects import Reject
from mason.pipeline.work.row_sums import RowsLost
from tests.conftest import PROJECT
from tests.merge.conftest import Merge

KILLED = """
import os, sys
from pathlib import Path
from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.replay import ReplayJob, plan_replay, run_replay

class Killed(InProcessRunner):
    def run(self, kernel, tasks):
        os._exit(9)

root = Path(sys.argv[1])
plan = plan_replay(ReplayJob(Location(str(root / "out")), Location(str(root / "bad.csv"))))
run_replay(plan, Killed(), "killed", lambda *_: None)
"""


def export_rejects(rejects: Iterable[Reject], file: Path) -> None:
    file.write_bytes(encode_rejects(rejects, file.name))


def export(merge: Merge, name: str = "bad.csv") -> Path:
    export_rejects(merge.rejects(), merge.root / name)
    return merge.root / name


def mend(file: Path, *changes: tuple[str, str]) -> None:
    text = file.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)


def plan(merge: Merge, file: Path) -> ReplayPlan:
    return plan_replay(ReplayJob(Location(str(merge.output)), Location(str(file))))


def replay(merge: Merge, file: Path) -> ReplayResult:
    return run_replay(plan(merge, file), merge.runner, f"replay{next(merge.jobs)}", lambda *_: None)


def test_a_mended_record_becomes_a_row_and_leaves_the_quarantine(merge: Merge) -> None:
    merge.given("a.csv", "id,name\n1,x\n2,y\n3\n4,z\n5\n6,w\n")
    merge.run()
    file = export(merge)
    mend(file, (',"3"\n', ',"3,three"\n'))

    result = replay(merge, file)

    assert sorted((row["id"], row["name"]) for row in merge.table().to_pylist()) == [
        (1, "x"),
        (2, "y"),
        (3, "three"),
        (4, "z"),
        (6, "w"),
    ]
    (left,) = merge.rejects()
    assert (left.file, left.record, left.raw) == ("a.csv", 6, "5")
    told = result.to_dict()
    assert (told["RowsIn"], told["RowsOut"], told["RowsQuarantined"], told["StillQuarantined"]) == (1, 1, 0, 1)
    assert merge.left_behind() == []


@pytest.mark.parametrize("name", ["bad.csv", "bad.jsonl"])
def test_every_record_goes_back_in_the_end_and_no_row_is_lost_on_the_way(merge: Merge, name: str) -> None:
    merge.given("a.csv", 'id,note\n1,"a\nb"\n2\n3,"x","y"\n' + "9,ok\n" * 8)
    merge.given("b.jsonl", '{"id": 4, "note": "d"}\nnot json\n')
    assert merge.run().quarantined == 3
    file = export(merge, name)
    text = file.read_text()
    file.write_text(text.replace("not json", "{}"))
    replay(merge, file)
    assert (merge.table().num_rows, len(merge.rejects())) == (11, 2)

    again = export(merge, name)
    rows = {each.id: each for each in merge.rejects()}
    mended = {name: "2,two" if each.raw == "2" else '3,"x,y"' for name, each in rows.items()}
    export_rejects([replace(each, raw=mended[each.id]) for each in merge.rejects()], again)
    replay(merge, again)

    assert merge.rejects() == []
    assert merge.table().num_rows == 13
    assert {"id": 3, "note": "x,y"} in merge.table().to_pylist()


def test_a_record_that_still_does_not_fit_is_quarantined_again_under_its_old_place(merge: Merge) -> None:
    merge.given("a.csv", "id,n\n" + "1,1\n" * 5 + "2,x,3\n")
    merge.run()
    (before,) = merge.rejects()
    file = export(merge)
    mend(file, ("2,x,3", "2,abc"))

    result = replay(merge, file)

    (after,) = merge.rejects()
    assert (after.id, after.file, after.record, after.offset) == (before.id, "a.csv", 7, before.offset)
    assert (after.raw, after.column, after.reason) == ("2,abc", "n", '"abc" is not a bigint')
    assert merge.types() == {"id": "int64", "n": "int64"}
    assert list(result.warnings) == ["1 record did not fit again: see the quarantine."]


def test_records_keep_what_their_folders_say_and_the_partitions_of_the_table(merge: Merge) -> None:
    merge.given("north/day=2026-01-01/a.csv", "id,n\n1,1\n2\n" + "3,3\n" * 3)
    merge.run(extract_paths=True, repartition_keys=["day"])
    file = export(merge)
    mend(file, (',"2"\n', ',"2,2"\n'))

    replay(merge, file)

    (row,) = [row for row in merge.table().to_pylist() if row["id"] == 2]
    assert (row["dir_0"], str(row["day"]), row["n"]) == ("north", "2026-01-01", 2)


def test_values_that_did_not_fit_a_schema_that_was_given_can_be_mended(merge: Merge) -> None:
    merge.given("a.parquet", pa.table({"id": ["1", "x", "3"], "n": [1.5, 2.5, 3.5]}))
    merge.run(schema="id int")
    file = export(merge)
    mend(file, ('""x""', '""2""'))

    replay(merge, file)

    assert sorted((row["id"], row["n"]) for row in merge.table().to_pylist()) == [(1, 1.5), (2, 2.5), (3, 3.5)]


def test_bytes_and_maps_of_typed_files_are_what_they_were(merge: Merge) -> None:
    maps = pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int64()))
    merge.given("a.parquet", pa.table({"id": ["1", "x", "y"], "b": [b"\xff", b"ok", b"\xfe"], "m": maps}))
    merge.run(schema="id int", most_bad_share=1.0)
    file = merge.root / "bad.jsonl"
    export_rejects(
        [replace(each, raw=each.raw.replace('"x"', "2").replace('"y"', "3")) for each in merge.rejects()], file
    )

    replay(merge, file)

    rows = sorted((row["id"], row["b"], row["m"]) for row in merge.table().to_pylist())
    assert rows == [(1, b"\xff", [("a", 1)]), (2, b"ok", [("a", 1)])]
    (left,) = merge.rejects()
    assert left.reason == "it is not a JSON object", "JSON has no bytes: better there than as something else"


def test_a_replay_that_reads_other_than_its_records_fails(merge: Merge) -> None:
    merge.given("a.csv", "id,n\n1\n2,2\n3,3\n")
    merge.run()
    file = export(merge)
    mend(file, (',"1"\n', ',"1,1"\n'))
    wrong = plan(merge, file)
    blank = replace(wrong, records=[replace(each, raw="") for each in wrong.records])

    with pytest.raises(RowsLost, match="1 record to be replayed, but 0 read"):
        run_replay(blank, merge.runner, "replay", lambda *_: None)
    assert len(merge.rejects()) == 1


def test_an_old_export_does_not_touch_other_records(merge: Merge) -> None:
    merge.given("a.csv", "id,n\n1\n2\n3\n" + "4,4\n" * 6)
    merge.run()
    file, old = export(merge), export(merge, "old.csv")
    mend(file, (',"1"\n', ',"1,1"\n'))
    replay(merge, file)
    mend(old, (',"1"\n', ',"1,1"\n'))

    with pytest.raises(PlanRefused, match=r'Record ".+" is not in the quarantine of .+ any more: export what is there'):
        plan(merge, old)
    mend(file, (',"2"\n', ',"2,2"\n'), (',"3"\n', ',"3,3"\n'))
    export_rejects([*merge.rejects(), *[replace(each, id=f"{each.id}0") for each in merge.rejects()]], old)
    with pytest.raises(PlanRefused, match=r'^2 records, such as ".+", are not in the quarantine'):
        plan(merge, old)
    assert sorted(each.raw for each in merge.rejects()) == ["2", "3"]


def test_nothing_mended_is_said(merge: Merge) -> None:
    merge.given("a.csv", "id,n\n1\n2,2\n3,3\n")
    merge.run()

    with pytest.raises(NotMended, match="None of the 1 record "):
        plan(merge, export(merge))


@pytest.mark.parametrize(
    ("mended", "problem"),
    [
        ('"1,2', "a quote is opened and not closed"),
        (
            "1,2\n3,4",
            "holds 2 records instead of one: it was 1 line of its file. Put quotes around",
        ),
        ("", "is empty: leave it out of the file if it is to stay in the quarantine"),
    ],
)
def test_a_record_that_would_take_others_with_it_is_refused(merge: Merge, mended: str, problem: str) -> None:
    merge.given("a.csv", "id,n\n1\n2,2\n3,3\n")
    merge.run()
    file = merge.root / "bad.csv"
    export_rejects([replace(each, raw=mended) for each in merge.rejects()], file)

    with pytest.raises(PlanRefused, match=problem):
        plan(merge, file)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("a,b\n1,2\n", "has no Id or no Raw"), ("Id,Raw\nx,1\nx,2\n", "is there twice")],
)
def test_a_file_that_is_no_export_is_refused(merge: Merge, text: str, problem: str) -> None:
    merge.given("a.csv", "id\n1\n")
    merge.run()
    file = merge.root / "bad.csv"
    file.write_text(text)

    with pytest.raises(UnreadableFile, match=problem):
        plan(merge, file)


def test_an_export_is_a_table_that_a_spreadsheet_reads(merge: Merge) -> None:
    merge.given("a.csv", 'id,n\n1,"a\n,b",c\n2,2\n3,3\n')
    merge.run()

    with open(export(merge), newline="") as file:
        (row,) = csv.DictReader(file)

    assert (row["File"], row["Record"], row["Reason"]) == ("a.csv", "2", "3 fields instead of 2")
    assert row["Raw"] == '1,"a\n,b",c'


def test_bytes_that_are_no_text_survive_the_export_and_can_be_mended(merge: Merge) -> None:
    merge.given("a.csv", b"id,n\n0,\xc3\xa4\n1,a\xff\n2,b\n3,c\n")
    merge.run()
    file = export(merge)
    assert b"a\xff" in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(b"a\xff", b"a"))

    replay(merge, file)

    assert sorted(row["n"] for row in merge.table().to_pylist()) == ["a", "b", "c", "ä"]


def test_values_are_read_as_by_the_merge_that_set_them_aside(merge: Merge) -> None:
    file = merge.given("a.csv", "id,n\n1\n2,NA\n3,3\n")
    merge.run(nulls=["NA"])
    file.write_text("id,n\n4,4\n")
    merge.run(mode="append")
    exported = export(merge)
    mend(exported, (',"1"\n', ',"1,NA"\n'))

    result = replay(merge, exported)

    assert result.to_dict()["StillQuarantined"] == 0
    assert {"id": 1, "n": None} in merge.table().to_pylist()


def test_records_that_were_read_in_different_ways_are_replayed_one_merge_at_a_time(merge: Merge) -> None:
    file = merge.given("a.csv", "id,n\n1\n2,2\n3,3\n")
    merge.run(nulls=["NA"])
    file.write_text("id,n\n4\n5,5\n6,6\n")
    merge.run(mode="append")
    exported = export(merge)
    mend(exported, (',"1"\n', ',"1,1"\n'), (',"4"\n', ',"4,4"\n'))

    with pytest.raises(PlanRefused, match="The records come from merges that differ in nulls"):
        plan(merge, exported)
    (of_the_first, _) = merge.rejects()
    export_rejects([replace(of_the_first, raw="1,1")], exported)
    assert replay(merge, exported).to_dict()["StillQuarantined"] == 1


def test_what_a_killed_replay_leaves_is_removed_by_the_next_job(merge: Merge) -> None:
    merge.given("a.csv", "id,n\n1\n2,2\n3,3\n")
    merge.run()
    file = export(merge)
    mend(file, (',"1"\n', ',"1,1"\n'))
    killed = subprocess.run([sys.executable, "-c", KILLED, str(merge.root)], cwd=PROJECT, check=False)
    assert killed.returncode == 9
    assert len(merge.left_behind("killed*")) == 2, "what was staged, and the records"

    replay(merge, file)

    assert merge.left_behind() == []
    assert sorted(merge.table()["id"].to_pylist()) == [1, 2, 3]


def test_a_replay_is_a_commit_of_its_own(merge: Merge) -> None:
    merge.given("a.csv", "id,n\n1\n2,2\n3,3\n")
    merge.run()
    file = export(merge)
    mend(file, (',"1"\n', ',"1,1"\n'))
    replay(merge, file)

    newest, oldest = TableFolder(str(merge.output)).history()

    assert newest.parent == oldest.id and newest.adds and newest.rows == 3


def test_mended_records_are_read_by_the_patterns_of_their_merge(merge: Merge) -> None:
    merge.given("a.csv", "id;day\n" + "".join(f"{number};31.01.2024\n" for number in range(20)) + "20;31.02.2024\n")
    merge.run(schema="day date 'dd.MM.yyyy'")
    file = export(merge)
    mend(file, ("31.02.2024", "29.02.2024"))

    result = replay(merge, file)

    assert (result.merge.rows_out, len(merge.rejects())) == (1, 0)
    assert {str(day) for day in merge.table()["day"].to_pylist()} == {"2024-01-31", "2024-02-29"}


def test_a_raw_is_always_quoted_so_that_a_comma_typed_into_it_is_part_of_it(merge: Merge) -> None:
    merge.given("a.csv", "id;price\n1;8,50\n2\n3;7,25\n")
    merge.run(schema="price decimal(9,2) 'de'")
    file = export(merge)
    mend(file, ('"2"\n', '"2;9,75"\n'))

    replay(merge, file)

    assert sorted(str(row["price"]) for row in merge.table().to_pylist()) == ["7.25", "8.50", "9.75"]


@pytest.mark.parametrize(
    ("mended", "problem"),
    [
        ("2;9,75", r"bad\.csv:3: the record has 8 fields instead of 7\."),
        ('"2";"9"', r"bad\.csv:3: the record has quotes that do not pair"),
        ('"2;9', r"bad\.csv:3: the record has quotes that do not pair"),
    ],
)
def test_a_line_that_is_not_as_exported_is_refused_by_its_number(merge: Merge, mended: str, problem: str) -> None:
    merge.given("a.csv", 'id;price\n1;8,50\n"x\ny";1;2\n2\n3;7,25\n4;7,25\n')
    merge.run()
    file = export(merge)
    first, second = merge.rejects()
    export_rejects([second, first], file)
    mend(file, ('"2"\n', f"{mended}\n"))
    lines = file.read_text().split("\n")
    file.write_text("\n".join([lines[0], "", *lines[1:]]))

    with pytest.raises(UnreadableFile, match=problem):
        plan(merge, file)
    assert len(merge.rejects()) == 2


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_an_export_that_a_spreadsheet_saved_with_other_delimiters_is_read(merge: Merge, delimiter: str) -> None:
    merge.given("a.csv", "id,n\n1,1\n2\n3,3\n")
    merge.run()
    file = export(merge)
    with open(file, newline="") as exported:
        rows = list(csv.reader(exported))
    rows[1][-1] = "2,2"
    with open(file, "w", newline="") as saved:
        csv.writer(saved, delimiter=delimiter).writerows(rows)

    replay(merge, file)

    assert {"id": 2, "n": 2} in merge.table().to_pylist()
    assert merge.rejects() == []


def test_lines_that_stray_quotes_held_together_go_back_as_records(merge: Merge) -> None:
    rows = "".join(f"{number},name{number},1.5\n" for number in range(10, 30))
    swallowing = '1,"name1,1.5\n2,name2,1.5\n3,name3,1.5\n4,name4,1.5.5\n5,name5",2.5\n'
    merge.given("a.csv", f"id,name,v\n{rows}{swallowing}")
    merge.run()
    (before,) = merge.rejects()
    file = export(merge)
    mend(file, ('""', ""))

    result = replay(merge, file)

    told = result.to_dict()
    assert (told["RowsIn"], told["RowsOut"], told["RowsQuarantined"], told["StillQuarantined"]) == (5, 4, 1, 1)
    assert sorted(row["name"] for row in merge.table().to_pylist() if row["id"] < 10) == [
        "name1",
        "name2",
        "name3",
        "name5",
    ]
    (left,) = merge.rejects()
    assert (left.id, left.raw, left.column) == (f"{before.id}.4", "4,name4,1.5.5", "v")
    assert (left.file, left.record, left.offset) == ("a.csv", before.record, before.offset)
    again = export(merge)
    mend(again, ("4,name4,1.5.5", "4,name4,1.5"))
    replay(merge, again)
    assert (merge.table().num_rows, merge.rejects()) == (25, [])
