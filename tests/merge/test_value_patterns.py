"""Text that stands for dates, times and numbers in its own way: offered as a schema, and applied exactly."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal

import msgpack
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mason.engines.storage.models.infer_options import InferOptions
from mason.pipeline.jobs.merge.outcome import TooManyBadRecords
from mason.pipeline.reading.inference import infer
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.types.sql_types import BadSchema, parse_given_schema, parse_schema
from mason.pipeline.types.value_patterns import BadPattern, fit_pattern
from tests.merge.conftest import LOCAL, Merge
from tests.merge.test_sheets import workbook

BANK = "day;what;amount\n31.01.2024;Miete;-1.200,00\n01.02.2024;Gas;20,50\n"
SCHEMA = "day date 'dd.MM.yyyy', amount decimal(18,2) 'de'"


def test_a_schema_is_offered_and_reads_the_file_when_it_is_pasted(merge: Merge) -> None:
    merge.given("a.csv", BANK)

    (warning,) = merge.plan().warnings
    offered = warning.partition("reads it so: ")[2].rstrip(".")

    assert offered == SCHEMA
    assert merge.rows(schema=offered) == [
        {"day": date(2024, 1, 31), "what": "Miete", "amount": Decimal("-1200.00")},
        {"day": date(2024, 2, 1), "what": "Gas", "amount": Decimal("20.50")},
    ]
    assert list(merge.plan(schema=offered).warnings) == []


def test_infer_offers_it_as_well(merge: Merge) -> None:
    merge.given("a.csv", BANK)

    assert any(SCHEMA in each for each in infer(LOCAL, str(merge.root / "in"), InferOptions()).warnings)


def test_a_day_that_could_be_a_month_is_told_as_doubtful(merge: Merge) -> None:
    merge.given("a.csv", "id,day\n1,01/02/2024\n2,03/04/2024\n")

    (warning,) = merge.plan().warnings

    assert "day date 'dd/MM/yyyy' (\"day\" could be date 'MM/dd/yyyy' as well: no value tells)" in warning


def test_files_that_suggest_different_patterns_are_offered_none(merge: Merge) -> None:
    merge.given("a.csv", "id,day\n1,31.01.2024\n2,01.02.2024\n")
    merge.given("b.csv", "id,day\n1,01/31/2024\n2,02/01/2024\n")

    assert list(merge.plan().warnings) == []


def test_what_is_not_written_by_the_pattern_is_set_aside(merge: Merge) -> None:
    bad = ["31.02.2024;1,00", "1.2.2024;1,00", "01.02.2024;1200,00", "01.02.2024;1,005", "01.02.2024;01,00"]
    lines = ["01.02.2024;1.200,50"] * 50 + bad
    merge.given("a.csv", "\n".join(["day;amount", *lines, ""]))

    result = merge.run(schema=SCHEMA)

    assert (result.rows_in, result.rows_out, result.quarantined) == (55, 50, 5)
    assert [each.raw for each in merge.rejects()] == bad
    assert merge.rejects()[0].reason == '"31.02.2024" is not a date'


def test_null_and_empty_fields_stay_null(merge: Merge) -> None:
    merge.given("a.csv", "day;amount\n;\n-;1,00\n")

    assert merge.rows(schema=SCHEMA, nulls=["-"]) == [
        {"day": None, "amount": None},
        {"day": None, "amount": Decimal("1.00")},
    ]


def test_a_pattern_is_for_text_and_leaves_values_of_other_formats_alone(merge: Merge) -> None:
    merge.given("a.csv", "day;amount\n31.01.2024;1,50\n")
    merge.given("b.parquet", pa.table({"day": [date(2024, 2, 1)], "amount": [Decimal("2.50")]}))
    merge.given("c.jsonl", json.dumps({"day": "01.03.2024", "amount": "3,50"}) + "\n")

    assert merge.rows(schema=SCHEMA) == [
        {"day": date(2024, 1, 31), "amount": Decimal("1.50")},
        {"day": date(2024, 2, 1), "amount": Decimal("2.50")},
        {"day": date(2024, 3, 1), "amount": Decimal("3.50")},
    ]


def test_folders_are_read_by_the_pattern_too(merge: Merge) -> None:
    merge.given("day=31.01.2024/a.csv", "id\n1\n")

    assert merge.rows(schema="day date 'dd.MM.yyyy'") == [{"id": 1, "day": date(2024, 1, 31)}]


def test_other_columns_are_parsed_as_fast_as_before(merge: Merge) -> None:
    merge.given("a.csv", "id;day\n" + "".join(f"{number};31.01.2024\n" for number in range(5_000)))

    rows = merge.rows(schema="day date 'dd.MM.yyyy', id bigint")

    assert rows[4_999] == {"id": 4_999, "day": date(2024, 1, 31)}


def test_times_of_day_have_a_type(merge: Merge) -> None:
    merge.given("a.csv", "id,at,until\n1,08:15,8:15\n2,23:59,17:00\n")

    assert merge.rows(schema="at time, until time 'H:mm'") == [
        {"id": 1, "at": time(8, 15), "until": time(8, 15)},
        {"id": 2, "at": time(23, 59), "until": time(17, 0)},
    ]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("day date 'dd.MM'", 'The pattern "dd.MM" does not say a date'),
        ("day date 'dd.MM.yyyy HH:mm'", "does not say a date"),
        ("day date 'dd.MM.qqqq'", '"qqqq" in the pattern "dd.MM.qqqq" stands for nothing'),
        ("day date 'dMyyyy'", 'In the pattern "dMyyyy" nothing tells how many digits d and M have'),
        ("day timestamp 'dMMyyyyH:mm'", "nothing tells how many digits d and H have"),
        ("n bigint 'dd'", "does not say how a number is written"),
        ("n bigint '5 de'", "does not say how a number is written"),
        ("t string 'de'", "A string has no pattern"),
        ("day date 'dd.MM.yyyy", 'a "," is missing'),
    ],
)
def test_a_pattern_that_means_nothing_is_refused(schema: str, said: str) -> None:
    with pytest.raises(BadSchema) as refused:
        parse_given_schema(schema)

    assert said in str(refused.value)


def test_a_schema_for_what_is_no_text_takes_no_pattern() -> None:
    with pytest.raises(BadSchema, match="there is not text to read here"):
        parse_schema("x date 'dd.MM.yyyy'")


@settings(deadline=None, max_examples=60)
@given(st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=20), st.sampled_from([",.", ".,", "'."]))
def test_numbers_come_back_by_their_pattern(numbers: list[Decimal], marks: str) -> None:
    word = {",.": "en", ".,": "de", "'.": "ch"}[marks]
    wanted = [abs(number) if number == 0 else number for number in numbers]
    texts = [f"{number:,.2f}".translate(str.maketrans({",": marks[0], ".": marks[1]})) for number in wanted]

    fitted = fit_pattern(pa.array(texts), word, pa.decimal128(18, 2))

    assert fitted.bad is None
    assert fitted.values.to_pylist() == wanted


@settings(deadline=None, max_examples=60)
@given(st.lists(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)), min_size=1, max_size=20))
def test_moments_come_back_by_their_pattern(moments: list[datetime]) -> None:
    whole = [each.replace(microsecond=0) for each in moments]
    patterns = {"dd.MM.yyyy HH:mm:ss": "%d.%m.%Y %H:%M:%S", "MM/dd/yyyy HH:mm:ss": "%m/%d/%Y %H:%M:%S"}
    for pattern, format_ in patterns.items():
        fitted = fit_pattern(pa.array([each.strftime(format_) for each in whole]), pattern, pa.timestamp("us"))

        assert fitted.bad is None
        assert fitted.values.to_pylist() == whole


def test_text_of_json_beside_numbers_is_still_read_by_the_pattern(merge: Merge) -> None:
    lines = [{"id": 1, "v": "1.234"}, {"id": 2, "v": 8}, {"id": 3, "v": "7,50"}, {"id": 4, "v": 12.5}, {"id": 5}]
    merge.given("a.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))

    rows = merge.rows(schema="v decimal(12,3) 'de'")

    assert [row["v"] for row in rows] == [Decimal("1234.000"), 8, Decimal("7.500"), Decimal("12.500"), None]
    assert not merge.rejects()


def test_a_number_behind_the_sample_does_not_change_how_the_text_before_it_is_read(merge: Merge) -> None:
    lines = [json.dumps({"id": number, "v": "1.005"}) for number in range(15_000)] + ['{"id":15000,"v":8}']
    merge.given("a.jsonl", "\n".join(lines))

    rows = merge.rows(schema="v decimal(12,3) 'de'", sample=100)

    assert rows[5]["v"] == Decimal("1005.000")
    assert rows[15_000]["v"] == Decimal("8.000")


def test_dates_in_json_beside_other_values_keep_their_pattern(merge: Merge) -> None:
    merge.given("a.json", json.dumps([{"d": "01.02.2026"}, {"d": "2026-02-03"}, {"d": 5}, *[{"d": "02.02.2026"}] * 30]))

    rows = merge.rows(schema="d date 'dd.MM.yyyy'")

    assert rows[0]["d"] == date(2026, 2, 1)
    assert [each.reason for each in merge.rejects()] == [
        '"2026-02-03" is not a date written as dd.MM.yyyy',
        '"5" is not a date',
    ]


def test_cells_with_types_of_their_own_do_not_go_through_the_pattern(merge: Merge) -> None:
    cells: list[list[object]] = [[1.234], ["7,50"], [12.5], [1234.5], ["1.234,5"], [8]]
    merge.given("a.xlsx", workbook(One=[["v"], *cells]))

    rows = merge.rows(schema="v decimal(12,3) 'de'")

    expected = ["1.234", "7.500", "12.500", "1234.500", "1234.500", "8.000"]
    assert [row["v"] for row in rows] == list(map(Decimal, expected))
    assert not merge.rejects()


def test_dates_in_cells_beside_text_stay_what_they_are(merge: Merge) -> None:
    cells = [[date(2026, 1, 31)], ["01.02.2026"], [datetime(2026, 2, 2)], [None]]
    merge.given("a.xlsx", workbook(One=[["d"], *cells]))

    assert [row["d"] for row in merge.rows(schema="d date 'dd.MM.yyyy'")] == [
        date(2026, 1, 31),
        date(2026, 2, 1),
        date(2026, 2, 2),
    ]


def test_text_that_parquet_has_in_a_dictionary_is_read_by_the_pattern(merge: Merge) -> None:
    texts = pa.array(["1.234", "7,50"])
    merge.given("a.parquet", pa.table({"v": texts.dictionary_encode(), "w": texts.cast(pa.string_view())}))

    assert merge.rows(schema="v decimal(12,3) 'de', w decimal(12,3) 'de'") == [
        {"v": Decimal("1234.000"), "w": Decimal("1234.000")},
        {"v": Decimal("7.500"), "w": Decimal("7.500")},
    ]


def test_the_reason_says_how_the_pattern_writes_numbers(merge: Merge) -> None:
    merge.given("a.csv", "amount;n\n" + "1,00;5\n" * 30 + "1200,00;5\n0,001;5\n1,00;5.5\nx;5\n12.345.678.901,00;1\n")

    merge.run(schema="amount decimal(12,2) 'de', n bigint")

    assert [each.reason for each in merge.rejects()] == [
        "\"1200,00\" is not written as 'de' writes numbers (1.234,56)",
        '"0,001" has more than 2 decimals',
        '"5.5" is not a bigint',
        "\"x\" is not written as 'de' writes numbers (1.234,56)",
        '"12.345.678.901,00" has more digits than a decimal128(12, 2) holds',
    ]


def test_whole_numbers_of_typed_files_fit_a_decimal_that_has_room_for_them(merge: Merge) -> None:
    merge.given("a.parquet", pa.table({"v": pa.array([5, 1_234_567_890, 99] * 10)}))
    merge.given("b.xlsx", workbook(One=[["v"], [7], [8]]))

    assert [row["v"] for row in merge.rows(schema="v decimal(12,2)")][-4:] == [1_234_567_890, 99, 7, 8]
    assert not merge.rejects()


def test_a_moment_of_a_typed_file_is_no_day_unless_it_is_midnight(merge: Merge) -> None:
    moments = [datetime(2026, 1, 31)] * 30 + [datetime(2026, 1, 31, 3)]
    merge.given("a.parquet", pa.table({"d": pa.array(moments, pa.timestamp("us"))}))

    assert {row["d"] for row in merge.rows(schema="d date")} == {date(2026, 1, 31)}
    assert [each.reason for each in merge.rejects()] == ['"2026-01-31 03:00:00" is not a date']


def test_a_moment_is_no_time_of_day(merge: Merge) -> None:
    merge.given("a.parquet", pa.table({"t": pa.array([datetime(2026, 1, 31, 3)], pa.timestamp("us"))}))

    with pytest.raises(TooManyBadRecords, match='"2026-01-31 03:00:00" is not a time'):
        merge.run(schema="t time")


def test_a_moment_of_msgpack_is_no_day_either(merge: Merge) -> None:
    packer = msgpack.Packer(datetime=True)
    moments = [datetime(2026, 1, 31, tzinfo=UTC)] * 30 + [datetime(2026, 1, 31, 3, tzinfo=UTC)]
    merge.given("a.msgpack", b"".join(packer.pack({"d": each}) for each in moments))

    assert {row["d"] for row in merge.rows(schema="d date")} == {date(2026, 1, 31)}
    assert [each.column for each in merge.rejects()] == ["d"]


GERMAN = "artikel;menge;preis\nA;900;12,50\nB;1.234;3,00\nC;12.500;1.000,00\n"
IN_DOUBT = (
    'Column "menge" is read with decimals, but each of its points could mark thousands as well (1.234 could be 1234): '
    "no value tells. A schema does: menge decimal(18,3), or for thousands menge bigint 'de'."
)


def test_points_that_could_mark_thousands_are_told_with_the_schema_for_either_reading(merge: Merge) -> None:
    merge.given("a.csv", GERMAN)

    assert IN_DOUBT in merge.plan().warnings
    assert IN_DOUBT in infer(LOCAL, str(merge.root / "in"), InferOptions()).warnings
    assert [row["menge"] for row in merge.rows(schema="menge bigint 'de'")] == [900, 1234, 12_500]
    assert IN_DOUBT not in merge.plan(schema="menge bigint 'de'").warnings
    assert [row["menge"] for row in merge.rows(schema="menge decimal(18,3)")][1] == Decimal("1.234")
    assert IN_DOUBT not in merge.plan(schema="menge decimal(18,3)").warnings


@pytest.mark.parametrize("value", ["0.125", "1.5", "1000", "1234.567", "0.000", "x"])
def test_a_value_that_tells_decimals_from_thousands_leaves_no_doubt(merge: Merge, value: str) -> None:
    merge.given("a.csv", GERMAN)
    merge.given("b.csv", f"artikel;menge;preis\nD;{value};1,00\n")

    assert not any("mark thousands" in each for each in merge.plan().warnings)


def test_numbers_without_points_in_another_file_leave_the_doubt(merge: Merge) -> None:
    merge.given("a.csv", "artikel;menge;preis\nD;7;1,00\n")
    merge.given("b.csv", GERMAN)

    assert IN_DOUBT in merge.plan().warnings


@pytest.mark.parametrize("text", ["03-MAR-2026", "03-mar-2026", "03-Mar-2026"])
def test_names_of_months_are_read_in_any_case(text: str) -> None:
    fitted = fit_pattern(pa.array([text]), "dd-MMM-yyyy", pa.date32())

    assert fitted.values.to_pylist() == [date(2026, 3, 3)]
    assert fit_pattern(pa.array(["3 MARCH 2026"]), "d MMMM yyyy", pa.date32()).values.to_pylist() == [date(2026, 3, 3)]


def test_hours_of_a_clock_with_twelve_are_read() -> None:
    texts = ["12:00 AM", "1:05 am", "11:59 AM", "12:00 PM", "3:04 PM", "11:59 p.m.", "0:30 AM", "13:00 PM", "3:04"]
    fitted = fit_pattern(pa.array(texts), "h:mm a", pa.time64("us"))

    assert fitted.values.to_pylist() == [time(0, 0), time(1, 5), time(11, 59), time(12), time(15, 4), *[None] * 4]
    moment = fit_pattern(pa.array(["3/14/2026 03:04:05 PM"]), "M/d/yyyy hh:mm:ss a", pa.timestamp("us"))
    assert moment.values.to_pylist() == [datetime(2026, 3, 14, 15, 4, 5)]


@pytest.mark.parametrize("pattern", ["h:mm", "HH:mm a", "a", "h:mm a a"])
def test_half_a_day_and_its_hours_go_together(pattern: str) -> None:
    with pytest.raises(BadPattern):
        fit_pattern(pa.array(["3:04 PM"]), pattern, pa.time64("us"))


def test_a_minus_may_stand_behind_numbers_and_brackets_around_them() -> None:
    texts = pa.array(["1.234,00-", "5,00", "-5,00", "5,00-"])
    money = pa.decimal128(12, 2)

    assert fit_pattern(texts, "de-", money).values.to_pylist() == [Decimal("-1234.00"), 5, None, -5]
    texts = pa.array(["(1.234,00)", "5,00", "-5,00", "(5,00"])
    assert fit_pattern(texts, "(de)", money).values.to_pylist() == [Decimal("-1234.00"), 5, None, None]


@pytest.mark.parametrize("pattern", ["(en)", "(de)", "($en)"])
def test_brackets_around_a_number_are_a_minus_in_every_language(pattern: str) -> None:
    texts = pa.array([pattern.replace("en", "5").replace("de", "5"), "5" if "$" not in pattern else "$5"])

    assert fit_pattern(texts, pattern, pa.int64()).values.to_pylist() == [-5, 5]


@pytest.mark.parametrize(
    ("pattern", "text"), [("dMMyyyy", "1022026"), ("dMMMyyyy", "1Feb2026"), ("d.M.yyyy", "1.2.2026")]
)
def test_one_number_of_one_or_two_digits_in_a_row_of_digits_is_clear(pattern: str, text: str) -> None:
    assert fit_pattern(pa.array([text]), pattern, pa.date32()).values.to_pylist() == [date(2026, 2, 1)]


def test_text_for_a_column_that_was_read_by_a_pattern_is_not_added_without(merge: Merge) -> None:
    merge.given("a.csv", "id;p\n1;1.234\n")
    merge.run(schema="p decimal(10,3) 'de'")
    (merge.root / "in" / "a.csv").unlink()
    merge.given("b.csv", "id;p\n2;2.345\n")

    with pytest.raises(PlanRefused) as refused:
        merge.plan(mode="append")

    assert str(refused.value).splitlines() == [
        "Column \"p\" of the table was read by the pattern 'de', and nothing says how it is written in b.csv.",
        "Give the schema again: p decimal128(10, 3) 'de'; or the column without a pattern, if it is written without.",
    ]
    merge.run(mode="append", schema="p decimal128(10, 3) 'de'")
    assert [row["p"] for row in merge.table().to_pylist()] == [1234, 2345]


def test_a_pattern_is_remembered_over_appends_that_do_not_need_it(merge: Merge) -> None:
    merge.given("a.csv", "id;p\n1;1.234\n")
    merge.run(schema="p decimal(10,3) 'de'")
    (merge.root / "in" / "a.csv").unlink()
    merge.given("b.parquet", pa.table({"id": [2], "p": pa.array([Decimal("2.500")], pa.decimal128(10, 3))}))
    merge.run(mode="append")
    (merge.root / "in" / "b.parquet").unlink()
    merge.given("c.csv", "id;p\n3;3.456\n")

    with pytest.raises(PlanRefused, match="was read by the pattern 'de'"):
        merge.plan(mode="append")
    merge.run(mode="append", schema="p decimal(10,3)")
    merge.run(mode="append")

    assert [row["p"] for row in merge.table().to_pylist()] == [1234, Decimal("2.5"), *[Decimal("3.456")] * 2]


def test_months_in_capitals_and_clocks_with_twelve_hours_are_offered_as_a_schema(merge: Merge) -> None:
    merge.given("a.csv", "day,at\n03-MAR-2026,3:04 PM\n14-apr-2026,11:30 am\n")

    (warning,) = merge.plan().warnings
    offered = warning.partition("reads it so: ")[2].rstrip(".")

    assert offered == "day date 'dd-MMM-yyyy', at time 'h:mm a'"
    assert merge.rows(schema=offered) == [
        {"day": date(2026, 3, 3), "at": time(15, 4)},
        {"day": date(2026, 4, 14), "at": time(11, 30)},
    ]


def test_the_reason_of_half_a_bracket_is_how_it_is_written(merge: Merge) -> None:
    merge.given("a.csv", "v\n" + '"(5,00)"\n' * 20 + '"(5,00"\n')

    assert {row["v"] for row in merge.rows(schema="v decimal(12,2) '(de)'")} == {Decimal("-5.00")}
    assert [each.reason for each in merge.rejects()] == [
        "\"(5,00\" is not written as '(de)' writes numbers ((1.234,56))"
    ]
