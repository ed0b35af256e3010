"""Delimited text: dialects, headers, quotes, encodings, and what is reported of records that do not fit."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mason.errors import BadInput
from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.headers import has_header
from mason.pipeline.formats.delimited.records import QUOTED_EMPTY, split_records
from mason.pipeline.formats.delimited.sniff import detect_delimiter

if TYPE_CHECKING:
    from tests.pipeline.conftest import Folder


def records(text: str, delimiter: str = ",", limit: int = 1000, *, final: bool = True) -> list[list[str]]:
    return split_records(text, Dialect(delimiter=delimiter), limit, final=final).rows


FIELDS = st.text(alphabet='ab ,;"\n5', max_size=5)


@given(st.lists(st.lists(FIELDS, min_size=2, max_size=3), max_size=4), st.sampled_from(",;|"))
def test_records_are_what_pythons_writer_wrote(rows: list[list[str]], delimiter: str) -> None:
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator="\n").writerows(rows)

    assert records(written.getvalue(), delimiter) == rows


@given(st.lists(st.lists(FIELDS, min_size=2, max_size=2), min_size=1, max_size=4), st.data())
def test_a_text_cut_anywhere_gives_the_same_records_in_two_parts(rows: list[list[str]], data: st.DataObject) -> None:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    text = written.getvalue()
    cut = data.draw(st.integers(0, len(text)))

    first = split_records(text[:cut], Dialect(), 1000, final=False)

    assert first.rows + records(text[first.end :]) == rows


def test_a_quoted_empty_field_is_text_and_an_empty_one_is_not() -> None:
    assert records('a,"",""""""\n,,\n') == [["a", QUOTED_EMPTY, '""'], ["", "", ""]]


def test_a_limit_leaves_the_rest_for_later() -> None:
    for text in ("a,b\nc,d\ne,f\n", '"a",b\nc,d\ne,f\n'):
        found = split_records(text, Dialect(), 2, final=False)
        assert found.rows == [["a", "b"], ["c", "d"]]
        assert text[found.end :] == "e,f\n"


def test_a_quote_inside_an_unquoted_field_is_just_a_character() -> None:
    assert records('a,5" pipe,b\n"x",y,z\n') == [["a", '5" pipe', "b"], ["x", "y", "z"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n", ","),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a;b\n1,5;2,5\n", ";"),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("a^b\n1^2\n", "^"),
        ("a~b\n1~2\n", "~"),
        ("a:b\n1:2\n3:x\n", ":"),
        ("a:b\nx:y\n", ":"),
        ("a\x01b\n1\x012\n", "\x01"),
        ('a;"b,c,d"\n1;"e,f,g"\n', ";"),
        ('a,b\n"x;y;z",2\n"x;y;z",2\n', ","),
        ('id|note\n1|"a, b\nc, d"\n2|x\n', "|"),
        ("day\n2024-01-01 10:00:00\n", ","),
        ("2024-01-01 10:00:00\n2024-01-01 11:00:00\n", ","),
        ("note\nHello, world\nfine\n", ","),
        ("a;b;c\n1;2\n1;2;3\n4;5;6\n", ";"),
        ("only\n", ","),
        ("", ","),
    ],
)
def test_the_delimiter_is_what_cuts_lines_evenly(text: str, expected: str) -> None:
    assert detect_delimiter(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,name\n1,a\n", True),
        ("name,city\nBob,Paris\nEve,Rome\n", True),
        ("Bob,Paris\nEve,Paris\n", False),
        ("1,a\n2,b\n", False),
        ("id,2024\n1,5\n", True),
        ("country,2023,2024\nAustria,1,2\n", True),
        ("Austria,2023,2024\nItaly,2022,2023\n", False),
        ("01.02.2024,Miete\n02.02.2024,Gas\n", False),
        ("00501,Holtsville\n00544,Holtsville\n", False),
        (",name,city\n0,a,b\n1,c,d\n", True),
        ("name,city,\na,b,\nc,d,\n", True),
        ("DE-001,Ann\nDE-002,Bob\n", False),
        ("ann@a.org\nbob@b.org\n", False),
        ("1e5,a\n2e5,b\n", False),
        (",a\n0,5\n", True),
        (",a\nx,y\n", True),
        ("id,id\n1,2\n", True),
        ("a,a\nx,y\n", False),
        ("id,name\n", True),
        ("1,2\n", False),
        ("2024-01-01,x\n2024-01-02,y\n", False),
        (",\n1,2\n", False),
    ],
)
def test_a_first_record_is_a_header_when_it_is_words_above_other_things(text: str, expected: bool) -> None:
    assert has_header(records(text)) is expected


@pytest.mark.parametrize("delimiter", [",", "\t", "|", ";", "^", "~", "\x01"])
def test_any_usual_delimiter_is_found(folder: Folder, delimiter: str) -> None:
    folder.given("a.csv", f"id{delimiter}name\n1{delimiter}x\n")

    assert folder.types() == {"id": "int64", "name": "string"}


def test_a_delimiter_can_be_given(folder: Folder) -> None:
    folder.given("a.csv", "a-b\n1-2\n")

    assert folder.types(delimiter="-") == {"a": "int64", "b": "int64"}


@pytest.mark.parametrize("delimiter", ["a long one", '"', "\n"])
def test_a_delimiter_that_cannot_be_one_is_refused(folder: Folder, delimiter: str) -> None:
    folder.given("a.csv", "a\n1\n")

    with pytest.raises(BadInput, match="cannot be a delimiter"):
        folder.infer(delimiter=delimiter)


def test_a_tab_can_be_given_by_name(folder: Folder) -> None:
    folder.given("a.csv", "a,b\tc\n1,2\t3\n")

    assert list(folder.types(delimiter="\\t")) == ["a,b", "c"]


def test_a_name_that_promises_tabs_is_believed_only_if_there_are_some(folder: Folder) -> None:
    folder.given("a.tsv", "x,y\tz\n1,2\t3\n")
    folder.given("b.tsv", "u,v\n1,2\n")

    assert list(folder.types()) == ["x,y", "z", "u", "v"]


def test_quoted_fields_may_hold_delimiters_newlines_and_quotes(folder: Folder) -> None:
    folder.given("a.csv", 'id,note\r\n1,"a, b\r\n""c"""\r\n2,x\r\n')

    found = folder.infer()

    assert [column.name for column in found.schema.columns] == ["id", "note"]
    assert found.rows_read == 2
    assert not found.warnings


