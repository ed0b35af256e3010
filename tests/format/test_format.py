"""Tables in other formats: what stands in the files, which rows, which folders, and what is refused."""

from __future__ import annotations

import gzip
import json
import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.errors import BadInput, BadPath, MasonError, NoData, Unprocessable
from mason.pipeline.formats.json.parse import parse_lines
from mason.pipeline.formats.sources import ValueSource
from mason.pipeline.formats.writers import xlsx_writer
from mason.pipeline.formats.writers.json_values_back import column_of_values, json_codec
from mason.pipeline.formats.writers.output_format import OUTPUT_FORMATS, CannotHold, TooManyForFormat, output_format
from mason.pipeline.jobs.format.condition import BadCondition
from mason.pipeline.jobs.format.job import parse_size
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.request import NoSuchColumn
from mason.pipeline.tables.rejects import read_quarantine
from tests.format.conftest import Format

ORDERS = {
    "id": [1, 2, 3, 4],
    "country": ["DE", "US", "DE", None],
    "price": pa.array([Decimal("5.00"), Decimal("12.50"), None, Decimal("99.99")], pa.decimal128(10, 2)),
    "note": ['say "hi"', "", None, "two\nlines"],
}


def test_csv_tells_null_from_empty_text_and_quotes_what_must_be(format_: Format) -> None:
    format_.given(ORDERS)
    format_.run("csv")

    lines = [
        "id,country,price,note",
        '1,"DE",5.00,"say ""hi"""',
        '2,"US",12.50,""',
        '3,"DE",,',
        '4,,99.99,"two\nlines"',
    ]
    assert format_.text() == "\n".join(lines) + "\n"


def test_json_lines_are_plain_json_with_every_key(format_: Format) -> None:
    format_.given({"a": [1.0, None], "b": ["é\n😀", '"'], "c": [[1, None], []], "d": [date(2026, 1, 31), None]})
    format_.run("jsonl")

    first, second = map(json.loads, format_.text().splitlines())
    assert first == {"a": 1.0, "b": "é\n😀", "c": [1, None], "d": "2026-01-31"}
    assert second == {"a": None, "b": '"', "c": [], "d": None}


def test_json_is_one_array_in_one_file_whatever_the_number_of_tasks(format_: Format) -> None:
    for number in range(3):
        format_.given({"id": [number * 2, number * 2 + 1]}, f"in/{number}.parquet")
    format_.run("json")

    assert json.loads(format_.text()) == [{"id": number} for number in range(6)]


def test_numbers_that_json_has_no_word_for_are_text_and_counted(format_: Format) -> None:
    format_.given({"x": [math.nan, math.inf, -math.inf, -0.0, 1e300]})
    done = format_.run("jsonl")

    assert [json.loads(line)["x"] for line in format_.text().splitlines()] == [
        "NaN",
        "Infinity",
        "-Infinity",
        -0.0,
        1e300,
    ]
    assert list(done.warnings) == ['Column "x": NaN or infinite, written as text: 3 values.']


@pytest.mark.parametrize("name", ["jsonl", "json", "csv"])
def test_half_floats_that_json_has_no_word_for_are_text_too(format_: Format, name: str) -> None:
    halves = pa.array([math.nan, math.inf, -math.inf, 1.5], pa.float64()).cast(pa.float16())
    format_.given({"h": halves, "l": pa.array([[each] for each in halves.to_pylist()], pa.list_(pa.float16()))})

    format_.run(name)

    for word in ("Infinity", "-Infinity", "1.5"):
        assert word in format_.text()


def test_avro_names_are_escaped_and_keep_what_they_were(format_: Format) -> None:
    format_.given({"a.b": [1], "a_x2e_b": [2], "1st": [3], "😀": [4]})
    plan = format_.plan("avro")
    format_.run_plan(plan)

    (file,) = format_.files()
    with open(file, "rb") as content:
        reader = fastavro.reader(content)
        assert list(reader) == [{"a_x2e_b_2": 1, "a_x2e_b": 2, "_1st": 3, "_x1f600_": 4}]
        originals = [each.get("original_name") for each in reader.writer_schema["fields"]]
    assert originals == ["a.b", None, "1st", "😀"]
    assert 'Column "a.b" (int64) becomes the field "a_x2e_b_2" in avro.' in list(plan.warnings)
    assert format_.rows() == [{"a.b": 1, "a_x2e_b": 2, "1st": 3, "😀": 4}]


