"""A merge loses no row and mangles no value."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgpack
import pyarrow as pa
import pyarrow.orc as orc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mason.engines.storage.models.location import Location
from mason.errors import BadPath, NoData
from mason.pipeline.jobs.merge.outcome import TooManyBadRecords
from mason.pipeline.jobs.merge.plan import PlanRefused
from tests.merge.conftest import Merge


def test_columns_are_matched_by_name_when_headers_differ(merge: Merge) -> None:
    merge.given("a.csv", "type,price\nsaw,1\n")
    merge.given("b.csv", "price,type\n2,axe\n")

    assert merge.rows() == [{"type": "saw", "price": 1}, {"type": "axe", "price": 2}]


def test_a_column_that_a_file_lacks_is_null_there(merge: Merge) -> None:
    merge.given("a.csv", "a\n1\n")
    merge.given("b.csv", "a,b\n2,x\n")

    assert merge.rows() == [{"a": 1, "b": None}, {"a": 2, "b": "x"}]


def test_quotes_line_breaks_and_empty_fields_arrive_as_they_were_written(merge: Merge) -> None:
    merge.given("a.csv", 'a,b\n"one, two","say ""hi"""\n"first\nsecond",""\nx,\n')

    assert merge.rows() == [
        {"a": "one, two", "b": 'say "hi"'},
        {"a": "first\nsecond", "b": ""},
        {"a": "x", "b": None},
    ]


def test_what_would_not_come_back_the_same_stays_text_or_decimal(merge: Merge) -> None:
    merge.given("a.csv", "zip,big,price,flag\n00501,12345678901234567890,1.50,true\n04109,1,2.25,false\n")

    rows = merge.rows()

    assert rows[0] == {"zip": "00501", "big": Decimal("12345678901234567890"), "price": Decimal("1.50"), "flag": True}


def test_a_value_beyond_the_sample_widens_the_column_and_loses_nothing(merge: Merge) -> None:
    values = [str(number) for number in range(30_000)]
    merge.given("a.csv", "n,m\n" + "".join(f"{value},1\n" for value in values) + "n/a,2\n")

    result = merge.run()

    assert result.rounds == 2
    assert merge.types() == {"n": "string", "m": "int64"}
    assert merge.table()["n"].to_pylist() == [*values, "n/a"]


def test_a_key_beyond_the_sample_becomes_a_column(merge: Merge) -> None:
    lines = [json.dumps({"a": number}) for number in range(30_000)]
    merge.given("a.jsonl", "\n".join([*lines, '{"a": 1, "rare": {"x": [1, 2]}}']))

    merge.run()

    assert merge.table()["rare"].to_pylist()[-1] == {"x": [1, 2]}
    assert merge.table().num_rows == 30_001


def test_ragged_records_go_to_the_quarantine_with_their_place(merge: Merge) -> None:
    merge.given("a.csv", "a,b\n1,2\n3\n4,5,6\n7,8\n")

    result = merge.run()

    assert (result.rows_in, result.rows_out, result.quarantined) == (4, 2, 2)
    assert [(each.file, each.record, each.reason, each.raw) for each in merge.rejects()] == [
        ("a.csv", 3, "1 field instead of 2", "3"),
        ("a.csv", 4, "3 fields instead of 2", "4,5,6"),
    ]
    assert [each.offset for each in merge.rejects()] == [8, 10]


def test_a_quote_that_is_not_closed_swallows_nothing_silently(merge: Merge) -> None:
    merge.given("a.csv", 'a,b\n1,2\n"3,4\n5,6\n')

    result = merge.run()

    assert (result.rows_in, result.rows_out, result.quarantined) == (3, 2, 1)
    (reject,) = merge.rejects()
    assert (reject.reason, reject.raw) == ("a quote is opened and not closed", '"3,4')


def test_quotes_inside_fields_are_only_quotes(merge: Merge) -> None:
    merge.given("a.csv", 'size,n\n5" pipe,3\n6" pipe,4\n"7"" pipe",5\n')

    assert merge.rows() == [{"size": '5" pipe', "n": 3}, {"size": '6" pipe', "n": 4}, {"size": '7" pipe', "n": 5}]


