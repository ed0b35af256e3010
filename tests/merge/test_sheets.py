"""Sheets of Excel workbooks as inputs: which are read, what their cells are, and that none is lost without a word."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from mason.engines.storage.models.infer_options import DelimitedOptions, InferOptions
from mason.errors import MissingDependency
from mason.pipeline.reading.inference import infer
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.storage import archives
from tests.merge.conftest import LOCAL, Merge

Fill = Callable[[Any], None]


def workbook(**sheets: list[list[Any]]) -> bytes:
    """A workbook of Excel with these sheets; a value that is a function is given the place to write to."""
    content = io.BytesIO()
    book = xlsxwriter.Workbook(content, {"default_date_format": "yyyy-mm-dd hh:mm:ss"})
    day = book.add_format({"num_format": "dd.mm.yyyy"})
    clock = book.add_format({"num_format": "hh:mm"})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            for place, value in enumerate(row):
                if isinstance(value, datetime):
                    sheet.write_datetime(number, place, value)
                elif isinstance(value, date | time):
                    sheet.write_datetime(number, place, value, day if isinstance(value, date) else clock)
                elif isinstance(value, tuple):
                    sheet.write_formula(number, place, value[0], None, value[1])
                elif value is not None:
                    sheet.write(number, place, value)
    book.close()
    return content.getvalue()


def test_cells_keep_their_types(merge: Merge) -> None:
    rows = [
        ["id", "price", "open", "day", "moment", "clock", "text", "none"],
        [1, 1.5, True, date(2024, 1, 31), datetime(2024, 1, 31, 12, 30), time(8, 15), "007", None],
        [2, 2, False, date(1999, 12, 31), datetime(1999, 12, 31), time(0, 0), "  x ", None],
    ]
    merge.given("a.xlsx", workbook(One=rows))

    assert merge.rows() == [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert merge.types() == {
        "id": "int64",
        "price": "double",
        "open": "bool",
        "day": "date32[day]",
        "moment": "timestamp[us]",
        "clock": "time64[us]",
        "text": "string",
        "none": "string",
    }


def test_a_formula_is_the_value_that_was_saved_with_it(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["a", "b"], [1, ("=A2+1", 2)], [("=A2*3", 3), 4]]))

    assert merge.rows() == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_errors_are_null_and_counted(merge: Merge) -> None:
    rows = [["id", "n"], [1, ("=NA()", "#N/A")], [2, 5], [3, ("=1/0", "#DIV/0!")], [4, ("=NA()", "#N/A")]]
    merge.given("a.xlsx", workbook(One=rows))

    result = merge.run()

    assert merge.table()["n"].to_pylist() == [None, 5, None, None]
    assert result.plan.warnings == [
        'a.xlsx: sheet "One": 3 cells hold errors (#N/A, #DIV/0!; the first is B2), and are null.'
    ]


def test_formulas_without_a_saved_value_are_null_and_counted(merge: Merge) -> None:
    content = io.BytesIO()
    book = openpyxl.Workbook()
    for row in (["id", "v"], [1, "=A2*2"], [2, 5], [3, "=A4*2"]):
        book.active.append(row)
    book.save(content)
    merge.given("a.xlsx", content.getvalue())

    result = merge.run()

    told = (
        'a.xlsx: sheet "Sheet": 2 cells hold formulas without a saved value (the first is B2), and are null: '
        "what wrote the file calculated nothing (opening and saving it in Excel or LibreOffice does)."
    )
    assert merge.table()["v"].to_pylist() == [None, 5, None]
    assert result.plan.warnings == [told]
    assert told in infer(LOCAL, str(merge.root / "in"), InferOptions()).warnings


def test_a_formula_that_gives_empty_text_has_a_saved_value(merge: Merge) -> None:
    written = workbook(One=[["id", "v"], [1, ('=""', "")], [2, ("=A3", 2)]])
    as_excel_has_it = with_part(written, b'<c r="B2">', b'<c r="B2" t="str">')
    merge.given("a.xlsx", as_excel_has_it)

    assert merge.plan().warnings == []


def with_part(content: bytes, old: bytes, new: bytes, name: str = "xl/worksheets/sheet1.xml") -> bytes:
    """A workbook that has other bytes in one place: in its first sheet, unless another part is named."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(changed, "w") as after:
        for each in before.namelist():
            part = before.read(each)
            assert each != name or part.count(old) == 1
            after.writestr(each, part.replace(old, new) if each == name else part)
    return changed.getvalue()


def test_mixed_cells_are_text_and_empty_rows_are_no_records(merge: Merge) -> None:
    rows = [["id", "v"], [1, 5], [], [2, "x"], [3, 1.5], [4, True], [5, date(2024, 1, 31)]]
    merge.given("a.xlsx", workbook(One=rows))

    result = merge.run()

    assert merge.table()["v"].to_pylist() == ["5", "x", "1.5", "true", "2024-01-31"]
    assert (result.rows_in, result.rows_out) == (5, 5)