def test_a_sheet_of_excel_has_what_a_cell_can_hold_and_text_for_the_rest(format_: Format) -> None:
    format_.given(
        {
            "text": ["=1+1", "", "<r>x</r>", None],
            "whole": [10**15 - 1, 10**15, -5, None],
            "real": [0.1 + 0.2, math.nan, 1e300, -math.inf],
            "day": [date(2026, 1, 31), date(1900, 2, 28), date(9999, 12, 31), None],
            "at": pa.array([datetime(2026, 1, 31, 12, 0, 0, 123000), datetime(2026, 1, 31, 0, 0, 0, 1), None, None]),
            "zoned": pa.array([datetime(2026, 1, 31, tzinfo=UTC), None, None, None], pa.timestamp("us", "UTC")),
            "time": [time(12, 30, 15, 1000), time(0, 0, 0, 1), None, None],
            "flag": [True, False, None, None],
            "money": pa.array([Decimal("12.34"), None, None, None], pa.decimal128(10, 2)),
            "long": pa.array([Decimal("9" * 38), None, None, None], pa.decimal128(38, 0)),
            "list": [[1, None], None, [], None],
        }
    )
    done = format_.run("xlsx")

    (file,) = format_.files()
    sheet = openpyxl.load_workbook(file).active
    assert sheet is not None
    header, *rows = sheet.iter_rows(values_only=True)
    assert header == ("text", "whole", "real", "day", "at", "zoned", "time", "flag", "money", "long", "list")
    assert rows == [
        (
            *("=1+1", 10**15 - 1, 0.30000000000000004, datetime(2026, 1, 31), datetime(2026, 1, 31, 12, 0, 0, 123000)),
            *("2026-01-31T00:00:00.000000Z", time(12, 30, 15, 1000), True, 12.34, "9" * 38, "[1,null]"),
        ),
        (
            "",
            str(10**15),
            "NaN",
            "1900-02-28",
            "2026-01-31T00:00:00.000001",
            None,
            "00:00:00.000001",
            False,
            *[None] * 3,
        ),
        ("<r>x</r>", -5, 1e300, datetime(9999, 12, 31), *[None] * 6, "[]"),
        (None, None, "-Infinity", *[None] * 8),
    ]
    assert 'Column "whole": more than fifteen digits, written as text: 1 value.' in list(done.warnings)


def test_a_sheet_has_sums_of_money_as_numbers_whatever_their_columns_could_hold(format_: Format) -> None:
    given = ["12.34", "-0.05", "123456789012345.00", "1234567890123456.00", "0.00", None]
    values = [each and Decimal(each) for each in given]
    format_.given({"sum": pa.array(values, pa.decimal128(38, 2)), "short": pa.array(values, pa.decimal128(18, 2))})
    plan = format_.plan("xlsx")
    done = format_.run_plan(plan)

    (file,) = format_.files()
    sheet = openpyxl.load_workbook(file).active
    assert sheet is not None
    _, *rows = sheet.iter_rows(values_only=True)
    expected = [12.34, -0.05, 123456789012345, "1234567890123456.00", 0, None]
    assert rows == [(each, each) for each in expected]
    assert list(plan.warnings) == []
    assert 'Column "sum": more than fifteen digits, written as text: 1 value.' in list(done.warnings)


@pytest.mark.parametrize("name", ["jsonl", "json"])
def test_json_has_decimals_as_numbers_with_all_their_digits(format_: Format, name: str) -> None:
    long = Decimal("1234567890123456789012345678.1234567890")
    price = pa.array([Decimal("12.50"), Decimal("-0.05"), None], pa.decimal128(18, 2))
    format_.given(
        {
            "price": price,
            "long": pa.array([long, Decimal("0.0000000001"), None], pa.decimal128(38, 10)),
            "inside": [{"fees": [Decimal("1234567890123456.75")]}, None, {"fees": []}],
        }
    )
    plan = format_.plan(name)
    format_.run_plan(plan)

    lines = [each.strip(",") for each in format_.text().splitlines() if each.strip(",[]")]
    assert lines == [
        f'{{"price":12.50,"long":{long},"inside":{{"fees":[1234567890123456.75]}}}}',
        '{"price":-0.05,"long":0.0000000001,"inside":null}',
        '{"price":null,"long":null,"inside":{"fees":[]}}',
    ]
    assert list(plan.warnings) == []
    assert format_.rows()[0] == {
        "price": Decimal("12.50"),
        "long": long,
        "inside": {"fees": [Decimal("1234567890123456.75")]},
    }


