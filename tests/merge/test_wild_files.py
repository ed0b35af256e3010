"""Files as others write them: what is in them arrives, or it is said what does not."""

from __future__ import annotations

import io
import os
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import msgpack
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from mason.errors import MasonError, UnreadableFile
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.tables.foreign_files import Foreign
from tests.merge.conftest import Merge

FAR = [datetime(9999, 12, 31), datetime(2020, 1, 1, 1, 2, 3, 4), datetime(1, 1, 1), None]


def int96(times: pa.Array) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"at": times}), stream, use_deprecated_int96_timestamps=True)
    return stream.getvalue()


def test_times_of_int96_are_what_they_are_in_every_year(merge: Merge) -> None:
    merge.given("a.parquet", int96(pa.array(FAR, pa.timestamp("us"))))

    result = merge.run()

    assert [row["at"] for row in merge.table().to_pylist()] == FAR
    assert not list(result.warnings)


def test_nanoseconds_of_int96_that_are_lost_are_counted(merge: Merge) -> None:
    merge.given("a.parquet", int96(pa.array([1_000, 1_001, None, 2_999], pa.timestamp("ns"))))

    result = merge.run()

    assert list(result.warnings) == [
        'In column "at" 2 times lost what is finer than a microsecond, the finest that a table has.'
    ]


def test_nanoseconds_are_told_of_only_where_something_is_lost(merge: Merge) -> None:
    merge.given("a.parquet", pa.table({"at": pa.array([1_000, 2_000], pa.timestamp("ns"))}))

    assert not list(merge.run().warnings)


@pytest.mark.parametrize("logical", ["timestamp-nanos", "local-timestamp-nanos"])
def test_nanoseconds_of_avro_that_are_lost_are_counted(merge: Merge, logical: str) -> None:
    stream = io.BytesIO()
    at = {"type": "long", "logicalType": logical}
    fields = [{"name": "at", "type": ["null", at]}, {"name": "all", "type": {"type": "array", "items": at}}]
    rows = [{"at": 1_001, "all": [2_000, 2_001, 2_999]}, {"at": None, "all": []}, {"at": 3_000, "all": [4_000]}]
    fastavro.writer(stream, {"type": "record", "name": "row", "fields": fields}, rows)
    merge.given("a.avro", stream.getvalue())

    assert list(merge.run().warnings) == [
        'In column "at" 1 time lost what is finer than a microsecond, the finest that a table has.',
        'In column "all" 2 times lost what is finer than a microsecond, the finest that a table has.',
    ]


def test_times_beside_text_in_a_union_of_avro_are_told_or_written_as_times(merge: Merge) -> None:
    stream = io.BytesIO()
    fine, plain = ({"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("nanos", "micros"))
    fields = [{"name": "fine", "type": [fine, "string"]}, {"name": "plain", "type": [plain, "string"]}]
    fastavro.writer(stream, {"type": "record", "name": "row", "fields": fields}, [{"fine": 1_001, "plain": 1_000_000}])
    merge.given("a.avro", stream.getvalue())

    result = merge.run()

    assert merge.table().to_pylist() == [{"fine": "1001", "plain": "1970-01-01 00:00:01.000000Z"}]
    assert result.plan.warnings == [
        "a.avro: it has times in nanoseconds beside text: they are the number of nanoseconds since 1970."
    ]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.list_(pa.timestamp("ns")), [[1_000, 1_001], None, [2_001]]),
        (pa.struct([("x", pa.timestamp("ns", "UTC")), ("y", pa.int64())]), [{"x": 1_001, "y": 1}, None, {"x": 2_001}]),
        (pa.map_(pa.string(), pa.timestamp("ns")), [[("a", 1_001), ("b", 1_000)], [], [("c", 2_001)]]),
    ],
    ids=["list", "struct", "map"],
)
def test_nanoseconds_inside_something_nested_that_are_lost_are_counted(merge: Merge, kind: Any, values: Any) -> None:
    merge.given("a.parquet", pa.table({"at": pa.array(values, kind)}))

    assert list(merge.run().warnings) == [
        'In column "at" 2 times lost what is finer than a microsecond, the finest that a table has.'
    ]


