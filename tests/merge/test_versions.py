"""The versions of a table: history, going back, and removing what is kept."""

from __future__ import annotations

import pytest

from mason.errors import NotFound
from mason.pipeline.table_versions import VersionGone, list_versions, plan_vacuum, roll_back, vacuum
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

    newest, middle, oldest = [each.to_dict() for each in list_versions(str(merge.output))]

    assert [each["Rows"] for each in (newest, middle, oldest)] == [1, 3, 1]
    assert newest["SchemaChanges"] == ["name string removed", "id int64 became string"]
    assert middle["SchemaChanges"] == ["name string added"] and middle["Adds"]
    assert oldest["SchemaChanges"] == [] and all(each["Kept"] for each in (newest, middle, oldest))


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_table_goes_back_to_an_earlier_version_and_forward_again(merge: Merge, number: str) -> None:
    three_versions(merge)
    versions = list_versions(str(merge.output))
    expected = {"1": [1], "2": [1, 2, 3]}[number]

    roll_back(str(merge.output), number, "back")

    assert sorted(merge.table()["id"].to_pylist()) == expected
    assert sorted(each.name for each in merge.output.glob("part-*")) == sorted(
        each.path for each in versions[3 - int(number)].commit.files
    )
    roll_back(str(merge.output), "3", "forward")
    assert merge.table()["id"].to_pylist() == ["z"]
    assert [each.commit.number for each in list_versions(str(merge.output))] == [5, 4, 3, 2, 1]


def test_a_version_is_found_by_the_beginning_of_its_id(merge: Merge) -> None:
    three_versions(merge)
    first = list_versions(str(merge.output))[-1].commit.id
    roll_back(str(merge.output), first[:4], "back")
    assert merge.table().num_rows == 1

    with pytest.raises(NotFound, match=r'Version "nope" not found\. Kept: '):
        roll_back(str(merge.output), "nope", "again")


def test_going_back_knows_again_which_files_were_merged(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")
    merge.run(incremental=True)
    merge.given("b.csv", "id\n2\n")
    merge.run(incremental=True)

    roll_back(str(merge.output), "1", "back")

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

    roll_back(str(merge.output), "1", "back")

    assert [each.raw for each in merge.rejects()] == ["2"]


def test_a_vacuum_removes_former_versions_and_says_first_what_goes(merge: Merge) -> None:
    three_versions(merge)
    table = str(merge.output)

    plan = plan_vacuum(table, keep=1, older_than_days=0)

    assert [each.commit.number for each in plan.versions] == [1]
    assert all(each.folder for each in list_versions(table)), "a plan removes nothing"
    everything = plan_vacuum(table, keep=0, older_than_days=0)
    assert everything.bytes > 0 and len(everything.versions) == 2
    vacuum(everything)
    assert [each.folder is not None for each in list_versions(table)] == [True, False, False]
    assert merge.table()["id"].to_pylist() == ["z"]
    with pytest.raises(VersionGone):
        roll_back(table, "1", "back")


def test_a_vacuum_leaves_what_was_replaced_lately(merge: Merge) -> None:
    three_versions(merge)

    assert plan_vacuum(str(merge.output), keep=0, older_than_days=1).versions == []


def test_bytes_that_another_version_uses_are_not_counted_as_freed(merge: Merge) -> None:
    file = merge.given("a.csv", "id\n" + "1\n" * 1000)
    merge.run()
    first = next(merge.output.glob("part-*")).stat().st_size
    file.write_text("id\n2\n")
    merge.run(mode="append")

    assert plan_vacuum(str(merge.output), keep=0, older_than_days=0).bytes < first


def test_a_folder_that_is_no_table_has_no_history(merge: Merge) -> None:
    with pytest.raises(NotFound, match="there is no table that Mason has made"):
        list_versions(str(merge.root))