def test_decimals_that_an_older_mason_wrote_to_json_as_text_read_back() -> None:
    declared, texts = pa.decimal128(18, 2), ["12.50", "1234567890123456.75", None]
    parsed = parse_lines(b'{"price":"12.50"}\n{"price":"1234567890123456.75"}\n{}\n', {"price": declared}, own=True)
    assert parsed is not None

    for source in (ValueSource(texts), parsed.columns["price"]):
        found = column_of_values(source, json_codec(declared), len(texts))
        assert found.to_pylist() == [each and Decimal(each) for each in texts]


def test_what_becomes_of_each_type_is_told_in_the_plan_and_in_the_result(format_: Format) -> None:
    format_.given({"id": [1], "bytes": [b"x"], "tags": [["a"]], "place": [{"since": time(1)}]})

    plan = format_.plan("csv")
    done = format_.run_plan(plan)
    assert list(plan.warnings) == [
        'Column "bytes" (binary) becomes base64 text in csv.',
        'Column "tags" (list<item: string>) becomes JSON text in csv.',
        'Column "place" (struct<since: time64[us]>) becomes JSON text in csv.',
    ]
    assert done.to_dict()["Changes"] == plan.to_dict()["Changes"]
    assert list(format_.plan("orc").warnings) == ['Column "place.since" (time64[us]) becomes text in orc.']
    assert list(format_.plan("parquet").warnings) == []


def test_a_time_that_orc_would_mangle_is_refused_and_nothing_is_written(format_: Format) -> None:
    format_.given({"at": pa.array([datetime(9999, 12, 31), datetime(2026, 1, 31)], pa.timestamp("us"))})

    with pytest.raises(CannotHold, match=r'Column "at": times from 2026-01-31.* to 9999-12-31.* read back from ORC'):
        format_.run("orc")
    assert not format_.output.exists()


def test_a_text_that_no_cell_holds_is_refused(format_: Format) -> None:
    format_.given({"note": ["x" * 32_768]})

    with pytest.raises(CannotHold, match='Column "note": a text has 32,768 characters'):
        format_.run("xlsx")
    assert not format_.output.exists()


def test_a_filter_takes_the_rows_for_which_it_is_true_and_counts_the_others(format_: Format) -> None:
    format_.given(ORDERS)
    done = format_.run("csv", filter="price > 10 or country = 'DE'", columns=["note", "id"])

    assert format_.text() == 'note,id\n"say ""hi""",1\n"",2\n,3\n"two\nlines",4\n'
    assert (done.sums.rows_in, done.sums.rows_out, done.sums.count("Filtered")) == (4, 4, 0)
    done = format_.run("csv", filter="price > 10 and country is not null", columns=["id"])
    assert format_.text() == "id\n2\n"
    assert (done.sums.rows_in, done.sums.rows_out, done.sums.count("Filtered")) == (4, 1, 3)
    assert done.summary.startswith("4 records in, 1 row out, 3 filtered: ")


def test_a_condition_that_cannot_be_is_refused_in_the_plan(format_: Format) -> None:
    format_.given(ORDERS)

    with pytest.raises(BadCondition, match='filter 1:1: there is no column "prize". Did you mean "price"'):
        format_.plan("csv", filter="prize > 10")
    with pytest.raises(BadCondition, match="cannot be compared with text"):
        format_.plan("csv", filter="id = 'x'")


def test_a_condition_that_fails_on_a_row_fails_the_job_and_names_itself(format_: Format) -> None:
    format_.given(ORDERS)

    with pytest.raises(BadCondition, match="filter 1:1: a number is divided by zero"):
        format_.run("csv", filter="10 / (id - 3) > 1")
    assert not format_.output.exists()


