"""Delimited text as it is found: titles, comments, quotes, escapes, delimiters, rows off by one, and headers."""

from __future__ import annotations

from typing import Any

import pytest

from mason.engines.storage.models.infer_options import DelimitedOptions
from mason.errors import BadInput, NotFound, UnreadableFile
from mason.pipeline.formats.file_schema import unique_names
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.reading.plan.inspection import PlanRefused
from tests.merge.conftest import Merge

INCH = '"5 inch pipe'


def read(merge: Merge, text: str | bytes, **options: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a file, and all warnings."""
    merge.given("a.csv", text)
    result = merge.run(csv=DelimitedOptions(**options))
    return merge.table().to_pylist(), [*result.plan.warnings, *result.warnings]


# Stray quotes


def test_stray_quotes_beyond_the_sample_swallow_no_rows(merge: Merge) -> None:
    lines = [f"{number},{INCH if number in (15_000, 15_100) else 'x'}" for number in range(20_000)]
    merge.given("a.csv", "\n".join(["id,size", *lines, ""]))

    result = merge.run()

    assert (result.rows_in, result.rows_out, result.quarantined) == (20_000, 19_998, 2)
    assert [(each.record, each.raw) for each in merge.rejects()] == [
        (15_002, f"15000,{INCH}"),
        (15_102, f"15100,{INCH}"),
    ]
    assert any(each.startswith("a.csv: 2 records are in the quarantine") for each in result.warnings)
    assert sorted(merge.table()["id"].to_pylist()) == [n for n in range(20_000) if n not in (15_000, 15_100)]


def test_a_quote_that_closes_by_chance_swallows_no_rows(merge: Merge) -> None:
    """Both quotes stand where quotes may stand: only the lines between them tell that they are none."""
    lines = [f"{number},{INCH if number == 150 else 'x'}" for number in range(200)]
    lines[180] = '"180",x'
    merge.given("a.csv", "\n".join(["id,size", *lines, ""]))

    result = merge.run(sample=100)

    assert (result.rows_in, result.quarantined) == (200, 1)
    assert merge.table()["id"].to_pylist() == [number for number in range(200) if number != 150]


def test_text_in_several_lines_stays_one_field(merge: Merge) -> None:
    letter = "Dear all,\nplease note:\n- one, two\n- three\n\nYours, Ann"
    rows, warnings = read(merge, f'id,note\n1,"{letter}"\n2,x\n')

    assert rows == [{"id": 1, "note": letter}, {"id": 2, "note": "x"}]
    assert warnings == []


def test_text_behind_a_closing_quote_is_set_aside(merge: Merge) -> None:
    lines = [f'{number},"a, b"' for number in range(50)]
    merge.given("a.csv", "\n".join(["id,t", *lines, '50,"quoted" thing', "51,z", ""]))

    result = merge.run()

    assert (result.rows_in, result.rows_out, result.quarantined) == (52, 51, 1)
    (reject,) = merge.rejects()
    assert (reject.reason, reject.raw) == ("text stands behind a closing quote", '50,"quoted" thing')


# Titles, comments, footers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Report 2024\n\nid;v;w\n1;2;a\n2;3;b\n",
            'a.csv: its first 2 lines are not a record of 3 fields, and skipped: "Report 2024".',
        ),
        ("sep=;\nid;v;w\n1;2;a\n2;3;b\n", 'a.csv: its first line says "sep=;" and is not a record.'),
        (
            "# made by x\n# y, z\nid,v,w\n1,2,a\n2,3,b\n",
            'a.csv: its first 2 lines are not a record of 3 fields, and skipped: "# made by x".',
        ),
        (
            "Sales,,\n,,\nid,v,w\n1,2,a\n2,3,b\n",
            'a.csv: its first 2 lines are not a record of 3 fields, and skipped: "Sales,,".',
        ),
        (
            "Sales, all\nid,v,w\n1,2,a\n2,3,b\n",
            'a.csv: its first line is not a record of 3 fields, and skipped: "Sales, all".',
        ),
    ],
)
def test_what_stands_before_the_header_is_skipped_and_told(merge: Merge, text: str, said: str) -> None:
    rows, warnings = read(merge, text)

    assert rows == [{"id": 1, "v": 2, "w": "a"}, {"id": 2, "v": 3, "w": "b"}]
    assert warnings == [said]


def test_a_header_that_begins_like_a_comment_is_a_header(merge: Merge) -> None:
    rows, _ = read(merge, "##fileformat=VCFv4\n#CHROM\tPOS\tID\n1\t5\tx\n2\t6\ty\n")

    assert rows[0] == {"#CHROM": 1, "POS": 5, "ID": "x"}


def test_comments_footers_and_titles_can_be_given(merge: Merge) -> None:
    text = "any\nid,v\n1,2\n# note, this\n3,4\nTotal,6\nThe end\n"
    rows, warnings = read(merge, text, skip_rows=1, comment="#", skip_footer=2)

    assert rows == [{"id": 1, "v": 2}, {"id": 3, "v": 4}]
    assert warnings == []


def test_a_total_without_all_fields_is_set_aside(merge: Merge) -> None:
    rows, warnings = read(merge, "id,v\n1,2\n3,4\nTotal: 2 records\n")

    assert rows == [{"id": 1, "v": 2}, {"id": 3, "v": 4}]
    assert warnings[-1] == "a.csv: 1 record is in the quarantine: 1 field instead of 2."


# Dialects


@pytest.mark.parametrize(
    ("text", "second", "said"),
    [
        ("id||name\n1||a\n2||b|c\n", "b|c", 'its delimiter is "||"'),
        ("id, name, n\n1, Ann, 5\n2, Bob, 6\n", "Bob", "spaces behind its delimiters are no part of the values"),
        ("'id','name'\n1,'a,b'\n2,'c, d'\n", "c, d", "its quotes are ' rather than \""),
        ('id,name\n1,"a \\"x\\", y"\n2,"c"\n', "c", "a backslash stands before quotes that are text"),
        ('id\tname\n1\t"foo" bar\n2\t5" pipe\n3\t"x\n', '5" pipe', "its quotes are plain characters"),
        ("id name n\n1 a 5\n2 b 6\n", "b", ""),
    ],
)
def test_a_dialect_is_found(merge: Merge, text: str, second: str, said: str) -> None:
    rows, warnings = read(merge, text)

    assert (rows[1]["id"], rows[1]["name"]) == (2, second)
    assert (said in warnings[0]) if said else not warnings


def test_a_dialect_can_be_given(merge: Merge) -> None:
    merge.given("a.tsv", '1\t"x\n2\ty"\n')
    merge.run(delimiter="\\t", parse_headers=False, csv=DelimitedOptions(quote="none"))
    assert [row["col_1"] for row in merge.table().to_pylist()] == ['"x', 'y"']

    merge.given("a.tsv", "1|~|'it''s'\n2|~|z\n")
    merge.run(delimiter="|~|", parse_headers=False, csv=DelimitedOptions(quote="'"))
    assert [row["col_1"] for row in merge.table().to_pylist()] == ["it's", "z"]


def test_fields_of_fixed_width(merge: Merge) -> None:
    rows, _ = read(merge, "id  name  n\n1   Ann   5\n22  Bobby 66\n", widths=(4, 6, 3))

    assert rows == [{"id": 1, "name": "Ann", "n": 5}, {"id": 22, "name": "Bobby", "n": 66}]


@pytest.mark.parametrize(
    "options",
    [{"quote": "ab"}, {"quote": ";", "escape": ";"}, {"comment": "x"}, {"widths": (3, 0)}, {"escape": "\n"}],
)
def test_a_dialect_that_cannot_be_is_refused(merge: Merge, options: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        read(merge, "a;b\n1;2\n", **options)


# Rows off by one


@pytest.mark.parametrize(
    ("text", "rows", "said"),
    [
        ("n,c\na,b,\nc,d,\n", [{"n": "a", "c": "b"}, {"n": "c", "c": "d"}], "end with a delimiter"),
        ("mpg,c\nM,2,6\nD,3,4\n", [{"col_0": "M", "mpg": 2, "c": 6}, {"col_0": "D", "mpg": 3, "c": 4}], "called col_0"),
        ("n,c,\na,b\nc,d\n", [{"n": "a", "c": "b"}, {"n": "c", "c": "d"}], "its header ends with a delimiter"),
        ("n,c,x\na,1\nb,2\n", [{"n": "a", "c": 1, "x": None}, {"n": "b", "c": 2, "x": None}], '"x" is null'),
    ],
)
def test_rows_that_all_differ_by_one_are_read(merge: Merge, text: str, rows: list[dict[str, Any]], said: str) -> None:
    found, warnings = read(merge, text)

    assert found == rows
    assert said in warnings[0]


def test_rows_that_differ_here_and_there_are_padded_cut_or_refused(merge: Merge) -> None:
    text = "a,b\n1,2\n3\n4,5,6\n7,8\n"
    assert [row["a"] for row in read(merge, text)[0]] == [1, 7]
    assert read(merge, text, ragged="pad")[0] == [{"a": 1, "b": 2}, {"a": 3, "b": None}, {"a": 7, "b": 8}]
    assert read(merge, text, ragged="cut")[0] == [
        {"a": 1, "b": 2},
        {"a": 3, "b": None},
        {"a": 4, "b": 5},
        {"a": 7, "b": 8},
    ]
    with pytest.raises(UnreadableFile, match="record 3: 1 field instead of 2"):
        read(merge, text, ragged="refuse")


def test_a_delimiter_too_many_beyond_the_sample_is_set_aside(merge: Merge) -> None:
    lines = [f"{number},x," for number in range(3000)]
    lines[2500] = "2500,x,y"
    merge.given("a.csv", "\n".join(["id,t", *lines, ""]))

    result = merge.run()

    assert (result.rows_in, result.rows_out, result.quarantined) == (3000, 2999, 1)
    assert merge.rejects()[0].raw == "2500,x,y"


# Headers


@pytest.mark.parametrize(
    ("text", "names", "count"),
    [
        ("country,2023,2024\nAustria,1,2\nItaly,3,4\n", ["country", "2023", "2024"], 2),
        ("01.02.2024;Miete;-1.200,00\n02.02.2024;Gas;-20,00\n", ["col_0", "col_1", "col_2"], 2),
        ("00501,Holtsville\n00544,Holtsville\n", ["col_0", "col_1"], 2),
        (",name,city\n0,a,b\n1,c,d\n", ["col_0", "name", "city"], 2),
        ("name,city,\na,b,\nc,d,\n", ["name", "city", "col_2"], 2),
    ],
)
def test_headers_of_the_wild(merge: Merge, text: str, names: list[str], count: int) -> None:
    rows, _ = read(merge, text)

    assert (list(rows[0]), len(rows)) == (names, count)


def test_files_of_one_folder_decide_together_whether_they_have_headers(merge: Merge) -> None:
    merge.given("a.csv", "Ann,Vienna\nBob,Graz\n")
    merge.given("b.csv", "Cid,Linz\nDan,Wels\n")

    assert [row["col_0"] for row in merge.rows()] == ["Ann", "Bob", "Cid", "Dan"]


def test_a_first_record_that_is_the_header_of_another_file_is_one(merge: Merge) -> None:
    merge.given("a.csv", "name,city\nname,Graz\nname,Linz\n")
    merge.given("b.csv", "name,city\n1,Wels\n")

    assert [row["city"] for row in merge.rows()] == ["Graz", "Linz", "Wels"]


def test_files_without_a_column_in_common_are_told(merge: Merge) -> None:
    merge.given("a.csv", "id,name\n1,a\n")
    merge.given("b.csv", "k,v\n1,2\n")

    assert "a.csv has no column in common with b.csv: are they files of one table?" in merge.run().plan.warnings


def test_a_header_that_cannot_be_read_is_no_row_lost(merge: Merge) -> None:
    merge.given("a.csv", '"id,name\n1,x\n2,y\n')

    with pytest.raises(PlanRefused, match="a.csv: its first record cannot be read: a quote is opened and not closed"):
        merge.run()


# What was guessed is told


def test_a_plan_and_a_record_say_how_each_file_is_read(merge: Merge) -> None:
    merge.given("a.csv", "Report\n\nid;v;w\n1;2,5;a\n2;3,5;b\n")
    merge.given("b.csv", "id,v,w\n3,4,c\n")
    merge.given("c.csv", "id,v,w\n5,6,d\n")

    plan = merge.plan().to_dict()

    first, second = plan["Readings"]
    assert (first["Files"], first["Delimiter"], first["SkippedLines"]) == (["a.csv"], ";", 2)
    assert (first["Header"], first["HeaderIs"], first["Encoding"], first["Quote"]) == (True, "guessed", "utf-8", '"')
    assert first["FirstRecords"] == [["1", "2,5", "a"], ["2", "3,5", "b"]]
    assert (second["Files"], second["FilesInAll"], second["RecordsInSample"]) == (["b.csv", "c.csv"], 2, 2)
    record = merge.run().to_dict()["Readings"]
    assert [each["Files"] for each in record] == [["a.csv"], ["b.csv", "c.csv"]]
    assert not any("FirstRecords" in each for each in record)
    given = merge.plan(parse_headers=True).to_dict()["Readings"]
    assert {each["HeaderIs"] for each in given} == {"given"}


def test_one_file_is_explained_in_full(merge: Merge) -> None:
    merge.given("a.csv", "Report\nid;v;w\n1;2;a\n2;3;b\n")

    explained = merge.plan(explain="a.csv").to_dict()["Explained"]

    assert explained["Columns"] == [
        {"Name": "id", "Type": "int64"},
        {"Name": "v", "Type": "int64"},
        {"Name": "w", "Type": "string"},
    ]
    assert explained["Remarks"] == ['its first line is not a record of 3 fields, and skipped: "Report"']
    with pytest.raises(NotFound, match='"x.csv" is not among the files'):
        merge.plan(explain="x.csv").to_dict()


def test_on_a_terminal_a_plan_draws_the_first_records_as_they_are_read(merge: Merge) -> None:
    merge.given("a.csv", 'id,name\n1,"a\nb"\n2,c\n')

    lines = MergeWork(merge.plan()).picture(80)

    assert lines[2].split() == ["a.csv", ",", '"', "yes", "(guessed)", "utf-8", "0", "2"]
    assert "a.csv as it is read:" in lines
    assert "1   a⏎b" in lines
    assert max(map(len, lines)) <= 80


# What a review found


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_footer_is_skipped_whatever_the_line_ends_are(merge: Merge, end: str, last: bool, encoding: str) -> None:
    text = end.join(["id,n", "1,2", "3,4", "Total,6"]) + (end if last else "")
    rows, _ = read(merge, text.encode(encoding), skip_footer=1)

    assert rows == [{"id": 1, "n": 2}, {"id": 3, "n": 4}]


@pytest.mark.parametrize("value", ["1", "y", "1.5", "2026-01-01"])
def test_an_empty_last_field_without_a_line_end_is_null(merge: Merge, value: str) -> None:
    rows, _ = read(merge, f'a,b\nx,{value}\n"q",')

    assert rows[1] == {"a": "q", "b": None}


def test_where_all_lack_the_last_field_a_shorter_record_is_still_set_aside(merge: Merge) -> None:
    rows, warnings = read(merge, "n,street,city,extra\n" + "Ann,Main,Rome\n" * 3000 + "Total of 3000\n")

    assert len(rows) == 3000
    assert warnings[-1] == "a.csv: 1 record is in the quarantine: 1 field instead of 4."


def test_a_record_without_the_delimiter_that_others_end_with_is_a_record(merge: Merge) -> None:
    rows, _ = read(merge, "a,b\n" + "1,2,\n" * 3000 + "9,10\n")

    assert rows[-1] == {"a": 9, "b": 10}


def test_a_name_five_thousand_times_takes_no_minutes() -> None:
    warnings: list[str] = []
    names = unique_names(["a"] * 5000, warnings)

    assert (len(set(names)), names[:3], len(warnings)) == (5000, ["a", "a_2", "a_3"], 1)


def test_files_that_are_added_without_a_column_of_the_table_are_told(merge: Merge) -> None:
    merge.given("a.csv", "name,city\nAnn,Rome\nBob,Bonn\n")
    merge.run()
    merge.given("a.csv", "Cid,Ulm\nDee,Graz\n")

    plan = merge.plan(mode="append")

    assert "a.csv: no column is one of the table: are these its rows?" in plan.warnings


# Delimiters inside values


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("id,name\n1,'Hara, x'\n2,'B, y'\n3,'C, z'\n", "Hara, x"),
        ("id,name\n" + "".join(f"{number},'Last{number}, First'\n" for number in range(1, 20)), "Last1, First"),
        ("id,name\n1,a\\,b\n2,c\\,d\n3,e\\,f\n", "a,b"),
        ("id;name\n1;a\\;b\n2;c\n3;e\\;f\n", "a;b"),
    ],
)
def test_quotes_and_escapes_around_delimiters_are_no_names_of_rows(merge: Merge, text: str, wanted: str) -> None:
    rows, warnings = read(merge, text)

    assert rows[0] == {"id": 1, "name": wanted}
    assert not any("col_0" in each for each in warnings)


def test_one_field_more_than_the_header_may_be_a_delimiter_inside_values(merge: Merge) -> None:
    _, warnings = read(merge, "Name,Betrag\nAnn,12,5\nBob,13,75\n")

    assert warnings == [
        "a.csv: its records have one field more than its header: the first column, which has no name, is called col_0; "
        "if a delimiter stands inside values instead, give the quote or escape around it, or mend the file."
    ]


@pytest.mark.parametrize(("delimiter", "shown"), [("tab", "a tab"), ("|", '"|"'), ("\\t", "a tab")])
def test_a_given_delimiter_that_does_not_occur_is_told_with_the_one_that_does(
    merge: Merge, delimiter: str, shown: str
) -> None:
    merge.given("a.csv", "id,v\n1,a\n3,b\n")

    result = merge.run(delimiter=delimiter)

    assert [*result.plan.warnings] == [
        f'a.csv: the delimiter that was given, {shown}, does not stand in its first lines; "," does.'
    ]


def test_a_given_delimiter_is_right_where_there_is_one_column(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n3\n")

    assert list(merge.run(delimiter=";").plan.warnings) == []


def test_files_whose_names_are_folded_have_them_in_common(merge: Merge) -> None:
    merge.given("a.csv", "id,Name\n1,a\n")
    merge.given("b.csv", "ID,name\n2,b\n")

    result = merge.run(names="fold")

    assert result.rows_out == 2
    assert not any("in common" in each for each in result.plan.warnings)


def test_a_name_that_a_file_has_twice_is_refused_with_what_numbers_it(merge: Merge) -> None:
    merge.given("a.csv", "id,name,name\n1,a,b\n")

    with pytest.raises(PlanRefused, match='more than one column "name": names:number calls the next one "name_2"'):
        merge.run()


def test_a_column_of_one_file_that_no_table_holds_is_not_said_to_differ(merge: Merge) -> None:
    merge.given("a.jsonl", '{"a":{},"b":[],"c":null}\n' * 2)

    told = [str(each) for each in merge.plan().conflicts if each.column == "a"]

    assert told == ['Column "a" is struct<> in a.jsonl: taken as string.']


# What hardly anybody cuts columns by

_PEOPLE = ["name{0}city{0}land", "Ann{0}Rome{0}Italy", "Bob Roe{0}Ulm{0}", "Cleo{0}{0}Austria"]


def cut_by(delimiter: str) -> str:
    return "".join(f"{line.format(delimiter)}\n" for line in _PEOPLE)


@pytest.mark.parametrize("delimiter", [*"@#&*%$!", "~|~", " | ", "^,^", " ; "])
def test_an_unusual_delimiter_is_found_and_told(merge: Merge, delimiter: str) -> None:
    rows, warnings = read(merge, cut_by(delimiter))

    assert rows[0] == {"name": "Ann", "city": "Rome", "land": "Italy"}
    assert (rows[1]["name"], rows[1]["land"], rows[2]["city"]) == ("Bob Roe", None, None)
    assert warnings == [f'a.csv: its delimiter is "{delimiter}".']


@pytest.mark.parametrize("delimiter", [*"/-+=.¦§·•"])
def test_what_may_cut_lines_of_one_column_is_told(merge: Merge, delimiter: str) -> None:
    rows, warnings = read(merge, cut_by(delimiter))

    assert len(rows[0]) == 1
    told = f'each of its lines has as many "{delimiter}" as the first; delimiter:"{delimiter}" reads them as columns'
    assert warnings == [f"a.csv: {told}."]


@pytest.mark.parametrize(
    "text", ["email\nann@a.org\nbob@b.org\n", "2024-01-01\n2024-01-02\n2024-01-03\n", "usr/lib\nusr/bin/x\netc\n"]
)
def test_one_column_with_signs_in_its_values_is_told_of_no_delimiter(merge: Merge, text: str) -> None:
    rows, warnings = read(merge, text)

    assert len(rows[0]) == 1
    assert not any("delimiter" in each for each in warnings)


@pytest.mark.parametrize("end", [*"\x1e\x0b\x0c\x85\u2028"])
def test_a_file_of_one_line_with_what_else_may_end_lines_is_told(merge: Merge, end: str) -> None:
    _, warnings = read(merge, f"id,name{end}1,Ann{end}2,Bob")

    assert any(f"all of it is one line, in which U+{ord(end):04X} stands" in each for each in warnings)


@pytest.mark.parametrize("page", ["<!DOCTYPE html>\n<html>404</html>\n", '<?xml version="1.0"?>\n<a>\n</a>\n'])
def test_a_page_of_the_web_called_csv_is_told(merge: Merge, page: str) -> None:
    _, warnings = read(merge, page)

    assert "a.csv: it begins as a page of the web or XML does, and its lines are read as records." in warnings


def test_lines_that_seem_to_have_fields_of_fixed_width_are_told_with_what_reads_them(merge: Merge) -> None:
    text = "id   name      city\n1    Ann Roe   Rome\n2    Bob       Ulm\n30   Cleo      Graz\n"
    _, warnings = read(merge, text)
    assert warnings == ['a.csv: its lines seem to have fields of fixed width; widths:"5,10,4" reads them as columns.']

    rows, _ = read(merge, text, widths=(5, 10, 4))
    assert rows[0] == {"id": 1, "name": "Ann Roe", "city": "Rome"}


def test_colons_in_a_title_and_in_all_records_do_not_cut_what_commas_cut(merge: Merge) -> None:
    records = "".join(f"{n},08:{n}:00,http://a/{n},x\n" for n in range(10, 20))
    rows, warnings = read(merge, f"Created: today; by: Ann\nid,time,url,note\n{records}")

    assert list(rows[0]) == ["id", "time", "url", "note"]
    assert any("and skipped" in each for each in warnings)


@pytest.mark.parametrize("header", ["", "url\n"])
def test_addresses_of_the_web_are_one_column(merge: Merge, header: str) -> None:
    rows, _ = read(merge, header + "http://a.org/1?b=2\nhttps://a.org/2\nhttp://a.org/3\nhttp://a.org/4\n")

    assert [list(row.values()) for row in rows][:2] == [["http://a.org/1?b=2"], ["https://a.org/2"]]


@pytest.mark.parametrize("delimiter", [*";\t|^~\x01"])
def test_commas_in_numbers_cut_nothing_beside_a_delimiter_that_all_lines_have(merge: Merge, delimiter: str) -> None:
    records = [("Ann", "1,5", "2,5", "x"), ("Bob", "3,5", "4,5", "y"), ("Cleo", "5,5", "6,5", "z")]
    rows, _ = read(merge, "".join(f"{delimiter.join(each)}\n" for each in records))

    assert [tuple(row.values()) for row in rows] == records


@pytest.mark.parametrize("delimiter", [*"^~\x01"])
def test_rare_delimiters_below_a_title_are_found_though_there_are_two_columns(merge: Merge, delimiter: str) -> None:
    rows, warnings = read(merge, f"Report of things\nid{delimiter}name\n1{delimiter}Ann\n2{delimiter}Bob\n")

    assert rows == [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}]
    assert any('skipped: "Report of things"' in each for each in warnings)


def test_commas_between_words_do_not_cut_what_a_rare_delimiter_cuts_from_the_header_on(merge: Merge) -> None:
    rows, _ = read(merge, "Report of things\nid~name~city\n1~Ann, Bob~Rome\n2~Cleo, Dan~Ulm\n3~Eve, Fay~Graz\n")

    assert rows[0] == {"id": 1, "name": "Ann, Bob", "city": "Rome"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,name\n1,Ann\n2,'O''Brien'\n3,Bob\n4,'D''Arc, Joan'\n", "its quotes are ' rather than \"."),
        ("id,name\n1,Ann\n2,'O\\'Brien'\n3,Bob\n4,'D\\'Arc, Joan'\n", "a backslash stands before those that are text."),
    ],
)
def test_single_quotes_with_such_quotes_inside_are_quotes(merge: Merge, text: str, said: str) -> None:
    rows, warnings = read(merge, text)

    assert [row["name"] for row in rows] == ["Ann", "O'Brien", "Bob", "D'Arc, Joan"]
    assert len(warnings) == 1
    assert warnings[0].endswith(said)


def test_single_quotes_inside_double_ones_are_text(merge: Merge) -> None:
    rows, _ = read(merge, "id,name\n1,\"'O''Brien'\"\n2,Bob\n3,\"Cleo\"\n")

    assert rows[0]["name"] == "'O''Brien'"


@pytest.mark.parametrize("between", ["||", "| "])
def test_other_quotes_and_another_delimiter_are_found_together(merge: Merge, between: str) -> None:
    lines = [("id", "name"), ("1", "'O''Brien'"), ("2", "Bob"), ("3", "'D''Arc'")]
    rows, warnings = read(merge, "".join(f"{between.join(each)}\n" for each in lines))

    assert rows == [{"id": 1, "name": "O'Brien"}, {"id": 2, "name": "Bob"}, {"id": 3, "name": "D'Arc"}]
    assert len(warnings) == 2


def test_lines_inside_single_quotes_make_all_records_as_long_as_the_header(merge: Merge) -> None:
    rows, _ = read(merge, "id,note,n\n1,'a\nb',2\n2,'c\nd',3\n3,'e\nf',4\n")

    assert rows[0] == {"id": 1, "note": "a\nb", "n": 2}


def test_a_last_line_that_is_no_record_turns_no_quotes_off(merge: Merge) -> None:
    records = "".join(f'{n}^"it\'s\n{n}"^"x\ny"\n' for n in range(10))
    rows, warnings = read(merge, f"id^note^more\n{records}made by me\n")

    assert (len(rows), rows[3]) == (10, {"id": 3, "note": "it's\n3", "more": "x\ny"})
    assert warnings[-1] == "a.csv: 1 record is in the quarantine: 1 field instead of 3."


def test_a_first_line_with_delimiters_that_the_others_lack_is_told(merge: Merge) -> None:
    _, warnings = read(merge, "id;name;city\nlorem ipsum\ndolor\nsit amet\n")

    assert 'a.csv: its first line has 2 ";", others have not; delimiter:";" cuts it.' in warnings


def test_spaces_behind_tabs_are_no_part_of_the_values(merge: Merge) -> None:
    rows, _ = read(merge, "id\t name\t city\n1\t Ann\t Rome\n2\t Bob\t Ulm\n")

    assert rows[0] == {"id": 1, "name": "Ann", "city": "Rome"}


def test_an_empty_text_in_quotes_behind_all_records_is_no_name_of_a_row(merge: Merge) -> None:
    rows, warnings = read(merge, '"id","name"\n"1","Ann",""\n"2","Bob",""\n"3","Cleo",""\n')

    assert rows[0] == {"id": 1, "name": "Ann", "col_2": ""}
    assert len(warnings) == 1