def test_bytes_that_are_no_text_are_kept_and_named(merge: Merge) -> None:
    merge.given("a.csv", b"a,b\n\xc3\xa4,1\nx\xff,2\ny,3\n")

    result = merge.run()

    assert (result.rows_out, result.quarantined) == (2, 1)
    assert merge.table()["a"].to_pylist() == ["ä", "y"]
    (reject,) = merge.rejects()
    assert reject.raw.encode("utf-8", "surrogateescape") == b"x\xff,2"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_text_in_other_encodings_is_the_same_text(merge: Merge, encoding: str) -> None:
    merge.given("a.csv", "name;n\nSchön;1\nKörner;2\n".encode(encoding))

    assert merge.rows() == [{"name": "Schön", "n": 1}, {"name": "Körner", "n": 2}]


def test_line_ends_of_all_systems_and_blank_lines(merge: Merge) -> None:
    merge.given("a.csv", b"a,b\r\n1,x\r\n\r\n2,y\r\n")
    merge.given("b.csv", b"a,b\n\n3,z")

    assert merge.rows() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}]


def test_a_blank_line_in_a_file_of_one_column_is_a_null(merge: Merge) -> None:
    merge.given("a.csv", "a\n1\n\n2\n")

    assert merge.rows(parse_headers=True) == [{"a": 1}, {"a": None}, {"a": 2}]


def test_every_format_and_compression_ends_in_one_table(merge: Merge, tmp_path: Path) -> None:
    table = pa.table({"id": pa.array([1], pa.int32()), "name": ["parquet"]})
    merge.given("a.csv", "id,name\n2,csv\n")
    merge.given("b.csv.gz", gzip.compress(b"id,name\n3,gz\n"))
    merge.given("c.jsonl", '{"id": 4, "name": "jsonl"}\n')
    merge.given("d.json", '[{"id": 5, "name": "json"}]')
    merge.given("e.parquet", table)
    merge.given("f.msgpack", msgpack.packb({"id": 6, "name": "msgpack"}))
    orc.write_table(pa.table({"id": [7], "name": ["orc"]}), str(merge.root / "in" / "g.orc"))
    import fastavro

    schema = {
        "type": "record",
        "name": "r",
        "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}],
    }
    with open(merge.root / "in" / "h.avro", "wb") as file:
        fastavro.writer(file, schema, [{"id": 8, "name": "avro"}])

    rows = merge.rows()

    assert sorted(row["id"] for row in rows) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert merge.types() == {"id": "int64", "name": "string"}


def test_broken_json_lines_are_quarantined(merge: Merge) -> None:
    merge.given("a.jsonl", '{"a": 1}\n{"a": \n\n[1]\n{"a": 2}\n')

    result = merge.run()

    assert (result.rows_in, result.rows_out) == (4, 2)
    assert [each.record for each in merge.rejects()] == [2, 4]


def test_a_scalar_beside_something_nested_is_json_text(merge: Merge) -> None:
    merge.given("a.jsonl", '{"v": 1}\n')
    merge.given("b.jsonl", '{"v": {"x": [1, "ä"]}}\n')

    assert merge.rows() == [{"v": "1"}, {"v": '{"x": [1, "ä"]}'}]


def test_structs_are_united_field_by_field(merge: Merge) -> None:
    merge.given("a.jsonl", '{"s": {"a": 1}}\n')
    merge.given("b.parquet", pa.table({"s": [{"b": "x"}]}))

    assert merge.rows() == [{"s": {"a": 1, "b": None}}, {"s": {"a": None, "b": "x"}}]


def test_integers_of_several_widths_are_united(merge: Merge) -> None:
    merge.given("a.parquet", pa.table({"n": pa.array([1], pa.int8())}))
    merge.given("b.parquet", pa.table({"n": pa.array([2**40], pa.int64())}))

    assert [row["n"] for row in merge.rows()] == [1, 2**40]


def test_hive_folders_become_columns_and_other_folders_if_asked(merge: Merge) -> None:
    merge.given("eu/year=2026/a.csv", "a\n1\n")
    merge.given("us/year=2025/b.csv", "a\n2\n")

    assert merge.rows() == [{"a": 1, "year": 2026}, {"a": 2, "year": 2025}]
    assert merge.rows(extract_paths=True)[0] == {"a": 1, "dir_0": "eu", "year": 2026}


def test_a_conflict_can_be_taken_as_text_or_fail_the_plan(merge: Merge) -> None:
    merge.given("a.csv", "a,b\n1,2024-01-01\n")
    merge.given("b.csv", "a,b\n2,2024-01-01 10:00\n")

    assert merge.rows(on_conflict="string")[0] == {"a": 1, "b": "2024-01-01"}
    with pytest.raises(PlanRefused, match='Column "b" differs between files'):
        merge.plan(on_conflict="fail")


