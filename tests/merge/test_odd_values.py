"""A column that few values make text: they are told, with the place of the first."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from mason.pipeline.formats.odd_values import odd_value
from mason.pipeline.reading.inference import infer
from tests.merge.conftest import LOCAL, Merge
from tests.merge.test_sheets import workbook

NUMBERS = [str(number) for number in range(20)]


def lines(*values: str) -> str:
    return "".join(f"{number},{value}\n" for number, value in enumerate(values))


def test_a_value_in_the_sample_that_makes_a_column_text_is_told_with_its_record(merge: Merge) -> None:
    merge.given("a.csv", "id,amount\n" + lines(*NUMBERS, "n/a", *NUMBERS, "-"))

    remedy = '(nulls:"n/a,-" makes them null)'
    told = f'a.csv: column "amount" is text for "n/a" in record 22 and 1 more value: the others are int64 {remedy}.'
    assert merge.plan().warnings == [told]
    assert merge.plan(nulls=["n/a", "-"]).warnings == []
    assert merge.plan(schema="amount int").warnings == []


def test_records_that_lack_fields_are_counted_too(merge: Merge) -> None:
    merge.given("a.csv", "id,amount\n7\n" + lines(*NUMBERS, "n/a"))

    assert (
        'a.csv: column "amount" is text for "n/a" in record 23: the others are int64 (nulls:"n/a" makes it null).'
        in merge.plan().warnings
    )


def test_table_infer_tells_it_as_a_merge_does(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,day\n" + lines(*["2026-01-31"] * 12, "2026-02-31"))

    [told] = infer(LOCAL, str(tmp_path)).warnings

    assert told == 'a.csv: column "day" is text for "2026-02-31" in record 14: the others are date32[day].'


@pytest.mark.parametrize(
    "values",
    [
        ["00501", *NUMBERS],
        ["+5", *NUMBERS],
        ["1e5", *NUMBERS],
        ["n/a", *NUMBERS[:8]],
        ["n/a", "none", "-", *NUMBERS],
        ["Ada", "Grace", *NUMBERS],
        ["n/a"] * 20,
        NUMBERS,
        [],
    ],
    ids=["zeros", "plus", "exponent", "few", "many odd", "text first", "all text", "none odd", "nothing"],
)
def test_what_is_text_for_good_reason_is_not_told(values: list[str]) -> None:
    assert odd_value(values, (), range(2, 100)) is None


def test_a_value_beyond_the_sample_that_makes_a_column_text_is_told_with_its_record(merge: Merge) -> None:
    merge.given("a.csv", "id,amount\n" + lines(*NUMBERS, "n/a", "-", *NUMBERS))

    result = merge.run(sample=5)

    [told] = result.warnings
    assert told.startswith(
        'Column "amount" is string, not int64 as in its sample: "n/a" in record 22 of a.csv does not fit that.'
    )
    assert merge.types() == {"id": "int64", "amount": "string"}


def test_the_first_of_several_files_is_told(merge: Merge) -> None:
    merge.given("a.csv", "n\n" + "".join(f"{number}\n" for number in NUMBERS))
    merge.given("b.jsonl", '{"n": 1}\n' * 8 + '{"n": {"x": 1}}\n' + '{"n": "late"}\n')

    result = merge.run(sample=2)

    assert any('"{"x": 1}" in record 9 of b.jsonl does not fit that' in each for each in result.warnings)


def test_a_column_that_becomes_a_wider_number_is_no_warning(merge: Merge) -> None:
    merge.given("a.csv", "n\n1\n2\n3\n4.5\n")

    assert list(merge.run(sample=1).warnings) == []
    assert merge.types() == {"n": "decimal128(18, 1)"}


def test_decimals_that_become_doubles_beyond_the_sample_are_told_with_both_types(merge: Merge) -> None:
    merge.given("a.csv", "id,v\n" + lines(*["1.12"] * 30, "1.12345"))

    result = merge.run(sample=5)

    assert str(merge.plan(sample=5).schema.field("v").type) == "decimal128(18, 2)"
    assert merge.types()["v"] == "double"
    assert list(result.warnings) == [
        'Column "v" is double, not decimal128(18, 2) as in its sample: "1.12345" in record 32 of a.csv does not fit '
        'that. A schema with "v decimal128(18, 2)" sends such records to the quarantine.'
    ]


def test_in_a_file_that_is_read_in_ranges_the_byte_is_told(merge: Merge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mason.pipeline.reading.plan.inspection.CUT_BYTES", 1_000)
    monkeypatch.setattr("mason.pipeline.reading.plan.read_plan.SMALLEST_TASK", 500)
    text = "n\n" + "1234567\n" * 600 + "n/a\n" + "1234567\n" * 600
    merge.given("a.csv", text)

    plan = merge.plan(sample=5)
    [told] = merge.run_plan(plan).warnings

    assert len(plan.files[0].parts) > 1
    assert f'"n/a" in the record at byte {text.index("n/a"):,} of a.csv' in told


def test_values_of_a_declared_type_have_their_place(merge: Merge) -> None:
    merge.given("a.parquet", pa.table({"n": [1, 2]}))
    merge.given("b.csv", "n\n1\n2\nx\n")

    result = merge.run(sample=1)

    assert any('"x" in record 4 of b.csv does not fit that' in each for each in result.warnings)


def test_no_words_for_null_are_offered_where_one_of_the_values_is_none(merge: Merge) -> None:
    merge.given("a.csv", "id,amount\n" + lines(*NUMBERS, "n/a", *NUMBERS, "lots"))

    told = 'a.csv: column "amount" is text for "n/a" in record 22 and 1 more value: the others are int64.'
    assert merge.plan().warnings == [told]


QUOTED = '"id","v","d"\n' + "".join(f'"{number}","5","2026-01-01"\n' for number in range(60)) + '"60","",""\n'


def test_empty_text_in_quotes_among_quoted_numbers_is_told_with_what_makes_it_null(merge: Merge) -> None:
    merge.given("a.csv", QUOTED)

    cure = "(nulls:'\"\"' makes it null)"
    assert merge.plan().warnings == [
        f'a.csv: column "v" is text for empty text in quotes in record 62: the others are int64 {cure}.',
        f'a.csv: column "d" is text for empty text in quotes in record 62: the others are date32[day] {cure}.',
    ]


@pytest.mark.parametrize("end", ["", '"61","6","2026-01-02" \n', "'x,7,\n"], ids=["all quoted", "odd quote", "ragged"])
def test_empty_text_in_quotes_is_null_for_who_says_so(merge: Merge, end: str) -> None:
    merge.given("a.csv", QUOTED + end)

    rows = merge.rows(nulls=['""'])

    assert rows[60]["v"] is rows[60]["d"] is None
    assert merge.types()["v"] == "int64"


def test_empty_text_in_quotes_does_not_fit_a_given_number_and_the_reason_says_what_to_do(merge: Merge) -> None:
    merge.given("a.csv", QUOTED)

    merge.run(schema="v bigint")
    assert [each.reason for each in merge.rejects()] == [
        "empty text is not a bigint (in delimited files, nulls:'\"\"' makes it null)"
    ]

    assert merge.rows(schema="v bigint, d date", nulls=['""'])[60] == {"id": 60, "v": None, "d": None}


def test_a_text_among_the_numbers_of_json_lines_is_told_with_its_line(merge: Merge) -> None:
    numbers = "".join(f'{{"id": {number}, "n": {number}}}\n' for number in range(50))
    merge.given("a.jsonl", f'{{"id": 0}}\n\n{numbers}{{"id": 50, "n": "n/a"}}\n')

    told = (
        'a.jsonl: column "n" is text for "n/a" in record 53: the others are int64 '
        '(a schema with "n int64" sends such records to the quarantine).'
    )
    assert merge.plan().warnings == [told]
    assert told in infer(LOCAL, str(merge.root / "in")).warnings
    merge.run(schema="n int64")
    assert [each.record for each in merge.rejects()] == [53]


def test_a_text_among_the_numbers_of_a_json_array_is_told_with_its_place(merge: Merge) -> None:
    merge.given("a.json", json.dumps([*({"n": number / 2} for number in range(50)), {"n": "n/a"}]))

    assert any('"n" is text for "n/a" in record 51: the others are double' in each for each in merge.plan().warnings)


@pytest.mark.parametrize("values", [["x"] * 20, ["x", "y", *range(8)], ["x", *range(5)], [[1], "x", *range(20)], []])
def test_text_of_json_that_is_no_exception_is_not_told(merge: Merge, values: list[object]) -> None:
    merge.given("a.jsonl", "".join(json.dumps({"id": 1, "n": value}) + "\n" for value in [*values, None]))

    assert not any("is text for" in each for each in merge.plan().warnings)


def test_a_text_among_the_numbers_of_a_sheet_is_told_with_its_row(merge: Merge) -> None:
    rows: list[list[object]] = [["id", "n"], [], *([number, number] for number in range(50)), [50, "n/a"]]
    merge.given("a.xlsx", workbook(One=rows))

    told = 'a.xlsx: column "n" is text for "n/a" in row 53 of sheet "One": the others are int64 '
    assert merge.plan().warnings == [told + '(nulls:"n/a" makes it null).']
    assert merge.plan(nulls=["n/a"]).warnings == []


def test_a_cell_that_does_not_fit_is_set_aside_with_its_sheet_and_row(merge: Merge) -> None:
    one: list[list[object]] = [["Sales"], ["id", "n"], [], *([number, number] for number in range(20))]
    two: list[list[object]] = [["id", "n"], [1, 2], [2, "x"]]
    merge.given("a.xlsx", workbook(One=one, Two=two))

    merge.run(schema="n bigint")

    assert [(each.record, each.reason) for each in merge.rejects()] == [
        (22, '"x" is not a bigint (row 3 of sheet "Two")')
    ]
