"""Cells of workbooks that a reader takes for something else: long numbers, negative dates, errors, repeated headers."""

from __future__ import annotations

import io
from datetime import time
from decimal import Decimal
from typing import Any

import pytest
import xlsxwriter

from mason.engines.storage.models.infer_options import DelimitedOptions, InferOptions
from mason.pipeline.reading.inference import infer
from mason.pipeline.reading.plan.inspection import PlanRefused
from tests.merge.conftest import LOCAL, Merge
from tests.merge.test_sheets import with_part, workbook


def formatted(num_format: str, *values: float) -> bytes:
    """A workbook with a column of numbers that are shown in a format."""
    content = io.BytesIO()
    book = xlsxwriter.Workbook(content)
    sheet = book.add_worksheet("One")
    sheet.write_row(0, 0, ["id", "v"])
    for row, value in enumerate(values, 1):
        sheet.write_number(row, 0, row)
        sheet.write_number(row, 1, value, book.add_format({"num_format": num_format}))
    book.close()
    return content.getvalue()


@pytest.mark.parametrize("num_format", ["dd.mm.yyyy", "hh:mm", "yyyy-mm-dd hh:mm"])
def test_negative_numbers_in_the_format_of_a_date_stay_numbers_and_are_told(merge: Merge, num_format: str) -> None:
    merge.given("a.xlsx", formatted(num_format, -1, -400.5))

    assert [row["v"] for row in merge.rows()] == [-1.0, -400.5]
    assert merge.plan().warnings == [
        'a.xlsx: sheet "One": 2 cells (the first is B2) have the format of a date or a time below zero, which does not '
        "exist, and are read as the numbers that they hold."
    ]


def test_times_of_day_beside_negative_numbers_stay_times(merge: Merge) -> None:
    rows = [["id", "n", "clock"], [1, -5, time(8, 15)], [2, -6.5, time(0, 0)]]
    merge.given("a.xlsx", workbook(One=rows))

    assert [row["clock"] for row in merge.rows()] == [time(8, 15), time(0, 0)]
    assert merge.plan().warnings == []


@pytest.mark.parametrize(
    ("digits", "value", "type_"),
    [
        ("9007199254740993", 2**53 + 1, "int64"),
        ("1234567890123456789", 1234567890123456789, "int64"),
        ("-9223372036854775808", -(2**63), "int64"),
        ("12345678901234567890", Decimal("12345678901234567890"), "decimal128(38, 0)"),
        ("12345678901234567.89", Decimal("12345678901234567.89"), "decimal128(38, 2)"),
        ("1" * 40, "1" * 40, "string"),
    ],
)
def test_long_numbers_keep_their_digits(merge: Merge, digits: str, value: object, type_: str) -> None:
    written = workbook(One=[["id", "v"], [1, 77777]])
    merge.given("a.xlsx", with_part(written, b"<v>77777</v>", f"<v>{digits}</v>".encode()))

    assert merge.rows() == [{"id": 1, "v": value}]
    assert merge.types()["v"] == type_


def test_long_numbers_beside_fractions_and_short_ones_keep_their_digits(merge: Merge) -> None:
    numbers = [[number, number + 0.5] for number in range(30_000)]
    written = workbook(One=[["id", "v"], *numbers, [30_000, 77777]])
    merge.given("a.xlsx", with_part(written, b"<v>77777</v>", b"<v>1234567890123456789</v>"))

    found = {row["id"]: row["v"] for row in merge.rows()}

    assert (found[0], found[29_999], found[30_000]) == (Decimal("0.5"), Decimal("29999.5"), 1234567890123456789)


def test_long_numbers_beside_text_keep_their_digits(merge: Merge) -> None:
    written = workbook(One=[["id", "v"], [1, "x"], [2, 77777], [3, 5]])
    merge.given("a.xlsx", with_part(written, b"<v>77777</v>", b"<v>12345678901234567890</v>"))

    assert [row["v"] for row in merge.rows()] == ["x", "12345678901234567890", "5"]


def test_long_numbers_that_lost_digits_when_they_were_written_are_told(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["id", "v"], [1234567890123456789, 1e20], [2, 6.02e23]]))

    assert merge.plan().warnings == [
        'a.xlsx: sheet "One": cell A2 holds a whole number of more digits than what wrote the file has kept: '
        "long keys have to be written as text."
    ]


