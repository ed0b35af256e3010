"""The versions of a table: history, going back, and removing what is kept."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from mason.engines.storage.models.location import Location
from mason.errors import BadPath, Conflict, NotFound
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.folder_versions import FolderVersions
from mason.pipeline.tables.versions import VersionGone, Versions, list_versions, plan_vacuum, roll_back, vacuum
from tests.merge.conftest import Merge


def three_versions(merge: Merge) -> None:
    file = merge.given("a.csv", "id\n1\n")
    merge.run()
    file.write_text("id,name\n2,x\n3,y\n")
    merge.run(mode="append")
    file.write_text("id\nz\n")
    merge.run()


def test_the_history_says_what_each_version_changed(merge: Merge) -> None:
    three_versions(merge)

    newest, middle, oldest = [each.to_dict() for each in list_versions(Location(str(merge.output)))]

    assert [each["Rows"] for each in (newest, middle, oldest)] == [1, 3, 1]
    assert newest["SchemaChanges"] == ["name string removed", "id int64 became string"]
    assert middle["SchemaChanges"] == ["name string added"] and middle["Adds"]
    assert oldest["SchemaChanges"] == [] and all(each["Kept"] for each in (newest, middle, oldest))


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_table_goes_back_to_an_earlier_version_and_forward_again(merge: Merge, number: str) -> None:
    three_versions(merge)
    versions = list_versions(Location(str(merge.output)))
    expected = {"1": [1], "2": [1, 2, 3]}[number]

    roll_back(Location(str(merge.output)), number, "back")

    assert sorted(merge.table()["id"].to_pylist()) == expected
    assert sorted(each.name for each in merge.output.glob("part-*")) == sorted(
        each.path for each in versions[3 - int(number)].commit.files
    )
    roll_back(Location(str(merge.output)), "3", "forward")
    assert merge.table()["id"].to_pylist() == ["z"]
    assert [each.commit.number for each in list_versions(Location(str(merge.output)))] == [5, 4, 3, 2, 1]


def test_a_version_is_found_by_the_beginning_of_its_id(merge: Merge) -> None:
    three_versions(merge)
    first = list_versions(Location(str(merge.output)))[-1].commit.id
    roll_back(Location(str(merge.output)), first[:4], "back")
    assert merge.table().num_rows == 1

    with pytest.raises(NotFound, match=r'Version "nope" not found\. Kept: '):
        roll_back(Location(str(merge.output)), "nope", "again")


def test_going_back_knows_again_which_files_were_merged(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")
    merge.run(incremental=True)
    merge.given("b.csv", "id\n2\n")
    merge.run(incremental=True)

    roll_back(Location(str(merge.output)), "1", "back")

    plan = merge.plan(incremental=True)
    assert [each.file.name for each in plan.files] == ["b.csv"]
    merge.run_plan(plan)
    assert sorted(merge.table()["id"].to_pylist()) == [1, 2]


def test_going_back_brings_the_quarantine_of_that_version(merge: Merge) -> None:
    file = merge.given("a.csv", "id,n\n1,1\n2\n3,3\n")
    merge.run()
    file.write_text("id,n\n1,1\n")
    merge.run()
    assert merge.rejects() == []

    roll_back(Location(str(merge.output)), "1", "back")

    assert [each.raw for each in merge.rejects()] == ["2"]


def test_a_vacuum_removes_former_versions_and_says_first_what_goes(merge: Merge) -> None:
    three_versions(merge)
    table = str(merge.output)

    plan = plan_vacuum(Location(table), keep=1, older_than_days=0)

    assert [each.commit.number for each in plan.versions] == [1]
    assert all(each.folder for each in list_versions(Location(table))), "a plan removes nothing"
    everything = plan_vacuum(Location(table), keep=0, older_than_days=0)
    assert everything.bytes > 0 and len(everything.versions) == 2
    vacuum(everything)
    assert [each.folder is not None for each in list_versions(Location(table))] == [True, False, False]
    assert merge.table()["id"].to_pylist() == ["z"]
    with pytest.raises(VersionGone):
        roll_back(Location(table), "1", "back")


def test_a_vacuum_leaves_what_was_replaced_lately(merge: Merge) -> None:
    three_versions(merge)

    assert plan_vacuum(Location(str(merge.output)), keep=0, older_than_days=1).versions == []


def test_a_vacuum_that_was_planned_twice_removes_once(merge: Merge) -> None:
    three_versions(merge)
    both = [plan_vacuum(Location(str(merge.output)), keep=0, older_than_days=0) for _ in range(2)]

    for each in both:
        vacuum(each)

    assert [each.folder is not None for each in list_versions(Location(str(merge.output)))] == [True, False, False]


def test_going_back_to_what_a_vacuum_removes_meanwhile_changes_nothing(merge: Merge) -> None:
    three_versions(merge)
    kept = FolderVersions(str(merge.output))
    newest, *_, oldest = kept.history()
    vacuum(plan_vacuum(Location(str(merge.output)), keep=0, older_than_days=0))

    with pytest.raises(Conflict, match="The files of version 1 were removed meanwhile"):
        kept.restore(oldest, replace(oldest.commit, id="back", job="back"), "back", expected=newest.commit)

    assert merge.table()["id"].to_pylist() == ["z"] and not (merge.room / "staging" / "back").exists()


def test_bytes_that_another_version_uses_are_not_counted_as_freed(merge: Merge) -> None:
    file = merge.given("a.csv", "id\n" + "1\n" * 1000)
    merge.run()
    first = next(merge.output.glob("part-*")).stat().st_size
    file.write_text("id\n2\n")
    merge.run(mode="append")

    assert plan_vacuum(Location(str(merge.output)), keep=0, older_than_days=0).bytes < first


def test_the_picture_has_a_line_for_each_version_and_what_it_changed(merge: Merge) -> None:
    three_versions(merge)
    newest, *former = [each.commit for each in list_versions(Location(str(merge.output)))]
    going = plan_vacuum(Location(str(merge.output)), keep=0, older_than_days=0)
    assert [line.split()[0] for line in going.picture(80)[2:]] == ["2", "1"]
    vacuum(going)

    lines = Versions(list_versions(Location(str(merge.output)))).picture(100)

    assert lines[0].split() == ["version", "commit", "made", "(UTC)", "rows", "files", "bytes", "job"]
    assert lines[2].split()[:2] == ["3", newest.id[:8]] and lines[2].endswith(newest.job)
    assert lines[3:5] == ["  name string removed", "  id int64 became string"]
    assert lines[5].split()[1] == former[0].id[:8] and lines[5].endswith("(its files were removed)")
    assert max(map(len, Versions(list_versions(Location(str(merge.output)))).picture(40))) <= 40
    assert plan_vacuum(Location(str(merge.output)), keep=0, older_than_days=0).picture(80) == []


def test_a_folder_that_is_no_table_has_no_history(merge: Merge) -> None:
    with pytest.raises(NotFound, match="there is no table that Mason has made"):
        list_versions(Location(str(merge.root)))


def test_a_folder_with_tables_in_it_does_not_become_a_table(merge: Merge) -> None:
    three_versions(merge)

    with pytest.raises(BadPath, match="since there are tables in it: out"), TableFolder(str(merge.root)).stage("job"):
        pass
    shutil.copytree(merge.root, merge.root / "deep" / "in", ignore=shutil.ignore_patterns("deep"))
    with pytest.raises(BadPath, match="tables in it: in/out"), TableFolder(str(merge.root / "deep")).stage("job"):
        pass

    assert merge.table()["id"].to_pylist() == ["z"]


def test_a_folder_with_a_home_in_it_does_not_become_a_table(merge: Merge, monkeypatch: pytest.MonkeyPatch) -> None:
    merge.given("a.csv", "id\n1\n")
    (merge.output / "me" / ".mason").mkdir(parents=True)

    for variable, home in (("HOME", merge.output), ("HOME", merge.output / "me"), ("MASON_HOME", merge.output / "me")):
        with monkeypatch.context() as patch:
            patch.setenv(variable, str(home))
            with pytest.raises(BadPath, match=f"since your home {home}.* is in it"):
                merge.run()

    assert [each.name for each in merge.output.iterdir()] == ["me"]


def test_what_was_at_the_output_before_is_kept_and_said_to_be(merge: Merge, caplog: pytest.LogCaptureFixture) -> None:
    merge.given("a.csv", "id\n1\n")
    (merge.output / "below").mkdir(parents=True)
    (merge.output / "below" / "mine.txt").write_text("mine")

    merge.run()
    merge.run()

    (kept,) = merge.room.glob("kept/*/below/mine.txt.kept")
    assert [each.getMessage() for each in caplog.records if each.levelname == "WARNING"] == [
        f"What was at {merge.output} before is kept in {kept.parents[1]}."
    ]