def test_a_conflict_beyond_the_sample_is_one_as_much_as_any(merge: Merge) -> None:
    merge.given("a.csv", "n\n1\n2\n4.5\n")
    merge.given("b.csv", "n\n3\n4\n5\n")

    for sample in (1, 0):
        with pytest.raises(PlanRefused, match=r'differs between files .*: "widen" would take it as decimal'):
            merge.run(sample=sample, on_conflict="fail")
        assert [row["n"] for row in merge.rows(sample=sample, on_conflict="string")] == ["1", "2", "4.5", "3", "4", "5"]
        result = merge.run(sample=sample)
        assert [(each.type, each.values) for each in result.conflicts[0].found] == [
            ("decimal128(18, 1)", 3),
            ("int64", 3),
        ]
        told = [*map(str, merge.plan(sample=sample).conflicts), *result.warnings]
        assert len([each for each in told if 'Column "n" differs between files' in each]) == 1


def test_a_table_that_does_not_hold_what_is_added_is_in_conflict_with_it(merge: Merge) -> None:
    merge.given("year=2025/a.csv", "n\n1\n2\n")
    merge.run()
    merge.given("year=2025/a.csv", "n\n3\n")
    assert merge.run(mode="append", on_conflict="fail").conflicts == []

    for name, content, column in (("year=2025/a.csv", "n\n4\n4.5\n", "n"), ("year=none/b.csv", "n\n5\n", "year")):
        merge.given(name, content)
        for sample in (0, 1):
            with pytest.raises(PlanRefused, match=rf'"{column}" differs between files .*int64 in the table'):
                merge.run(mode="append", on_conflict="fail", sample=sample)
    result = merge.run(mode="append", sample=1)

    assert [(each.column, each.chosen) for each in result.conflicts] == [("n", "decimal128(38, 1)"), ("year", "string")]
    counts = {each.type: each.values for each in result.conflicts[0].found}
    assert counts == {"decimal128(38, 1)": 2, "int64": 4}  # three of these are in the table
    assert [str(row["n"]) for row in merge.table().to_pylist()] == ["1.0", "2.0", "3.0", "4.0", "4.5", "5.0"]


def test_columns_beyond_the_sample_are_in_the_order_in_which_records_have_them(merge: Merge) -> None:
    names = [f"n{number * 37 % 101}" for number in range(40)]
    late = ", ".join(f'"{name}": 1' for name in names)
    merge.given("a.jsonl", '{"id": 1}\n' * 20 + f'{{"id": 2, {late}}}\n')

    merge.run(sample=5)

    assert merge.table().column_names == ["id", *names]


def test_names_that_cannot_be_told_apart_fail_the_plan_with_their_places(merge: Merge) -> None:
    merge.given("a.csv", "id,id\n1,2\n")
    merge.given("b.csv", "ID,x\n1,2\n")

    with pytest.raises(PlanRefused) as caught:
        merge.plan()
    assert 'a.csv: it has more than one column "id"' in str(caught.value)
    assert '"id" in a.csv and "ID" in b.csv differ only in case' in str(caught.value)


def test_a_file_that_cannot_be_read_fails_the_plan(merge: Merge) -> None:
    merge.given("a.csv", "a\n1\n")
    merge.given("b.parquet", b"PAR1 half a file")

    with pytest.raises(PlanRefused, match=r"b\.parquet"):
        merge.plan()


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("b.csv.xz", b"\xfd7zXZ", r"b\.csv\.xz: it is packed as xz, which cannot be read"),
        ("b.csv.gz", b"\x1f", r"b\.csv\.gz: it ends after its first bytes"),
        ("b.csv.bz2", b"B", r"b\.csv\.bz2: it ends after its first bytes"),
    ],
)
def test_a_file_that_cannot_be_unpacked_fails_the_plan(merge: Merge, name: str, content: bytes, problem: str) -> None:
    merge.given("a.csv", "n\n1\n")
    merge.given(name, content)

    with pytest.raises(PlanRefused, match=problem):
        merge.plan()


def test_an_output_inside_the_input_fails_the_plan(merge: Merge) -> None:
    from mason.pipeline.jobs.merge.job import MergeJob
    from mason.pipeline.jobs.merge.plan import plan_merge

    merge.given("a.csv", "a\n1\n")
    inside, above = str(merge.root / "in" / "out"), str(merge.root)

    with pytest.raises(BadPath, match="lies inside the input"):
        plan_merge(MergeJob(Location(str(merge.root / "in")), Location(inside)))
    with pytest.raises(BadPath, match="lies inside the output"):
        plan_merge(MergeJob(Location(str(merge.root / "in")), Location(above)))