@pytest.mark.parametrize("tasks", [1, 7])
def test_a_sample_has_so_many_rows_in_their_order_and_is_always_the_same(
    format_: Format, monkeypatch: pytest.MonkeyPatch, tasks: int
) -> None:
    monkeypatch.setattr("mason.pipeline.reading.plan.read_plan.TASK_FILES", 7 // tasks)
    for number in range(7):
        format_.given({"id": list(range(number * 100, number * 100 + 100))}, f"in/{number}.parquet")

    done = format_.run("parquet", sample_size=50, filter="id >= 50")
    ids = [row["id"] for row in format_.rows()]

    assert len(set(ids)) == 50
    assert ids == sorted(ids)
    assert min(ids) >= 50
    assert (done.sums.rows_in, done.sums.rows_out, done.sums.count("Filtered"), done.sums.count("NotSampled")) == (
        700,
        50,
        50,
        600,
    )
    format_.run("parquet", output="again", sample_size=50, filter="id >= 50")
    assert [row["id"] for row in format_.rows("again")] == ids


def test_a_sample_of_more_rows_than_there_are_has_all_of_them_and_one_of_none_has_none(format_: Format) -> None:
    format_.given({"id": [1, 2, 3]})

    format_.run("csv", sample_size=10)
    assert format_.text() == "id\n1\n2\n3\n"
    format_.run("csv", sample_size=0)
    assert format_.text() == "id\n"


def test_every_row_is_as_likely_in_a_sample_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over many seeds each of 60 rows in three tasks is drawn about as often: chi-square, 59 degrees, p > 0.001."""
    from mason.pipeline.jobs.format import sink as sample

    counts, size, draws = [10, 30, 20], 12, 2000
    seen = [0] * sum(counts)
    for seed in range(draws):
        monkeypatch.setattr(sample, "_SEED", seed)
        drawn = sample.draw(counts, size)
        for task, start in enumerate((0, 10, 40)):
            for row in sample.rows_of_task(drawn, f"part-job-{task:05}-abc"):
                seen[start + row] += 1
    expected = draws * size / len(seen)
    assert sum(seen) == draws * size
    assert sum((each - expected) ** 2 / expected for each in seen) < 98.3


def test_partitions_are_folders_and_come_back_as_columns(format_: Format) -> None:
    format_.given(ORDERS)
    format_.run("csv", partition_columns=["country"])

    found = {str(file.parent.relative_to(format_.output)): file.read_text() for file in format_.files()}
    assert found == {
        "country=DE": 'id,price,note\n1,5.00,"say ""hi"""\n3,,\n',
        "country=US": 'id,price,note\n2,12.50,""\n',
        "country=__HIVE_DEFAULT_PARTITION__": 'id,price,note\n4,99.99,"two\nlines"\n',
    }
    rows = sorted(format_.rows(), key=lambda row: row["id"])
    assert [row["country"] for row in rows] == ORDERS["country"]
    assert list(rows[0]) == ["id", "country", "price", "note"]


def test_each_partition_of_a_document_format_is_a_document(format_: Format) -> None:
    format_.given({"day": [date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 1)], "id": [1, 2, 3]})
    format_.run("json", partition_columns=["day"])

    found = {file.parent.name: json.loads(file.read_text()) for file in format_.files()}
    assert found == {"day=2026-01-01": [{"id": 1}, {"id": 3}], "day=2026-01-02": [{"id": 2}]}
    assert sorted(row["id"] for row in format_.rows()) == [1, 2, 3]


def test_empty_text_in_a_partition_column_is_quarantined(format_: Format) -> None:
    format_.given({"k": ["a"] * 20 + [""], "id": list(range(21))})
    done = format_.run("csv", partition_columns=["k"])

    assert (done.sums.rows_out, done.sums.quarantined) == (20, 1)
    (reject,) = read_quarantine(Location(str(format_.output)))
    assert reject.reason == "empty text cannot be the value of a partition"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "avro", "msgpack", "orc"])
