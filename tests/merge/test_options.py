"""What a user can say about a merge beyond its input and output."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.errors import BadInput
from mason.pipeline.formats.file_warnings import group_warnings
from mason.pipeline.formats.writers import table_writer
from mason.pipeline.jobs.merge.outcome import TooManyBadRecords
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.types.sql_types import BadSchema
from mason.pipeline.types.zones import UnknownZone
from tests.merge.conftest import Merge

# A schema that the user gives


def test_columns_have_the_types_of_the_schema(merge: Merge) -> None:
    merge.given("a.csv", "name,id,price,day\nx,007,1.5,2026-01-31\ny, 8 ,+2,\n")

    rows = merge.rows(schema="id int, price decimal(10,2), day date")

    assert merge.types() == {"id": "int32", "price": "decimal128(10, 2)", "day": "date32[day]", "name": "string"}
    assert rows == [
        {"id": 7, "price": Decimal("1.50"), "day": date(2026, 1, 31), "name": "x"},
        {"id": 8, "price": Decimal("2.00"), "day": None, "name": "y"},
    ]


def test_a_schema_says_the_types_and_the_files_the_order_of_the_columns(merge: Merge) -> None:
    merge.given("y=2026/a.csv", "b,a,c\n1,2,x\n")
    merge.given("y=2026/b.csv", "b,a,c,d\n1,2,x,9\n")

    schema = merge.plan(schema="y int, more date, c string, a bigint").schema

    assert schema.names == ["b", "a", "c", "d", "more", "y"]
    whole = merge.plan(schema="d int, c string, more date, b int, a bigint").schema
    assert whole.names == ["d", "c", "more", "b", "a", "y"]


def test_a_schema_leaves_a_table_that_is_added_to_the_order_of_its_columns(merge: Merge) -> None:
    merge.given("a.csv", "b,a\n1,2\n")
    merge.run()
    merge.given("b.csv", "a,b\n3,4\n")

    assert merge.plan(mode="append", schema="a bigint").schema.names == ["b", "a"]


def test_a_value_that_does_not_fit_the_schema_sends_its_record_to_the_quarantine(merge: Merge) -> None:
    merge.given("a.csv", 'id,note\n1,one\nx,"two\nlines"\n3,three\n99999999999,four\n')

    rows = merge.rows(schema="id int")

    assert [row["id"] for row in rows] == [1, 3]
    first, second = merge.rejects()
    assert (first.file, first.record, first.column, first.reason) == ("a.csv", 3, "id", '"x" is not an int')
    assert first.raw == 'x,"two\nlines"' and first.offset == len("id,note\n1,one\n")
    assert (second.record, second.reason) == (5, '"99999999999" is not an int')


def test_a_value_that_does_not_fit_becomes_null_if_asked_and_is_counted(merge: Merge) -> None:
    merge.given("a.csv", "id,note\n1,one\nx,two\n3,three\n")

    result = merge.run(schema="id int", on_bad_record="null")

    assert merge.table().to_pylist() == [{"id": i, "note": n} for i, n in ((1, "one"), (None, "two"), (3, "three"))]
    assert (result.rows_in, result.rows_out, result.quarantined) == (3, 3, 0)
    assert result.to_dict()["ValuesNulled"] == {"id": 1}
    assert list(result.warnings) == ['In column "id" 1 value became null for not being of type int32.']


def test_when_more_than_the_share_of_a_column_does_not_fit_the_job_fails_with_the_numbers(merge: Merge) -> None:
    merge.given("a.csv", "id,note\n" + "".join(f"{n if n % 3 else 'x'},n\n" for n in range(300)))

    with pytest.raises(TooManyBadRecords) as failure:
        merge.run(schema="id int")
    message = str(failure.value)
    assert '100 of 300 values of column "id" are not of the type in the schema' in message
    assert 'a.csv record 2 ("x" is not an int)' in message and "most_bad_share, now 0.1" in message
    assert not merge.output.exists()
    assert merge.run(schema="id int", most_bad_share=0.5).quarantined == 100


@pytest.mark.parametrize("how", ["quarantine", "null"])
def test_the_share_counts_however_bad_values_are_taken(merge: Merge, how: str) -> None:
    merge.given("a.csv", "id,n\n" + "x,1\n" * 50)

    with pytest.raises(TooManyBadRecords, match='50 of 50 values of column "id"'):
        merge.run(schema="id int", on_bad_record=how)


def test_rows_that_are_written_anew_do_not_make_the_share_smaller(merge: Merge) -> None:
    file = merge.given("a.csv", "id,n\n" + "1,1\n" * 500)
    merge.run()
    file.write_text("id,n\n" + "2,x\n" * 20 + "3\n" * 20)

    with pytest.raises(TooManyBadRecords, match="20 of 40 records do not fit"):
        merge.run(mode="append")


def test_a_share_of_nothing_allows_none(merge: Merge) -> None:
    merge.given("a.csv", "a,b\n" + "1,2\n" * 50 + "3\n")

    with pytest.raises(TooManyBadRecords, match="1 of 51 records do not fit"):
        merge.run(most_bad_share=0.0)
    assert merge.run().quarantined == 1


@pytest.mark.parametrize(
    "option",
    [
        {"delimiter": "a long one"},
        {"delimiter": '"'},
        {"delimiter": "\n"},
        {"encoding": "klingon"},
        {"encoding": "hex"},
    ],
)
def test_a_delimiter_or_an_encoding_that_is_none_is_refused(merge: Merge, option: dict[str, str]) -> None:
    merge.given("a.csv", "a,b\n1,2\n")

    with pytest.raises(BadInput, match=r"cannot be a delimiter|is not a known encoding"):
        merge.plan(**option)
    merge.given("a.csv", "a\tb\n1\tä\n".encode("utf-16"))
    assert merge.rows(delimiter="\\t", encoding="utf-16") == [{"a": 1, "b": "ä"}]


def test_most_of_a_few_records_is_too_many(merge: Merge) -> None:
    merge.given("a.csv", "a,b\n1,2\n3\n4\n")

    with pytest.raises(TooManyBadRecords, match="2 of 3 records do not fit"):
        merge.run()


def test_a_folder_that_says_something_else_than_the_schema_sends_its_records_to_the_quarantine(merge: Merge) -> None:
    merge.given("y=2026/a.csv", "id\n1\n2\n")
    merge.given("y=abc/a.csv", "id\n3\n")

    assert merge.rows(schema="y int") == [{"y": 2026, "id": 1}, {"y": 2026, "id": 2}]
    (reject,) = merge.rejects()
    assert (reject.file, reject.column, reject.reason) == ("y=abc/a.csv", "y", '"abc" is not an int')


@pytest.mark.parametrize("declared", ["list<int>", "struct<a:int>", "map<string,int>"])
def test_a_folder_is_nothing_nested(merge: Merge, declared: str) -> None:
    merge.given("p=x/a.csv", "id\n1\n2\n")
    merge.given("p=x/b.jsonl", '{"id": 3, "p": null}\n{"id": 4, "p": [1]}\n')
    merge.given("p=__HIVE_DEFAULT_PARTITION__/c.jsonl", '{"id": 5, "p": null}\n')

    assert merge.rows(schema=f"p {declared}", most_bad_share=1) == [{"p": None, "id": 5}]
    assert [each.column for each in merge.rejects()] == ["p"] * 4
    assert {each.reason.partition(" is not a ")[0] for each in merge.rejects()} == {'"x"'}


def test_a_column_of_the_schema_that_no_file_has_is_null_and_told(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")

    plan = merge.plan(schema="id bigint, other string")

    assert 'No file has the column "other" of the schema: it is null in every row.' in plan.warnings
    merge.run_plan(plan)
    assert merge.table().to_pylist() == [{"id": 1, "other": None}]


def test_a_schema_that_cannot_be_read_is_refused(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")

    with pytest.raises(BadSchema, match='unknown type "bigin"'):
        merge.plan(schema="id bigin")


def test_typed_files_and_json_are_fitted_to_the_schema_too(merge: Merge) -> None:
    merge.given("a.parquet", pa.table({"id": ["1", "x"], "n": [1, 2]}))
    merge.given("b.jsonl", '{"id": 3, "n": 1}\n{"id": "4", "n": 1.5}\n{"id": [5], "n": 9}\n')

    rows = merge.rows(schema="id bigint, n int", most_bad_share=1)

    assert rows == [{"id": 1, "n": 1}, {"id": 3, "n": 1}]
    told = [(each.file, each.record, each.column, each.reason) for each in merge.rejects()]
    assert told == [
        ("a.parquet", 2, "id", '"x" is not a bigint'),
        ("b.jsonl", 2, "n", '"1.5" is not an int'),
        ("b.jsonl", 3, "id", '"[5]" is not a bigint'),
    ]


# Names


def test_names_that_differ_in_case_are_one_column_if_folded(merge: Merge) -> None:
    merge.given("a.csv", "Id,name\n1,x\n")
    merge.given("b.jsonl", '{"ID": 2, "Name": "y"}\n')

    assert merge.rows(names="fold") == [{"Id": 1, "name": "x"}, {"Id": 2, "name": "y"}]


def test_a_key_beyond_the_sample_is_folded_too(merge: Merge) -> None:
    lines = '{"id": 1}\n' * 3_000 + '{"ID": 2}\n'
    merge.given("a.jsonl", lines)

    merge.run(names="fold")

    assert merge.types() == {"id": "int64"} and merge.table()["id"].to_pylist()[-1] == 2


def test_a_key_beyond_the_sample_that_differs_in_case_is_refused(merge: Merge) -> None:
    merge.given("a.jsonl", '{"id": 1}\n' * 3_000 + '{"ID": 2}\n')

    with pytest.raises(PlanRefused, match='The columns "id" and "ID" differ only in case'):
        merge.run()


def test_a_name_that_a_file_has_twice_gets_a_number_if_asked(merge: Merge) -> None:
    merge.given("a.csv", "a,a\n1,2\n")
    table = pa.Table.from_arrays([pa.array([3]), pa.array([4])], names=["a", "a"])
    merge.given("b.parquet", table)

    with pytest.raises(PlanRefused, match='A merge has the parameter "names", which says how'):
        merge.plan()
    assert merge.rows(names="number") == [{"a": 1, "a_2": 2}, {"a": 3, "a_2": 4}]


# Times


def test_times_with_and_without_a_zone_are_refused_unless_a_timezone_is_given(merge: Merge) -> None:
    merge.given("a.csv", "at\n2026-07-01 12:00:00\n2026-01-31\n")
    merge.given("b.csv", "at\n2026-07-01T12:00:00Z\n")

    with pytest.raises(PlanRefused, match='Column "at" has times with a zone and times or dates without one'):
        merge.plan()
    rows = merge.rows(timezone="Europe/Berlin")
    assert [row["at"] for row in rows] == [
        datetime(2026, 7, 1, 10, tzinfo=UTC),
        datetime(2026, 1, 30, 23, tzinfo=UTC),
        datetime(2026, 7, 1, 12, tzinfo=UTC),
    ]
    assert merge.rows(on_conflict="string")[2] == {"at": "2026-07-01T12:00:00Z"}


def test_zones_that_meet_only_beyond_the_sample_are_refused_before_the_commit(merge: Merge) -> None:
    merge.given("a.csv", "at,n\n" + "2026-07-01 12:00:00,1\n" * 3_000 + "2026-07-01 12:00:00Z,1\n")

    with pytest.raises(PlanRefused, match='Column "at" has times with a zone'):
        merge.run()
    assert not merge.output.exists()


def test_typed_times_take_the_timezone_as_well(merge: Merge) -> None:
    naive = pa.array([datetime(2026, 7, 1, 12)], pa.timestamp("us"))
    merge.given("a.parquet", pa.table({"at": naive}))
    merge.given("b.parquet", pa.table({"at": naive.cast(pa.timestamp("us", "UTC"))}))

    rows = merge.rows(timezone="Europe/Berlin")

    assert [row["at"].hour for row in rows] == [10, 12]


def test_an_hour_that_a_clock_shows_twice_or_never_has_a_stated_meaning(merge: Merge) -> None:
    merge.given("a.csv", "at\n2026-10-25 02:30:00\n2026-03-29 02:30:00\n2026-01-01T00:00:00Z\n")

    rows = merge.rows(timezone="Europe/Berlin")

    assert [row["at"].strftime("%d %H:%M") for row in rows] == ["25 00:30", "29 01:00", "01 00:00"]


def test_an_unknown_timezone_is_refused_with_the_nearest(merge: Merge) -> None:
    merge.given("a.csv", "at\n1\n")

    with pytest.raises(UnknownZone, match="Europe/Berlin"):
        merge.plan(timezone="Europe/Berlni")


# How much is looked at


def test_a_sample_of_one_record_still_ends_in_the_right_type(merge: Merge) -> None:
    merge.given("a.csv", "a\n1\n2.5\nx\n")

    assert str(merge.plan(sample=1).schema.field("a").type) == "int64"
    assert merge.rows(sample=1) == [{"a": "1"}, {"a": "2.5"}, {"a": "x"}]


def test_looking_at_everything_needs_one_round(merge: Merge) -> None:
    merge.given("a.csv", "a\n" + "1\n" * 5_000 + "x\n")

    assert merge.run(sample=0).rounds == 1
    assert merge.run().rounds == 2


# Partitions


def test_keys_become_folders_and_every_row_is_in_the_right_one(merge: Merge) -> None:
    merge.given("a.csv", "id,city,day\n1,Bern,2026-01-01\n2,a/b=c,2026-01-02\n3,,2026-01-01\n")
    merge.given("b.csv", "id,city,day\n4,Bern,2026-01-01\n5,Zürich %,2026-01-02\n")

    rows = merge.rows(repartition_keys=["city", "day"])

    assert sorted((row["id"], row["city"], str(row["day"])) for row in rows) == [
        (1, "Bern", "2026-01-01"),
        (2, "a/b=c", "2026-01-02"),
        (3, None, "2026-01-01"),
        (4, "Bern", "2026-01-01"),
        (5, "Zürich %", "2026-01-02"),
    ]
    folders = {each.parent.relative_to(merge.output).as_posix() for each in merge.output.rglob("part-*")}
    assert folders == {
        "city=Bern/day=2026-01-01",
        "city=a%2Fb%3Dc/day=2026-01-02",
        "city=__HIVE_DEFAULT_PARTITION__/day=2026-01-01",
        "city=Zürich %25/day=2026-01-02",
    }


def test_empty_text_cannot_be_a_partition_and_is_kept_aside(merge: Merge) -> None:
    merge.given("a.csv", 'id,city\n1,Bern\n2,""\n3,\n4,Bern\n')

    rows = merge.rows(repartition_keys=["city"])

    assert sorted(row["id"] for row in rows) == [1, 3, 4]
    (reject,) = merge.rejects()
    assert (reject.record, reject.column, reject.raw) == (3, "city", '2,""')
    assert reject.reason == "empty text cannot be the value of a partition"
    assert {"id": 2, "city": None} in merge.rows(repartition_keys=["city"], on_bad_record="null")


def test_other_engines_read_the_partitions_as_they_were_meant(merge: Merge) -> None:
    import duckdb

    merge.given("a.csv", "id,city\n1,Bern\n2,a/b=c\n3,\n4,it's 100%\n")
    merge.run(repartition_keys=["city"])

    found = duckdb.sql(f"SELECT id, city FROM read_parquet('{merge.output}/*/*.parquet', hive_partitioning=true)")

    assert sorted(found.fetchall()) == [(1, "Bern"), (2, "a/b=c"), (3, None), (4, "it's 100%")]


def test_the_pieces_of_a_partition_come_out_as_one_file(merge: Merge, monkeypatch: pytest.MonkeyPatch) -> None:
    from mason.pipeline.reading.plan import read_plan

    monkeypatch.setattr(read_plan, "SMALLEST_TASK", 1_000)
    monkeypatch.setattr(table_writer, "BUFFERED_BYTES", 2_000)
    for number in range(6):
        text = "id,key\n" + "".join(f"{number * 1000 + row},{row % 3}\n" for row in range(1000))
        merge.given(f"{number}.csv", text)

    result = merge.run(repartition_keys=["key"])

    assert len(result.plan.tasks()) > 3
    assert len(list(merge.output.rglob("part-*"))) == 3
    assert sorted(merge.table()["id"].to_pylist()) == list(range(6000))


def test_a_key_that_no_file_has_is_refused(merge: Merge) -> None:
    merge.given("a.csv", "a\n1\n")

    with pytest.raises(PlanRefused, match='There is no column "b" to partition by'):
        merge.plan(repartition_keys=["b"])


def test_text_that_is_too_long_for_the_name_of_a_folder_is_kept_aside(merge: Merge) -> None:
    fits, too_long = "ä" * 126, "/" * 90  # each / takes three characters in the name of a folder
    merge.given("a.csv", f"id,k\n1,{fits}\n2,{too_long}\n3,x\n")

    rows = merge.rows(repartition_keys=["k"])

    assert sorted((row["id"], row["k"]) for row in rows) == [(1, fits), (3, "x")]
    (reject,) = merge.rejects()
    assert (reject.column, reject.reason) == ("k", "a text of 90 characters cannot be the value of a partition")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        (["tags"], 'Column "tags" is list<item: int64>: such values cannot be the names of folders'),
        (["id", "id"], '"id" is among the columns to partition by more than once'),
        (["id", "tags"], "Every column is to be partitioned by"),
    ],
)
def test_what_cannot_be_partitioned_by_is_refused(merge: Merge, keys: list[str], problem: str) -> None:
    merge.given("a.jsonl", '{"id": 1, "tags": [1]}\n{"id": 2, "tags": [2]}\n')

    with pytest.raises(PlanRefused, match=problem):
        merge.plan(repartition_keys=keys)


def test_replacing_partitions_leaves_the_others(merge: Merge) -> None:
    file = merge.given("a.csv", "id,day\n1,2026-01-01\n2,2026-01-02\n3,2026-01-02\n")
    merge.run(repartition_keys=["day"])
    file.write_text("id,day\n9,2026-01-02\n10,2026-01-03\n")

    merge.run(mode="replace_partitions")

    assert sorted(merge.table()["id"].to_pylist()) == [1, 9, 10]
    commit = TableFolder(str(merge.output)).current()
    assert commit is not None and commit.rows == 3 and list(commit.partition_keys) == ["day"]


def test_replacing_partitions_is_refused_where_there_are_none_or_others_would_have_to_change(merge: Merge) -> None:
    file = merge.given("a.csv", "id,day\n1,2026-01-01\n")
    with pytest.raises(PlanRefused, match="give repartition_keys"):
        merge.plan(mode="replace_partitions")
    merge.run(repartition_keys=["day"])
    file.write_text("id,day\nx,2026-01-02\n")
    with pytest.raises(PlanRefused, match='Column "id" is int64 and would become string'):
        merge.plan(mode="replace_partitions")
    assert merge.table()["id"].to_pylist() == [1]


# Adding to a table


def test_an_append_that_needs_a_wider_type_writes_the_table_anew(merge: Merge) -> None:
    file = merge.given("a.csv", "id,n\n1,1\n2,2\n")
    merge.run()
    file.write_text("id,n,extra\n3,2.5,x\n")

    result = merge.run(mode="append")

    assert merge.types()["n"] == "decimal128(38, 1)"
    assert sorted((row["id"], str(row["n"]), row["extra"]) for row in merge.table().to_pylist()) == [
        (1, "1.0", None),
        (2, "2.0", None),
        (3, "2.5", "x"),
    ]
    assert (result.rows_in, result.rows_out, result.rows_rewritten) == (1, 1, 2)


def test_a_schema_that_does_not_hold_what_is_in_the_table_is_refused(merge: Merge) -> None:
    file = merge.given("a.csv", "id,n\n1,1\n2,x\n")
    merge.run()
    file.write_text("id,n\n3,3\n")

    with pytest.raises(PlanRefused, match='Column "n" is string in the table: int32, which the schema says, does not'):
        merge.plan(mode="append", schema="n int")
    assert merge.run(mode="append", schema="id decimal(20,0)").rows_rewritten == 2
    assert merge.types()["id"] == "decimal128(20, 0)"


def test_an_append_that_needs_no_wider_type_leaves_the_files_alone(merge: Merge) -> None:
    file = merge.given("a.csv", "id\n1\n")
    merge.run()
    (before,) = merge.output.glob("part-*")
    inode = before.stat().st_ino
    file.write_text("id,more\n2,x\n")

    result = merge.run(mode="append")

    assert (merge.output / before.name).stat().st_ino == inode
    assert result.rows_rewritten == 0
    assert sorted(merge.table().to_pylist(), key=lambda row: row["id"])[0] == {"id": 1, "more": None}


def test_a_value_beyond_the_sample_can_still_widen_the_table(merge: Merge) -> None:
    file = merge.given("a.csv", "id,n\n1,1\n")
    merge.run()
    file.write_text("id,n\n" + "2,2\n" * 3_000 + "3,abc\n")

    merge.run(mode="append")

    assert merge.types()["n"] == "string"
    assert sorted(merge.table()["n"].to_pylist())[:1] == ["1"] and merge.table().num_rows == 3_002


def test_an_append_to_a_partitioned_table_is_partitioned_and_can_widen_the_keys(merge: Merge) -> None:
    file = merge.given("a.csv", "id,key\n1,1\n2,2\n")
    merge.run(repartition_keys=["key"])
    file.write_text("id,key\n3,x\n4,1\n")

    merge.run(mode="append")

    assert sorted((row["id"], row["key"]) for row in merge.table().to_pylist()) == [
        (1, "1"),
        (2, "2"),
        (3, "x"),
        (4, "1"),
    ]
    with pytest.raises(PlanRefused, match="The table is partitioned by key"):
        merge.plan(mode="append", repartition_keys=["id"])


def test_nothing_partitioned_is_added_to_a_table_that_is_not(merge: Merge) -> None:
    merge.given("a.csv", "id,day\n1,2026-01-01\n")
    merge.run()

    for mode in ("append", "replace_partitions"):
        with pytest.raises(PlanRefused, match="The table is not partitioned"):
            merge.plan(mode=mode, repartition_keys=["day"])


@pytest.mark.parametrize("how", [{"mode": "append"}, {"incremental": True}])
def test_nothing_is_added_to_data_that_are_no_table(merge: Merge, how: dict[str, Any]) -> None:
    merge.given("a.csv", "id\n1\n")
    merge.output.mkdir()
    (merge.output / "b.csv").write_text("id\n2\n")

    with pytest.raises(
        PlanRefused, match=r"out holds data, but is not a table of Mason's: nothing can be added to it\."
    ):
        merge.plan(**how)
    (merge.output / "b.csv").unlink()
    assert merge.rows(**how) == [{"id": 1}]


# Only what is new


def test_an_incremental_merge_reads_only_what_was_not_merged_yet(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")
    merge.run(incremental=True)
    merge.given("b.csv", "id\n2\n")

    plan = merge.plan(incremental=True)
    assert [Path(each).name for each in plan.to_dict()["Inputs"]] == ["b.csv"]
    assert plan.to_dict()["MergedBefore"] == 1
    merge.run_plan(plan)
    assert sorted(merge.table()["id"].to_pylist()) == [1, 2]


def test_an_incremental_merge_without_anything_new_changes_nothing(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")
    first = merge.run()

    result = merge.run(incremental=True)

    assert (result.rows_in, result.commit.id) == (0, first.commit.id)
    assert merge.table()["id"].to_pylist() == [1]


def test_an_incremental_merge_that_finds_nothing_but_an_empty_file_changes_nothing(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")
    first = merge.run(incremental=True)
    merge.given("b.csv", "")

    plan = merge.plan(incremental=True)
    result = merge.run_plan(plan)

    assert result.commit.id == first.commit.id
    assert list(plan.warnings) == ["b.csv: it is empty."]
    assert result.summary == f"Nothing new: the 1 file is in {merge.output} already."


def test_a_file_that_was_merged_and_has_changed_is_refused(merge: Merge) -> None:
    file = merge.given("a.csv", "id\n1\n")
    merge.run(incremental=True)
    file.write_text("id\n1\n2\n")

    with pytest.raises(PlanRefused, match=r"a\.csv: it was merged before, and has changed since then"):
        merge.plan(incremental=True)


def test_a_table_that_is_merged_with_itself_keeps_its_quarantine_and_knows_what_was_merged(merge: Merge) -> None:
    merge.given("a.csv", "id,n\n1,1\n2\n3,3\n")
    merge.run(incremental=True)
    before = merge.rejects()

    merge.run(inputs=merge.output)

    assert merge.rejects() == before and len(before) == 1
    assert merge.run(incremental=True).rounds == 0, "nothing is new"
    assert sorted(merge.table()["id"].to_pylist()) == [1, 3]


def test_a_table_is_not_added_to_itself(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")
    merge.run()

    with pytest.raises(PlanRefused, match="to add it to itself would double every row"):
        merge.plan(inputs=merge.output, mode="append")


def test_a_replace_forgets_what_was_merged_before_it(merge: Merge) -> None:
    first = merge.given("a.csv", "id\n1\n")
    merge.run(incremental=True)
    first.unlink()
    merge.given("b.csv", "id\n2\n")
    merge.run()
    merge.given("a.csv", "id\n3\n")

    merge.run(incremental=True)

    assert sorted(merge.table()["id"].to_pylist()) == [2, 3]


# What is reported


def test_a_partition_column_that_is_in_the_file_too_is_what_the_folder_says(merge: Merge) -> None:
    merge.given("year=2026/a.csv", "id,year\n1,2026\n2,2025\n3,\n")

    result = merge.run()

    assert [row["year"] for row in merge.table().to_pylist()] == [2026] * 3
    assert list(result.warnings) == ['Column "year" is what the folders say; 1 value in the files differ from that.']


def test_a_conflict_is_reported_with_the_number_of_values(merge: Merge) -> None:
    merge.given("a.csv", "n\n1\n2\n\n")
    merge.given("b.csv", "n\nx\n")
    merge.given("c.csv", "n\n7\n")

    (conflict,) = merge.run().to_dict()["SchemaConflicts"]

    assert conflict["Found"] == [
        {"File": "a.csv", "Type": "int64", "Values": 3},
        {"File": "b.csv", "Type": "string", "Values": 1},
    ]


def test_what_a_folder_says_is_counted_in_a_conflict(merge: Merge) -> None:
    merge.given("a.csv", "n\n2026-01-31\n\n")
    merge.given("n=1/b.csv", "id\n1\n2\n")
    merge.given("n=x/c.csv", "id\n3\n")
    merge.given("n=__HIVE_DEFAULT_PARTITION__/d.csv", "id\n4\n")

    (conflict,) = merge.run().to_dict()["SchemaConflicts"]

    assert conflict["Found"] == [
        {"File": "a.csv", "Type": "date32[day]", "Values": 1},
        {"File": "n=1/b.csv", "Type": "string", "Values": 3},
    ]


def test_a_folder_that_the_table_does_not_hold_is_counted_in_the_conflict(merge: Merge) -> None:
    merge.given("n=1/a.csv", "id\n1\n2\n")
    merge.run()
    for file in (merge.root / "in").rglob("*.csv"):
        file.unlink()
    merge.given("n=x/b.csv", "id\n3\n")

    (conflict,) = merge.run(mode="append").to_dict()["SchemaConflicts"]

    assert [(each["Type"], each["Values"]) for each in conflict["Found"]] == [("string", 1), ("int64", 2)]


def test_text_that_a_folder_gives_can_be_partitioned_by(merge: Merge) -> None:
    merge.given("north/a.csv", "id\n1\n")
    merge.given("south/a.csv", "id\n2\n")

    rows = merge.rows(extract_paths=True, repartition_keys=["dir_0"])

    assert sorted((row["id"], row["dir_0"]) for row in rows) == [(1, "north"), (2, "south")]
    assert pq.read_schema(next(merge.output.rglob("part-*"))).names == ["id"]


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("int", 1.5, "bad"),
        ("int", 2.0, 2),
        ("int", True, "bad"),
        ("tinyint", 300, "bad"),
        ("double", 2**60 + 1, "bad"),
        ("decimal(10,2)", 1.25, Decimal("1.25")),
        ("decimal(10,2)", 1.255, "bad"),
        ("string", 1.5, "1.5"),
        ("boolean", 1, "bad"),
        ("double", True, "bad"),
        ("date", 5, "bad"),
        ("timestamp", 1.5, "bad"),
        ("boolean", "yes", True),
        ("array<bigint>", [1, 2], [1, 2]),
        ("array<bigint>", ["x", "y"], "bad"),
        ("struct<a: bigint>", {"a": 1}, {"a": 1}),
        ("struct<a: bigint>", {"a": 1, "b": 2}, "bad"),
        ("timestamp", "2026-01-31 12:00:00", datetime(2026, 1, 31, 12)),
        ("timestamp", "2026-02-30 12:00:00", "bad"),
        ("bigint", None, None),
    ],
)
@pytest.mark.parametrize("kind", ["json lines", "parquet"])
def test_no_value_is_cut_to_fit_a_type_that_was_given(
    merge: Merge, declared: str, value: object, expected: object, kind: str
) -> None:
    if kind == "json lines":
        merge.given("a.jsonl", json.dumps({"id": 1, "v": value}) + '\n{"id": 2}\n')
    else:
        merge.given("a.parquet", pa.table({"id": [1, 2], "v": [value, None]}))

    rows = merge.rows(schema=f"v {declared}", most_bad_share=1)

    assert (rows[0] == {"v": expected, "id": 1}) if expected != "bad" else (rows == [{"v": None, "id": 2}])
    assert len(merge.rejects()) == (expected == "bad")


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("map<string,int>", {"a": 1, "b": None}, [("a", 1), ("b", None)]),
        ("map<string,int>", {"a": "7", "b": "8"}, [("a", 7), ("b", 8)]),
        ("map<string,int>", {"a": "7", "b": 8}, [("a", 7), ("b", 8)]),
        ("map<string,int>", {}, []),
        ("map<string,int>", {"a": 1.5}, "bad"),
        ("map<string,int>", {"a": 1, "b": True}, "bad"),
        ("map<string,int>", {"a": 2**40}, "bad"),
        ("map<string,int>", [["a", 1], ["b"]], "bad"),
        ("map<int,int>", [[1, 2]], [(1, 2)]),
        ("map<int,int>", [[1.5, 2]], "bad"),
        ("map<int,int>", [[None, 2]], "bad"),
        ("map<string,date>", {"a": "2026-01-31"}, [("a", date(2026, 1, 31))]),
        ("map<string,date>", {"a": 5}, "bad"),
        ("map<string,string>", {"a": [1]}, [("a", "[1]")]),
        ("map<string,struct<b:int>>", {"a": {"b": 1}, "c": None}, [("a", {"b": 1}), ("c", None)]),
        ("map<string,struct<b:int>>", {"a": {"b": 1, "c": 2}}, "bad"),
        ("map<string,array<int>>", {"a": [1, 2], "b": []}, [("a", [1, 2]), ("b", [])]),
        ("map<string,array<int>>", {"a": [1, 2.5]}, "bad"),
        ("map<string,map<string,int>>", {"a": {"b": 1.5}}, "bad"),
        ("array<int>", [1, 2], [1, 2]),
        ("array<int>", [1, 2.5], "bad"),
        ("struct<a:int,b:date>", {"a": 1, "b": "2026-01-31"}, {"a": 1, "b": date(2026, 1, 31)}),
        ("struct<a:int>", {"a": 1.5}, "bad"),
        ("struct<a:map<string,int>>", {"a": {"b": 1}}, {"a": [("b", 1)]}),
        ("struct<a:int>", {}, {"a": None}),
    ],
)
def test_no_value_inside_another_is_cut_to_fit_a_type_that_was_given(
    merge: Merge, declared: str, value: object, expected: object
) -> None:
    merge.given("a.jsonl", "".join(f"{json.dumps({'v': each})}\n" for each in (None, value, None, value)))

    rows = merge.rows(schema=f"v {declared}", most_bad_share=1)

    kept = [] if expected == "bad" else [expected]
    assert [row["v"] for row in rows] == [None, *kept, None, *kept]
    assert len(merge.rejects()) == (2 if expected == "bad" else 0)


def test_a_warning_that_very_many_files_share_is_one_line(merge: Merge) -> None:
    for number in range(1_000):
        merge.given(f"f{number:04}.csv", "id,t\n1,x\n2,y\n\x1a")
    for number in range(20):
        merge.given(f"g{number:02}.csv", "")

    warnings = merge.plan().warnings

    mark = "it ends with Ctrl-Z, the end-of-file mark of DOS, which is left out."
    assert warnings == [
        *(f"g{number:02}.csv: it is empty." for number in range(20)),
        f"f0000.csv, f0001.csv, f0002.csv and 997 more: {mark}",
    ]


def test_warnings_are_grouped_by_what_they_say_whatever_the_files_are_called() -> None:
    names = [f"a: {number}.csv" for number in range(25)]

    assert group_warnings([*(f"{name}: odd." for name in names), "All: fine.", "b.csv: odd."], [*names, "b.csv"]) == [
        "a: 0.csv, a: 1.csv, a: 2.csv and 23 more: odd.",
        "All: fine.",
    ]