def test_bad_records_fail_the_job_if_asked_and_when_they_are_too_many(merge: Merge) -> None:
    merge.given("a.csv", "a,b\n1,2\n3\n")
    with pytest.raises(TooManyBadRecords, match=r"1 of 2 records.*a\.csv record 3"):
        merge.run(on_bad_record="fail")

    merge.given("a.csv", "a,b\n" + "1,2\n" * 500 + "3\n" * 200)
    with pytest.raises(TooManyBadRecords, match="200 of 700 records"):
        merge.run()
    assert not merge.output.exists()


def test_no_data_is_an_error(merge: Merge) -> None:
    with pytest.raises(NoData):
        merge.plan()


def test_five_thousand_columns_and_odd_names(merge: Merge) -> None:
    names = [f"c{number}" for number in range(5_000)]
    merge.given("a.csv", ",".join(names) + "\n" + ",".join(["1"] * 5_000) + "\n")
    merge.given("b.csv", '"a.b","say ""hi""",🙂,select\n1,2,3,4\n')

    merge.run()

    assert len(merge.table().schema) == 5_004
    assert {"a.b", 'say "hi"', "🙂", "select"} <= set(merge.table().schema.names)


def test_a_plan_says_what_the_run_does(merge: Merge) -> None:
    merge.given("a.csv", "a,b\n1,x\n")
    merge.given("b.csv", "a,b\n2.5,y\n")

    plan = merge.plan()
    promised = plan.to_dict()
    result = merge.run_plan(plan).to_dict()

    assert promised["Columns"] == result["Columns"]
    counted = [[each.pop("Values") for each in conflict["Found"]] for conflict in result["SchemaConflicts"]]
    assert counted == [[1, 1]]
    assert promised["SchemaConflicts"] == result["SchemaConflicts"]


TEXTS = st.one_of(
    st.integers(-(10**22), 10**22).map(str),
    st.decimals(-1000, 1000, places=2).map(str),
    st.sampled_from(["007", "-0", "1e5", "NaN", "true", "2024-02-29", "2024-02-30", "x,y", 'q"q', "a\nb", "ä", ""]),
    st.datetimes().map(str),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
)
FILES = st.lists(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), min_size=1, max_size=4)


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILES, st.randoms(use_true_random=False))
def test_any_order_of_files_gives_the_same_schema_and_rows(tmp_path: Path, files: Any, random: Any) -> None:
    shuffled = list(files)
    random.shuffle(shuffled)

    one, other = (_merged(tmp_path / name, each) for name, each in (("one", files), ("other", shuffled)))

    assert one.types() == other.types()
    assert Counter(map(str, one.table().to_pylist())) == Counter(map(str, other.table().to_pylist()))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILES)
def test_every_text_comes_back_as_itself_or_as_the_same_value(tmp_path: Path, files: Any) -> None:
    merged = _merged(tmp_path / "any", files)
    written = [value for file in files for row in file for value in row]
    found = [value for row in merged.table().to_pylist() for value in row.values()]

    assert len(written) == len(found)
    for text, value in zip(written, found, strict=True):
        assert _is_same(text, value), (text, value)


def _merged(root: Path, files: Any) -> Merge:
    import shutil

    shutil.rmtree(root, ignore_errors=True)
    merge = Merge(root)
    for number, rows in enumerate(files):
        lines = [f"{quoted(a)},{quoted(b)}\n" for a, b in rows]
        merge.given(f"{number}.csv", "a,b\n" + "".join(lines))
    merge.run(parse_headers=True)
    return merge


def _is_same(text: str, value: Any) -> bool:
    if value is None:
        return False  # every field was quoted: none is null
    if isinstance(value, str):
        return value == text
    if isinstance(value, bool):
        return str(value).lower() == text.lower()
    if isinstance(value, int | float | Decimal):
        return Decimal(text) == Decimal(repr(value) if isinstance(value, float) else value)
    return str(value)[:10] == text[:10]


def test_lists_of_nulls_alone_are_not_left_to_arrow_which_loses_some(merge: Merge) -> None:
    merge.given("a.jsonl", '{"a": [null, null]}\n{"a": [null]}\n{"a": []}\n')
    merge.given("b.jsonl", '{"a": [123456789012345678901]}\n')

    assert merge.rows() == [{"a": [None, None]}, {"a": [None]}, {"a": []}, {"a": [Decimal("123456789012345678901")]}]