def test_files_are_about_as_large_as_asked_for(format_: Format, kind: str) -> None:
    format_.given({"id": list(range(60_000)), "x": [math.sqrt(number) for number in range(60_000)]})
    format_.run(kind, file_size="100kB", compression="none")

    sizes = [file.stat().st_size for file in format_.files()]
    assert len(sizes) > 3
    assert all(50_000 < size < 200_000 for size in sizes[:-1])
    assert [row["id"] for row in format_.rows()] == list(range(60_000))


@pytest.mark.parametrize(("text", "size"), {"128MB": 128_000_000, "1 GiB": 2**30, "64k": 64_000, "2000": 2000}.items())
def test_sizes_have_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["large", "-1MB", "12 apples", "1", "MB", "99999999999999999999TB", "9" * 400])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=f'"{text}" is'):
        parse_size(text)


def test_a_compressed_file_is_named_and_compressed_as_asked(format_: Format) -> None:
    format_.given({"id": [1]})
    format_.run("csv", compression="gzip")

    (file,) = format_.files()
    assert file.name.endswith(".csv.gz")
    assert gzip.decompress(file.read_bytes()) == b"id\n1\n"
    assert format_.rows() == [{"id": 1}]


@pytest.mark.parametrize("codec", ["snappy", "zstd", "gzip", "none"])
def test_parquet_is_compressed_as_asked(format_: Format, codec: str) -> None:
    format_.given({"id": [1] * 1000})
    format_.run("parquet", compression=codec)

    (file,) = format_.files()
    found = pq.read_metadata(file).row_group(0).column(0).compression
    assert found == {"none": "UNCOMPRESSED"}.get(codec, codec.upper())


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
def test_every_compression_that_a_format_has_is_read_back(format_: Format, name: str) -> None:
    format_.given(ORDERS)
    for codec in output_format(name).compressions:
        format_.run(name, output=codec, compression=codec)
        if name != "xlsx":
            assert [row["note"] for row in format_.rows(codec)] == ORDERS["note"], codec


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format_": "csv", "compression": "rar"}, '"rar" is not a compression for csv. One of: none, gzip, zstd.'),
        ({"format_": "exel"}, '"exel" is not a format that can be written.'),
        ({"format_": "csv", "columns": ["prize"]}, 'There is no column "prize". Did you mean "price"?'),
        ({"format_": "csv", "partition_columns": ["contry"]}, 'There is no column "contry". Did you mean "country"?'),
        ({"format_": "csv", "columns": ["id"], "partition_columns": ["country"]}, "is not among the columns"),
        ({"format_": "csv", "columns": ["id"], "partition_columns": ["id"]}, "All columns are partition columns"),
        ({"format_": "json", "file_size": "1MB"}, "A table in json is one document"),
        ({"format_": "csv", "output": "in/below"}, "lies inside the input"),
        ({"format_": "csv", "source": "nowhere"}, "not found"),
    ],
)
def test_what_cannot_be_done_is_refused_in_the_plan(format_: Format, options: dict[str, Any], message: str) -> None:
    format_.given(ORDERS)

    with pytest.raises(MasonError) as refused:
        format_.plan(**options)
    assert message in str(refused.value)


def test_a_merge_and_a_format_partition_by_the_same_types(format_: Format) -> None:
    numbers = [1.5, -0.25, float("inf"), 1e300, None]
    format_.given({"id": range(5), "k": pa.array(numbers)})

    format_.run("csv", partition_columns=["k"])

    assert {row["id"]: row["k"] for row in format_.rows()} == dict(enumerate(numbers))


@pytest.mark.parametrize("values", [[[1]], [b"x"], [time(1)]])
def test_values_that_are_no_names_for_folders_are_refused(format_: Format, values: list[Any]) -> None:
    format_.given({"id": [1], "k": values})

    with pytest.raises(PlanRefused, match='Column "k" is .*: its values are no good names for folders'):
        format_.plan("csv", partition_columns=["k"])


def test_more_rows_than_a_sheet_has_are_refused_in_the_plan(format_: Format) -> None:
    format_.given({"id": pa.array(range(1_048_576))})

    with pytest.raises(TooManyForFormat, match="xlsx holds 1,048,575 rows at most, and there are 1,048,576"):
        format_.plan("xlsx")
    assert format_.plan("xlsx", sample_size=10).rows == 10
    assert format_.plan("xlsx", filter="id < 5").rows is None