def test_nanoseconds_of_msgpack_that_are_lost_are_counted(merge: Merge) -> None:
    times = [msgpack.Timestamp(1_700_000_000, nanoseconds) for nanoseconds in (1_000, 1_001, 2_999)]
    rows = [{"at": times[0], "all": [times[2]]}, {"at": times[1], "all": []}]
    merge.given("a.msgpack", b"".join(map(msgpack.packb, rows)))

    result = merge.run()

    assert merge.types()["at"] == "timestamp[us, tz=UTC]"
    assert list(result.warnings) == [
        "a.msgpack: 2 times lost what is finer than a microsecond, the finest that a table has."
    ]


_VIEW = pa.list_view(pa.int64())


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (_VIEW, [[1, 2], None, [], [3]]),
        (pa.large_list_view(pa.int64()), [[1, 2], None, [], [3]]),
        (pa.list_view(_VIEW), [[[1], [2, 3]], None, [None]]),
        (pa.list_(_VIEW), [[[1, 2]], None, [None]]),
        (pa.struct([("a", _VIEW)]), [{"a": [1, 2]}, None, {"a": None}]),
        (pa.map_(pa.string(), _VIEW), [[("k", [1, 2])], None, []]),
    ],
    ids=str,
)
def test_lists_that_are_views_are_read_as_lists(merge: Merge, kind: pa.DataType, values: Any) -> None:
    merge.given("a.parquet", pa.table({"id": list(range(len(values))), "v": pa.array(values, kind)}))

    assert [row["v"] for row in merge.rows()] == values
    assert "view" not in merge.types()["v"]


def test_a_page_that_does_not_fit_its_checksum_is_refused(merge: Merge) -> None:
    stream = io.BytesIO()
    table = pa.table({"name": ["canary-" + str(number) for number in range(1000)]})
    pq.write_table(table, stream, write_page_checksum=True, compression="none", use_dictionary=False)
    content = stream.getvalue().replace(b"canary-500", b"canary-5x0")
    merge.given("a.parquet", content)

    with pytest.raises(UnreadableFile, match=r"^a\.parquet: .*checksum"):
        merge.run()


def test_two_columns_of_one_file_are_never_united(merge: Merge) -> None:
    merge.given("a.csv", "id,A,a\n1,x1,y1\n")
    merge.given("b.csv", "id,a,A\n2,x2,y2\n")

    merge.run(names="fold")

    assert merge.table().to_pylist() == [{"id": 1, "A": "x1", "A_2": "y1"}, {"id": 2, "A": "y2", "A_2": "x2"}]


def test_a_json_record_with_both_spellings_goes_to_the_quarantine(merge: Merge) -> None:
    merge.given("a.jsonl", '{"id": 1, "A": "x"}\n{"id": 2, "a": "y"}\n{"id": 3, "A": "x", "a": "y"}\n')

    result = merge.run(names="fold", most_bad_share=1)

    assert (result.rows_in, result.rows_out, result.quarantined) == (3, 2, 1)
    assert sorted(row["A"] for row in merge.table().to_pylist()) == ["x", "y"]
    (reject,) = merge.rejects()
    assert 'both "A" and "a"' in reject.reason


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_file_that_is_there_twice_by_links_is_read_once_and_told(merge: Merge, link: object) -> None:
    file = merge.given("a.csv", "id\n1\n2\n")
    link(file, file.with_name("b.csv"))  # type: ignore[operator]

    plan = merge.plan()
    result = merge.run_plan(plan)

    assert result.rows_out == 2
    assert any("b.csv" in each and "a.csv" in each for each in plan.warnings)