def test_a_quoted_empty_field_makes_text_and_an_empty_one_a_null(folder: Folder) -> None:
    folder.given("a.csv", 'a,b\n1,1\n"",\n')

    assert folder.types() == {"a": "string", "b": "int64"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_read(folder: Folder, end: str) -> None:
    folder.given("a.csv", end.join(["a,b", "1,x", "2,y"]))

    found = folder.infer()

    assert [str(column.type) for column in found.schema.columns] == ["int64", "string"]
    assert found.rows_read == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_every_usual_encoding_is_read(folder: Folder, encoding: str) -> None:
    folder.given("a.csv", "id,größe\n1,länglich\n2,x\n".encode(encoding))

    found = folder.infer()

    assert [column.name for column in found.schema.columns] == ["id", "größe"]
    assert bool(found.warnings) == (encoding == "cp1252")


def test_text_that_is_not_utf8_is_read_as_latin1_with_a_warning_that_names_the_file(folder: Folder) -> None:
    folder.given("a.csv", b"id,name\n1,\xfc\x81\n")

    assert folder.warnings().startswith("a.csv: it is not valid UTF-8 at byte 10 (0xfc); it is read as Latin-1 (")


def test_a_wrong_byte_in_utf8_is_reported_and_spoils_nothing_else(folder: Folder) -> None:
    folder.given("a.csv", "id,größe\n1,ä\n".encode() + b"2,\xff\n")

    assert folder.types() == {"id": "int64", "größe": "string"}
    assert "not valid UTF-8" in folder.warnings()


def test_a_wrong_byte_far_down_is_found_when_all_is_read(folder: Folder) -> None:
    folder.given("a.csv", b"id,name\n" + b"1,x\n" * 300_000 + b"2,\xff\n")

    assert folder.warnings() == ""
    assert "not valid UTF-8" in folder.warnings(read_all=True)


def test_an_encoding_can_be_given(folder: Folder) -> None:
    folder.given("a.csv", "näme\nx\n".encode("cp437"))

    assert list(folder.types(encoding="cp437")) == ["näme"]


def test_nul_bytes_are_reported(folder: Folder) -> None:
    folder.given("a.csv", "id,name\n1,a\x00b\n" + "2,c\n" * 50)

    assert folder.types() == {"id": "int64", "name": "string"}
    assert folder.warnings() == "a.csv: it has NUL bytes."


def test_a_file_without_header_gets_numbered_columns(folder: Folder) -> None:
    folder.given("a.csv", "1,x\n2,y\n")

    assert folder.types() == {"col_0": "int64", "col_1": "string"}


def test_the_user_decides_about_headers(folder: Folder) -> None:
    folder.given("a.csv", "2023,2024\n1,2\n")

    assert folder.types(read_headers=True) == {"2023": "int64", "2024": "int64"}
    assert folder.types(read_headers=False) == {"col_0": "int64", "col_1": "int64"}


def test_a_file_without_header_among_files_with_one_is_reported(folder: Folder) -> None:
    folder.given("a.csv", "id,name\n1,x\n")
    folder.given("b.csv", "2,y\n3,z\n")

    assert "b.csv: it has no header, unlike others" in folder.warnings()


def test_a_header_without_rows_gives_columns_of_text(folder: Folder) -> None:
    folder.given("a.csv", "id,name\n")

    assert folder.types() == {"id": "string", "name": "string"}


def test_ragged_records_are_reported_and_the_rest_still_gives_types(folder: Folder) -> None:
    folder.given("a.csv", "a,b,c\n1,2,3\n4,5\n6,7,8,9\n")

    assert folder.types() == {"a": "int64", "b": "int64", "c": "int64"}
    assert folder.warnings() == "a.csv: record 3 has 2 fields instead of 3."


def test_duplicate_names_are_made_unique_and_reported(folder: Folder) -> None:
    folder.given("a.csv", "id,name,name,name_2,Name\n1,a,b,c,d\n")

    assert list(folder.types()) == ["id", "name", "name_3", "name_2", "Name"]
    assert 'a.csv: it has more than one column "name": the next one is called "name_3"' in folder.warnings()
    assert 'its columns "name" and "Name" differ only in case' in folder.warnings()


def test_an_unterminated_quote_is_reported_with_its_record(folder: Folder) -> None:
    folder.given("a.csv", 'id,name\n1,x\n2,"y\n3,z\n')

    assert folder.infer().rows_read == 2
    assert folder.warnings() == "a.csv: record 3 cannot be read: a quote is opened and not closed."


def test_an_unterminated_quote_in_a_large_file_is_reported_too(folder: Folder) -> None:
    folder.given("a.csv", 'id,name\n1,x\n2,"y\n' + "3,z\n" * 2_000_000)

    assert folder.warnings() == (
        "a.csv: record 3 cannot be read: a quote is opened, and the lines that it holds look like records."
    )


def test_text_after_a_closing_quote_is_reported_with_its_record(folder: Folder) -> None:
    folder.given("a.csv", 'id,name\n1,"x"y\n')

    assert folder.warnings() == "a.csv: record 2 cannot be read: text stands behind a closing quote."


def test_blank_lines_are_nulls_in_one_column_and_nothing_in_more(folder: Folder) -> None:
    folder.given("one.csv", "a\n1\n\n3\n")
    folder.given("two.csv", "\na,b\n1,2\n\n3,4\n\n")

    assert folder.infer("one.csv").rows_read == 3
    assert folder.infer("two.csv").rows_read == 2


def test_names_with_dots_quotes_emoji_and_newlines_are_kept(folder: Folder) -> None:
    folder.given("a.csv", 'a.b,"say ""hi""",😀,"two\nlines", \n1,2,3,4,5\n')

    assert list(folder.types()) == ["a.b", 'say "hi"', "😀", "two\nlines", " "]


def test_null_words_are_a_parameter(folder: Folder) -> None:
    folder.given("a.csv", "a,b\n1,NA\nNA,x\n")

    assert folder.types() == {"a": "string", "b": "string"}
    assert folder.types(nulls=["NA"]) == {"a": "int64", "b": "string"}


def test_five_thousand_columns_are_read(folder: Folder) -> None:
    names = [f"column_number_{index}" for index in range(5_000)]
    folder.given("a.csv", ",".join(names) + "\n" + (",".join(["12345"] * 5_000) + "\n") * 30)

    assert folder.types() == dict.fromkeys(names, "int64")