def test_more_rows_than_a_sheet_has_are_refused_in_the_run_where_the_plan_cannot_know(
    format_: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    small = {"xlsx": replace(xlsx_writer.FORMATS["xlsx"], most_rows=3)}
    monkeypatch.setattr(xlsx_writer, "FORMATS", small)
    format_.given("id\n1\n2\n3\n4\n", "in/a.csv")
    plan = format_.plan("xlsx")

    with pytest.raises(TooManyForFormat, match="xlsx holds 3 rows at most, and there are 4"):
        format_.run_plan(plan)
    assert not format_.output.exists()
    assert format_.run("xlsx", filter="id < 4").sums.rows_out == 3


def test_more_columns_than_a_sheet_has_are_refused(format_: Format) -> None:
    format_.given({f"c{number}": [1] for number in range(16_385)})

    with pytest.raises(TooManyForFormat, match="xlsx holds 16,384 columns at most, and there are 16,385"):
        format_.plan("xlsx")


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
def test_a_table_without_rows_is_a_file_without_rows(format_: Format, name: str) -> None:
    format_.given(pa.table({"id": pa.array([], pa.int64()), "note": pa.array([], pa.string())}))
    done = format_.run(name)

    assert (done.sums.rows_in, done.sums.rows_out, len(format_.files())) == (0, 0, 1)
    if name != "xlsx":
        assert format_.rows() == []
        assert format_.run("parquet", source="out", output="back").plan.schema.names == ["id", "note"]


@pytest.mark.parametrize("name", ["csv", "jsonl", "avro", "orc", "msgpack"])
def test_a_table_of_nulls_alone_reads_back(format_: Format, name: str) -> None:
    format_.given({"only": pa.nulls(3, pa.string())})
    format_.run(name)

    assert format_.rows() == [{"only": None}] * 3


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
def test_five_thousand_columns_are_written(format_: Format, name: str) -> None:
    format_.given({f"c{number}": [number, None] for number in range(5_000)})
    done = format_.run(name)

    assert done.sums.rows_out == 2
    if name != "xlsx":
        assert format_.rows()[0]["c4999"] == 4999


def test_files_of_any_format_can_be_the_table(format_: Format) -> None:
    format_.given("id,name\n1,a\n2,b\n", "in/a.csv")
    format_.given('{"id": 3, "name": "c", "extra": [1]}\n', "in/b.jsonl")
    format_.run("avro")

    assert format_.rows() == [
        {"id": 1, "name": "a", "extra": None},
        {"id": 2, "name": "b", "extra": None},
        {"id": 3, "name": "c", "extra": [1]},
    ]


def test_a_type_that_widens_beyond_the_sample_is_told(format_: Format) -> None:
    numbers = "".join(f"{number}\n" for number in range(30_000))
    format_.given(f"x\n{numbers}2026-01-31\n", "in/a.csv")
    done = format_.run("avro")

    assert done.to_dict()["Columns"] == [{"Name": "x", "Type": "string"}]
    assert done.sums.rows_out == 30_001


def test_a_record_that_does_not_fit_is_quarantined_and_counted(format_: Format) -> None:
    format_.given("a,b\n" + "1,2\n" * 20 + "1,2,3\n", "in/a.csv")
    done = format_.run("jsonl")

    assert (done.sums.rows_in, done.sums.rows_out, done.sums.quarantined) == (21, 20, 1)
    assert len(list(read_quarantine(Location(str(format_.output))))) == 1


def test_a_table_can_be_written_over_itself_and_the_old_one_is_kept(format_: Format) -> None:
    format_.given(ORDERS)
    format_.run("parquet")
    format_.run("csv", source="out")
    format_.run("jsonl", source="out")

    assert [row["note"] for row in format_.rows()] == ORDERS["note"]
    commit = format_.commit()
    assert commit is not None
    assert (commit.number, commit.format, commit.rows) == (3, "jsonl", 4)


def test_a_table_that_is_written_over_itself_keeps_its_quarantine(format_: Format) -> None:
    format_.given("id,n\n1,1\n2\n3,3\n", "in/a.csv")
    format_.run("parquet")
    before = list(read_quarantine(Location(str(format_.output))))

    format_.run("csv", source="out")

    assert list(read_quarantine(Location(str(format_.output)))) == before and len(before) == 1


def test_nothing_can_be_added_to_a_table_that_is_not_parquet(format_: Format) -> None:
    format_.given(ORDERS)
    format_.run("csv")

    job = MergeJob(
        Location(str(format_.root / "in")), Location(str(format_.output)), options=MergeOptions(mode=Mode.APPEND)
    )
    with pytest.raises(PlanRefused, match="The table is in csv: only to one in Parquet can something be added"):
        plan_merge(job)


def test_a_table_in_excel_says_that_it_cannot_be_read(format_: Format) -> None:
    format_.given(ORDERS)
    format_.run("xlsx")

    with pytest.raises(Unprocessable, match="is in xlsx, which Mason writes, but does not read"):
        format_.plan("csv", source="out", output="again")


def test_an_empty_folder_is_no_table(format_: Format) -> None:
    (format_.root / "in").mkdir()

    with pytest.raises(NoData):
        format_.plan("csv")


def test_the_plan_says_what_the_run_does(format_: Format) -> None:
    format_.given(ORDERS)
    plan = format_.plan("csv", columns=["note", "id"], sample_size=3, compression="gzip")
    told, done = plan.to_dict(), format_.run_plan(plan).to_dict()

    same = ("Output", "Format", "Compression", "RowsIn", "RowsOut", "Columns", "Changes")
    assert {name: told[name] for name in same} == {name: done[name] for name in same}
    assert told["RowsOut"] == 3


def test_columns_that_are_asked_for_must_be_there(format_: Format) -> None:
    format_.given({"select": [1], 'a"b': [2], "c.d": [3]})

    format_.run("csv", columns=["c.d", "select", 'a"b'], filter='`select` = 1 and `a"b` = 2 and `c.d` = 3')
    assert format_.text() == 'c.d,select,"a""b"\n3,1,2\n'
    with pytest.raises(NoSuchColumn):
        format_.plan("csv", columns=["d"])


def test_a_path_inside_the_output_is_refused(format_: Format) -> None:
    format_.given(ORDERS, "out/in/a.parquet")

    with pytest.raises(BadPath, match="which would be replaced"):
        format_.plan("csv", source="out/in")


def test_large_files_of_text_are_read_in_ranges_through_the_commit(
    format_: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mason.pipeline.reading.plan.inspection.CUT_BYTES", 4096)
    monkeypatch.setattr("mason.pipeline.reading.plan.inspection.CUT_LINES_BYTES", 4096)
    monkeypatch.setattr("mason.pipeline.reading.plan.read_plan.TASK_BYTES", 4096)
    notes = [f'line\n"{number}"' for number in range(2000)]
    format_.given({"id": list(range(2000)), "note": notes})
    for name in ("csv", "jsonl"):
        format_.run(name)
        plan = format_.plan("parquet", source="out", output="back")

        assert len(plan.scan.task_bytes) > 1
        format_.run_plan(plan)
        assert [row["note"] for row in format_.rows("back")] == notes


def test_a_file_of_a_table_that_somebody_changed_is_named(format_: Format) -> None:
    format_.given({"id": [1, 2]})
    format_.run("csv")
    (file,) = format_.files()
    file.write_text("id\nx\ny\n")

    with pytest.raises(MasonError, match=rf'{Path(file).name}: column "id" is not as Mason wrote it'):
        format_.rows()


def test_the_picture_shows_where_the_rows_went_and_what_became_of_types(format_: Format) -> None:
    format_.given({"id": [1, 2, 3, 4], "tags": [["a"], [], None, ["b"]]})

    result = format_.run("csv", filter="id > 1")

    assert result.picture(60) == [
        "written   3  ██████████████████████████████ 75 %",
        "filtered  1  ██████████ 25 %",
        "",
        "column  type                in csv",
        "------  ------------------  ---------",
        "tags    list<item: string>  JSON text",
    ]
    assert max(map(len, result.picture(30))) <= 30