def test_an_error_in_the_header_drops_neither_the_header_nor_a_row(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["id", ("=A0", "#REF!")], [1, 10], [2, 20]]))

    assert merge.rows() == [{"id": 1, "col_1": 10}, {"id": 2, "col_1": 20}]
    assert merge.plan().warnings == [
        'a.xlsx: sheet "One": cell B1 of its header holds an error: the column is called "col_1".',
        'a.xlsx: sheet "One": a cell holds an error (#REF!; the first is B1), and is null.',
    ]


def test_errors_are_counted_where_cells_do_not_say_where_they_are_or_hold_nothing(merge: Merge) -> None:
    written = workbook(One=[["id", "v"], [1, 77777], [2, 5], [3, 88888], [4, 6]])
    nameless = with_part(written, b'<c r="B2"><v>77777</v></c>', b'<c t="e"><v>#N/A</v></c>')
    merge.given("a.xlsx", with_part(nameless, b'<c r="B4"><v>88888</v></c>', b'<c r="B4" t="e"/>'))

    assert [row["v"] for row in merge.rows()] == [None, 5, None, 6]
    assert merge.plan().warnings == [
        'a.xlsx: sheet "One": 2 cells hold errors (#N/A, without a name; the first is B2), and are null.'
    ]


def test_a_header_that_comes_again_in_a_sheet_is_set_aside(merge: Merge) -> None:
    rows: list[list[Any]] = [["id", "name", 2024], [1, "x", 5], ["id", "name", 2024], [2, "y", 6]]
    merge.given("a.xlsx", workbook(One=rows))

    result = merge.run()

    assert merge.table().to_pylist() == [{"id": 1, "name": "x", "2024": 5}, {"id": 2, "name": "y", "2024": 6}]
    assert (result.rows_in, result.rows_out, result.quarantined) == (3, 2, 1)
    assert [(each.record, each.reason) for each in merge.rejects()] == [(2, "it repeats the header")]


def test_text_above_text_that_could_be_data_is_told(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["Smith", "John"], ["Doe", "Jane"]]))

    warning = (
        'a.xlsx: sheet "One": its first row, "Smith, John", was taken for the header, and could be data; '
        "parse_headers: true or false settles it."
    )
    assert merge.plan().warnings == [warning]
    assert warning in infer(LOCAL, str(merge.root / "in"), InferOptions()).warnings
    assert merge.plan(parse_headers=True).warnings == []


def test_two_sheets_that_begin_alike_have_a_header_beyond_doubt(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["foo", "bar"], ["Doe", "Jane"]], Two=[["foo", "bar"], ["Fox", "Tom"]]))

    assert merge.plan().warnings == []


def test_rows_of_one_cell_that_are_most_of_a_sheet_are_no_titles(merge: Merge) -> None:
    rows = [["name"], *([f"p{number}"] for number in range(30)), ["last", "a note"]]
    merge.given("a.xlsx", workbook(One=rows))

    assert len(merge.rows()) == 31
    assert merge.table().column_names == ["name", "col_1"]
    assert merge.plan().warnings == [
        'a.xlsx: sheet "One": its first 31 rows have one cell each: if they are a title, give skip_rows: 31.'
    ]
    assert merge.plan(csv=DelimitedOptions(skip_rows=31)).warnings == []


def test_two_sheets_of_one_name_are_refused(merge: Merge) -> None:
    written = workbook(One=[["id"], [1]], Two=[["id"], [2]])
    merge.given("a.xlsx", with_part(written, b'name="Two"', b'name="One"', "xl/workbook.xml"))

    with pytest.raises(PlanRefused, match=r'a\.xlsx: two of its sheets are called "One"\.'):
        merge.plan()


def test_durations_are_written_like_the_times_of_day_that_they_meet(merge: Merge) -> None:
    merge.given("a.csv", "id,v\n9,08:00:00\n")
    merge.given("b.xlsx", formatted("[h]:mm:ss", 1.5, 0.25, -0.25))

    assert [row["v"] for row in merge.rows()] == ["08:00:00", "36:00:00", "06:00:00", "-06:00:00"]
