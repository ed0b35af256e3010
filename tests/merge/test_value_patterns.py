"""Text that stands for dates, times and numbers in its own way: offered as a schema, and applied exactly."""

from __future__ import annotations

import json
from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mason.engines.storage.models.infer_options import InferOptions
from mason.pipeline.inference import infer
from mason.pipeline.sql_types import BadSchema, parse_given_schema, parse_schema
from mason.pipeline.value_patterns import fit_pattern
from tests.merge.conftest import LOCAL, Merge

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
    with pytest.raises(BadSchema, match="there is no text to read here"):
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