@pytest.mark.parametrize(
    ("inside", "name"),
    [
        ("_delta_log/00000000000000000000.json", "Delta"),
        ("metadata/v1.metadata.json", "Iceberg"),
        (".hoodie/hoodie.properties", "Hudi"),
    ],
)
def test_tables_of_other_formats_are_refused_by_name(merge: Merge, inside: str, name: str) -> None:
    merge.given("shop/part-0.parquet", pa.table({"id": [1]}))
    merge.given(f"shop/{inside}", "{}")

    with pytest.raises(MasonError, match=f"shop is a table of {name}"):
        merge.run()


def test_what_follows_an_empty_list_in_json_is_not_dropped(merge: Merge) -> None:
    merge.given("a.json", '[]\n[{"id": 1}]\n')

    with pytest.raises(MasonError, match=r"^a\.json: there is something behind the end of its array"):
        merge.run()


def test_utf_32_is_read_or_refused_and_never_nuls(merge: Merge) -> None:
    merge.given("a.csv", "id,name\n1,Zoë\n".encode("utf-32"))

    assert merge.run().rows_out == 1
    assert merge.table().to_pylist() == [{"id": 1, "name": "Zoë"}]


def test_a_name_with_a_number_that_is_there_already_is_not_taken_twice(merge: Merge) -> None:
    merge.given("a.csv", "A,a,A_2\n1,2,3\n")

    merge.run(names="fold")

    assert merge.table().to_pylist() == [{"A": 1, "A_3": 2, "A_2": 3}]


def test_a_text_that_stands_for_null_in_folders_goes_to_the_quarantine(merge: Merge) -> None:
    merge.given("a.csv", "id,day\n1,mon\n2,__HIVE_DEFAULT_PARTITION__\n3,\n")

    result = merge.run(repartition_keys=["day"], most_bad_share=1)

    assert (result.rows_out, result.quarantined) == (2, 1)
    assert "stands for null" in merge.rejects()[0].reason


def test_a_number_beyond_a_given_double_is_no_infinity(merge: Merge) -> None:
    merge.given("a.csv", "x\n1.5\n1e400\ninf\n-1e999\n")

    result = merge.run(schema="x double", most_bad_share=1)

    assert merge.table().to_pylist() == [{"x": 1.5}, {"x": float("inf")}]
    assert [each.raw for each in merge.rejects()] == ["1e400", "-1e999"]
    assert result.quarantined == 2


def test_bytes_that_are_no_text_in_a_text_of_parquet_go_to_the_quarantine(merge: Merge) -> None:
    wrong = pa.Array.from_buffers(pa.string(), 3, pa.array([b"a", b"\xff\xfe", None], pa.binary()).buffers())
    merge.given("a.parquet", pa.table({"id": [1, 2, 3], "name": wrong}))

    result = merge.run(most_bad_share=1)

    assert (result.rows_in, result.rows_out, result.quarantined) == (3, 2, 1)
    assert merge.table().to_pylist() == [{"id": 1, "name": "a"}, {"id": 3, "name": None}]
    (reject,) = merge.rejects()
    assert (reject.record, reject.column, reject.reason) == (2, "name", "its text is not valid UTF-8")


def test_a_folder_that_is_a_link_to_another_is_no_second_source(merge: Merge, tmp_path: Path) -> None:
    file = merge.given("one/a.csv", "id\n1\n")
    file.parent.with_name("two").symlink_to(file.parent)

    assert merge.run().rows_out == 1


@pytest.mark.parametrize("values", ["7", "1.50\n2.25", "2024-01-31", "12345678901234567890", "abc"])
def test_text_is_the_same_whether_it_became_text_at_once_or_by_an_append(merge: Merge, values: str) -> None:
    merge.given("a.csv", f"v\n{values}\n")
    merge.run()
    (merge.root / "in" / "a.csv").unlink()
    merge.given("b.csv", "v\nxyz\n")

    work = MergeWork(merge.plan(mode="append"))
    result = merge.run_plan(work.merge)

    assert sorted(row["v"] for row in merge.table().to_pylist()) == sorted([*values.split(), "xyz"])
    told = [each for each in [*work.warnings, *result.warnings] if "however" in each]
    assert bool(told) == ("." in values)  # the table does not know that its files had all decimals, too