def test_mixed_cells_beyond_a_batch_are_spelled_alike(merge: Merge) -> None:
    rows = [["id", "v"], *([number, number / 2] for number in range(30_000)), [30_000, "x"]]
    merge.given("a.xlsx", workbook(One=rows))

    found = {row["id"]: row["v"] for row in merge.rows()}

    assert len(found) == 30_001
    assert (found[0], found[1], found[29_999], found[30_000]) == ("0", "0.5", "14999.5", "x")


def test_sheets_with_the_same_columns_are_read_and_others_are_named(merge: Merge) -> None:
    january, february = [["id", "n"], [1, 10]], [["n", "id"], [20, 2]]
    merge.given("a.xlsx", workbook(January=january, Notes=[["who", "what"], ["Ann", "all"]], February=february))

    result = merge.run()

    assert merge.table().to_pylist() == [{"id": 1, "n": 10}, {"id": 2, "n": 20}]
    (warning,) = result.plan.warnings
    assert warning.startswith('a.xlsx: sheet "Notes" has other columns and is left out (the parameter sheet names')
    assert result.plan.to_dict()["Readings"][0]["Sheets"] == ["January", "February"]


def test_a_sheet_can_be_given(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["id"], [1]], Two=[["name"], ["x"]]))

    assert merge.rows(csv=DelimitedOptions(sheet="Two"), parse_headers=True) == [{"name": "x"}]
    assert merge.rows(csv=DelimitedOptions(sheet="*"), parse_headers=True) == [
        {"id": 1, "name": None},
        {"id": None, "name": "x"},
    ]
    with pytest.raises(PlanRefused, match=r'a\.xlsx: it has no sheet "Three"'):
        merge.plan(csv=DelimitedOptions(sheet="Three"))


def test_hidden_sheets_are_left_out_and_told(merge: Merge) -> None:
    content = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["id", "n"])
    book.active.append([1, 2])
    hidden = book.create_sheet("Old")
    hidden.append(["id", "n"])
    hidden.append([3, 4])
    hidden.sheet_state = "hidden"
    book.save(content)
    merge.given("a.xlsx", content.getvalue())

    result = merge.run()

    assert merge.table().to_pylist() == [{"id": 1, "n": 2}]
    assert 'sheet "Old" is hidden and is left out' in result.plan.warnings[0]


def test_titles_gaps_and_merged_cells_are_told(merge: Merge) -> None:
    content = io.BytesIO()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Report"
    sheet["B2"] = "Sales of January"
    for place, value in zip(("B4", "C4", "D4", "B5", "C5", "D5"), ("region", "n", None, "north", 5, 6), strict=True):
        sheet[place] = value
    sheet.merge_cells("C4:D4")
    book.save(content)
    merge.given("a.xlsx", content.getvalue())

    result = merge.run()

    assert merge.table().to_pylist() == [{"region": "north", "n": 5, "col_2": 6}]
    assert result.plan.warnings == [
        'a.xlsx: sheet "Report": its first row is a title, and skipped: "Sales of January".',
        'a.xlsx: sheet "Report": cells C4:D4 are merged: the first has the value, others are empty.',
    ]


def test_rows_of_two_cells_above_the_table_are_titles_too(merge: Merge) -> None:
    about: list[list[Any]] = [["Report", "Sales"], ["Date", date(2026, 1, 1)], []]
    table: list[list[Any]] = [["sku", "qty", "price"], ["a", 1, 2.5], ["b", 2, 3.5]]
    merge.given("a.xlsx", workbook(One=[*about, *table]))

    assert merge.rows() == [{"sku": "a", "qty": 1, "price": 2.5}, {"sku": "b", "qty": 2, "price": 3.5}]
    assert merge.plan().warnings == [
        'a.xlsx: sheet "One": its first 2 rows are a title, and skipped: "Report Sales Date 2026-01-01".'
    ]


def test_a_title_and_a_row_of_two_cells_need_no_empty_row_below(merge: Merge) -> None:
    rows: list[list[Any]] = [["Sales"], ["by", "Ann"], ["id", "v", "w"], [1, 2, 3], [4, 5, 6]]
    merge.given("a.xlsx", workbook(One=rows))

    assert merge.rows() == [{"id": 1, "v": 2, "w": 3}, {"id": 4, "v": 5, "w": 6}]


@pytest.mark.parametrize(
    "rows",
    [
        [[None, "name", "n"], ["r1", "Ann", "none"], ["r2", "Bob", 5]],
        [["id", "name"], ["x", "Ann", "late"], ["y", "Bob", 5]],
        [["id", "name", "n"], ["x", "Ann", 1], ["y", "Bob", 5, "late"], ["z", "Cid", 6]],
    ],
)
def test_a_header_that_lacks_a_name_is_no_title(merge: Merge, rows: list[list[Any]]) -> None:
    merge.given("a.xlsx", workbook(One=rows))

    assert len(merge.rows()) == len(rows) - 1
    assert merge.plan().warnings == []