@pytest.mark.parametrize(
    ("values", "kind", "spelled"),
    [
        ("1.5\n2.25", "decimal128(18, 2)", ["1.50", "2.25"]),
        ("0.1\n0.12345\n5", "double", ["0.1", "0.12345", "5"]),
        ("True\nfalse", "bool", ["false", "true"]),
        ("2024-01-31T10:00:00Z", "timestamp[us, tz=UTC]", ["2024-01-31 10:00:00.000000Z"]),
    ],
)
def test_values_that_an_append_spells_otherwise_than_their_files_are_told(
    merge: Merge, values: str, kind: str, spelled: list[str]
) -> None:
    merge.given("a.csv", f"v\n{values}\n")
    merge.run()
    (merge.root / "in" / "a.csv").unlink()
    merge.given("b.csv", "v\nxyz\n")

    work = MergeWork(merge.plan(mode="append"))
    result = merge.run_plan(work.merge)

    assert sorted(row["v"] for row in merge.table().to_pylist()) == [*spelled, "xyz"]
    (said,) = [each for each in [*work.warnings, *result.warnings] if "however" in each]
    assert said.startswith(f'Column "v" is {kind} in the table and becomes text: its values there are written ')


def test_what_keeps_decimals_of_a_table_numbers_beside_doubles_is_told_and_works(merge: Merge) -> None:
    merge.given("a.csv", "v\n12345678901234.12\n")
    merge.run()
    (merge.root / "in" / "a.csv").unlink()
    merge.given("b.parquet", pa.table({"v": [1.5] * 30 + [1.125]}))

    (conflict,) = merge.plan(mode="append").conflicts
    merge.run(mode="append", schema="v decimal128(18, 2)")

    assert str(conflict).endswith(
        'taken as string. A schema with "v decimal128(18, 2)" keeps it a number, and sends what does not fit to the '
        "quarantine."
    )
    assert merge.types() == {"v": "decimal128(18, 2)"}
    assert [each.reason for each in merge.rejects()] == ['"1.125" is not a decimal128(18, 2)']


def test_decimals_of_a_table_that_a_double_gives_back_stay_numbers_beside_doubles(merge: Merge) -> None:
    merge.given("a.csv", "v\n328038601.20\n1.12\n")
    merge.run()
    merge.given("a.csv", "id,v\n1,\n2,\n")  # a file of nulls has no smallest value
    merge.run(mode="append", schema="v decimal(18,2)")
    (merge.root / "in" / "a.csv").unlink()
    pq.write_table(pa.table({"v": [1.125]}), merge.output / "theirs.parquet")
    merge.given("b.csv", "v\n3.50\n")

    with pytest.raises(PlanRefused, match='Column "v" differs'):
        merge.plan(mode="append", foreign=Foreign.ADOPT, on_conflict="fail")
    plan = merge.plan(mode="append", foreign=Foreign.ADOPT)
    merge.run_plan(plan)

    assert [str(each) for each in plan.conflicts] == [
        'Column "v" differs between files (decimal128(18, 2) in the table, double in theirs.parquet): taken as double.'
    ]
    assert merge.types()["v"] == "double"
    numbers = merge.table()["v"].drop_null().to_pylist()
    assert sorted(numbers) == [1.12, 1.125, 3.5, 328038601.2]


def test_decimals_beside_doubles_are_the_doubles_next_to_them(merge: Merge) -> None:
    decimals = [Decimal(number).scaleb(-2) for number in range(32_803_860_100, 32_803_860_200)]
    merge.given("a.parquet", pa.table({"v": pa.array(decimals, pa.decimal128(12, 2))}))
    merge.given("b.parquet", pa.table({"v": [0.5]}))

    assert [row["v"] for row in merge.rows()] == [*map(float, decimals), 0.5]
    merge.run(schema="v double")
    assert merge.table()["v"].to_pylist()[:-1] == list(map(float, decimals))


def test_an_append_that_spells_values_otherwise_beyond_the_sample_tells_it_too(merge: Merge) -> None:
    merge.given("a.csv", "v\n1.5\n2.25\n")
    merge.run()
    (merge.root / "in" / "a.csv").unlink()
    merge.given("b.csv", "v\n" + "3.75\n" * 500 + "xyz\n")

    result = merge.run(mode="append", sample=100)

    assert any("becomes text: its values there are written with all decimals" in each for each in result.warnings)


@pytest.mark.parametrize("line_end", ["\r", "\r\n", "\n"])
def test_a_line_end_in_a_quoted_name_is_told_and_the_same_in_plan_and_table(merge: Merge, line_end: str) -> None:
    merge.given("a.csv", f'"na{line_end}me",x\n1,2\n3,4\n'.encode())

    plan = merge.plan()
    result = merge.run_plan(plan)

    assert plan.schema.names == ["na\nme", "x"]
    assert merge.table().to_pylist() == [{"na\nme": 1, "x": 2}, {"na\nme": 3, "x": 4}]
    assert result.quarantined == 0
    (said,) = plan.warnings
    assert said.startswith('a.csv: the column "na\\nme" has a line end in its name')


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize(
    "content",
    [
        '{"id": 1}{"id": 2, "x": [1, 2]}',
        '{\n  "id": 1\n}\n{\n  "id": 2,\n  "x": [\n    1,\n    2\n  ]\n}\n',
        '{"id": 1},\n{"id": 2,\n "x": [1, 2]},\n',
    ],
)
def test_objects_one_behind_the_other_in_any_lines_are_merged_as_they_are_inferred(
    merge: Merge, name: str, content: str
) -> None:
    merge.given(name, content)

    assert merge.rows() == [{"id": 1, "x": None}, {"id": 2, "x": [1, 2]}]


def test_what_is_broken_behind_some_objects_is_not_left_out(merge: Merge) -> None:
    merge.given("a.json", '{\n"id": 1\n}\n{\n"id": 2\n')

    with pytest.raises(MasonError, match=r"^a\.json: it is not valid JSON"):
        merge.run()


@pytest.mark.parametrize("kind", ["int64", "string", "decimal128(18, 2)"])
def test_a_merge_without_rows_writes_a_file_with_its_columns(merge: Merge, kind: str) -> None:
    column = pa.array([], pa.decimal128(18, 2) if kind.startswith("decimal") else kind)
    merge.given("a.parquet", pa.table({"id": column}))

    assert merge.run().rows_out == 0
    (file,) = merge.output.glob("*.parquet")
    assert str(pq.read_schema(file).field("id").type) == kind

    merge.given("a.parquet", pa.table({"id": pa.array([None, None], column.type)}))
    assert merge.run(mode="append").rows_out == 2
    assert merge.table().num_rows == 2


def test_unions_of_orc_are_text(merge: Merge) -> None:
    places = (pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()))
    union = pa.UnionArray.from_dense(*places, [pa.array([1, 2]), pa.array(["x"])])
    nested = pa.StructArray.from_arrays([union], names=["in"])
    stream = io.BytesIO()
    orc.write_table(pa.table({"u": union, "s": nested}), stream)
    merge.given("a.orc", stream.getvalue())

    assert merge.rows() == [{"u": each, "s": {"in": each}} for each in ("1", "x", "2")]


def test_a_time_that_arrow_cannot_read_from_orc_is_told_as_that(merge: Merge) -> None:
    stream = io.BytesIO()
    orc.write_table(pa.table({"at": pa.array(FAR, pa.timestamp("us"))}), stream)
    merge.given("a.orc", stream.getvalue())

    with pytest.raises(UnreadableFile, match=r"^a\.orc: it has a time beyond the years 1677 to 2262"):
        merge.run()