def test_rows_as_wide_as_the_table_that_may_stand_above_it_are_told(merge: Merge) -> None:
    about = [["Report", "Sales"], ["Date", "January"], []]
    table: list[list[Any]] = [["sku", "qty"], ["a", 1], ["b", 2], ["c", 3]]
    merge.given("a.xlsx", workbook(One=[*about, *table]))

    assert merge.plan().warnings == [
        'a.xlsx: sheet "One": row 4 may be the header of the table: if the 2 rows above it are no part of that, '
        "give skip_rows: 3."
    ]
    given = DelimitedOptions(skip_rows=3)
    assert merge.rows(csv=given)[0] == {"sku": "a", "qty": 1}
    assert merge.plan(csv=given).warnings == []


def test_years_name_columns_and_numbers_do_not(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["country", 2023, 2024], ["DE", 5, 6]]))
    assert merge.rows() == [{"country": "DE", "2023": 5, "2024": 6}]

    merge.given("a.xlsx", workbook(One=[["DE", 5, 6], ["AT", 7, 8]]))
    assert merge.rows() == [{"col_0": "DE", "col_1": 5, "col_2": 6}, {"col_0": "AT", "col_1": 7, "col_2": 8}]


def test_text_above_text_is_a_header_unless_it_occurs_again(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["name", "city"], ["Ann", "Graz"], ["Bob", "Wien"]]))
    assert merge.rows()[0] == {"name": "Ann", "city": "Graz"}

    merge.given("a.xlsx", workbook(One=[["Ann", "Graz"], ["Bob", "Graz"]]))
    assert merge.rows()[0] == {"col_0": "Ann", "col_1": "Graz"}

    merge.given("a.xlsx", workbook(One=[["name", "n", "n"], ["Ann", 1, 2]]))
    assert merge.rows(names="number") == [{"name": "Ann", "n": 1, "n_2": 2}]


def test_null_words_are_null_and_leave_the_type(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["id", "n"], [1, "n/a"], [2, 7]]))

    assert merge.rows(nulls=["n/a"]) == [{"id": 1, "n": None}, {"id": 2, "n": 7}]


def test_a_given_type_sets_cells_aside_that_do_not_fit(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["id", "n"], *([number, number] for number in range(20)), [20, "x"]]))

    result = merge.run(schema="n bigint")

    assert (result.rows_out, result.quarantined) == (20, 1)
    assert [(each.record, each.column) for each in merge.rejects()] == [(21, "n")]


def test_workbooks_are_merged_with_other_files_and_read_inside_archives(merge: Merge) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("in.xlsx", workbook(One=[["id", "n"], [1, 2]]))
    merge.given("a.zip", content.getvalue())
    merge.given("b.xlsx", workbook(One=[["n", "id"], [4.5, 3]]))
    merge.given("c.csv", "id,n\n5,6\n")

    assert merge.rows() == [{"id": 1, "n": 2.0}, {"id": 3, "n": 4.5}, {"id": 5, "n": 6.0}]


def test_infer_knows_workbooks(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[["id", "name"], [1, "x"]]))

    found = infer(LOCAL, str(merge.root / "in"), InferOptions())

    assert [(each.name, str(each.type)) for each in found.schema.columns] == [("id", "int64"), ("name", "string")]


def test_an_empty_workbook_is_told_as_empty(merge: Merge) -> None:
    merge.given("a.xlsx", workbook(One=[]))
    merge.given("b.csv", "id\n1\n")

    assert list(merge.plan().warnings) == ["a.xlsx: it is empty."]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"id,n\n1,2\n", "not a complete xlsx file"),
        (workbook(One=[["id"], [1]])[:-40], "not a complete xlsx file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "it is protected by a password, or older than xlsx"),
    ],
    ids=lambda value: "content" if isinstance(value, bytes) else None,  # a workbook holds the time of its making
)
def test_what_is_no_workbook_is_refused_by_name(merge: Merge, content: bytes, said: str) -> None:
    merge.given("a.xlsx", content)
    merge.given("b.csv", "id\n1\n")

    if content:
        with pytest.raises(PlanRefused, match=said) as refused:
            merge.plan()
        assert str(refused.value).startswith("a.xlsx: ")
    else:
        assert list(merge.plan().warnings) == [f"a.xlsx: {said}."]


def test_a_workbook_that_unpacks_to_far_too_much_is_refused(merge: Merge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_UNPACKED", 100_000)
    monkeypatch.setattr(archives, "MOST_TIMES", 3)
    merge.given("a.xlsx", workbook(One=[["id"], *([1] for _ in range(5_000))]))

    with pytest.raises(PlanRefused, match=r"a\.xlsx: its [0-9,]+ bytes would unpack to"):
        merge.plan()


def test_without_calamine_the_message_says_what_to_install(merge: Merge, monkeypatch: pytest.MonkeyPatch) -> None:
    merge.given("a.xlsx", workbook(One=[["id"], [1]]))
    monkeypatch.setitem(sys.modules, "python_calamine", None)

    with pytest.raises(MissingDependency, match=r"pip install 'mason-data\[excel\]'"):
        merge.plan()
