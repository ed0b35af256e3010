"""What stands before the records of a file is skipped, whatever it looks like, and told."""

from __future__ import annotations

from typing import Any

import pytest

from mason.engines.storage.models.infer_options import DelimitedOptions
from mason.errors import BadInput, MasonError
from tests.merge.conftest import Merge

BANK = """"Account:";"DE12 3456 7890";""
"From:";"01.01.2026";""
"To:";"31.01.2026";""
"Balance of 31.01.2026:";"1.234,56 EUR";""

"Booked";"Valid";"Kind";"Payee";"Purpose";"Amount";"Currency"
"02.01.2026";"02.01.2026";"Debit";"Gas AG";"January";"-20,00";"EUR"
"03.01.2026";"03.01.2026";"Credit";"Ann";"";"500,00";"EUR"
"""


def read(merge: Merge, text: str, **options: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a file, and all warnings."""
    merge.given("a.csv", text)
    result = merge.run(csv=DelimitedOptions(**options))
    return merge.table().to_pylist(), [*result.plan.warnings, *result.warnings]


@pytest.mark.parametrize(
    ("titles", "table"),
    [
        ("Report,Sales\nDate,2026-01-01\n\n", "id,name,price\n1,saw,5\n2,axe,6\n"),
        ("Report,Sales\nDate,2026-01-01\n\n", "id,name\n1,saw\n2,axe\n"),
        ("Report,Sales\nDate,2026-01-01\nBy,Ann\n\n", "name,city,note\nAnn,Rome,x\n"),
        ("Report,Sales\nDate,2026-01-01\nBy,Ann\n", "id,name,price\n1,saw,5\n"),
        ("Members\n", "name,city\nAnn,Rome\nBob,Ulm\n"),
        ("Members\n", "name;city\nAnn;Rome\nBob;Ulm\n"),
        ("Members,2026\n", "name,city,note\nAnn,Rome,x\nBob,Ulm,y\n"),
        ("Members\n\n", "planet\tmoon\nMars\tPhobos\nEarth\tLuna\n"),
    ],
)
def test_titles_in_fields_of_their_own_are_skipped(merge: Merge, titles: str, table: str) -> None:
    rows, warnings = read(merge, titles + table)

    delimiter = next(each for each in ",;\t" if each in table)
    names, *lines = (line.split(delimiter) for line in table.splitlines())
    assert [list(map(str, row.values())) for row in rows] == lines
    assert list(rows[0]) == names
    lines_skipped = titles.count("\n")
    which = "its first line is" if lines_skipped == 1 else f"its first {lines_skipped} lines are"
    assert warnings == [
        f'a.csv: {which} not a record of {len(names)} fields, and skipped: "{titles.partition(chr(10))[0]}".'
    ]


def test_a_short_export_of_a_bank_is_read_behind_the_lines_about_the_account(merge: Merge) -> None:
    rows, warnings = read(merge, BANK)

    assert [(row["Payee"], row["Amount"]) for row in rows] == [("Gas AG", "-20,00"), ("Ann", "500,00")]
    assert warnings[0].startswith("a.csv: its first 5 lines are not a record of 7 fields, and skipped")


@pytest.mark.parametrize(
    "text",
    ["id,name\n1,a\n\n2,b\n3,c\n", "id,name\n1,a\n\nid,price\n1,5\n2,6\n", "a,b\n1,2\n3,4\n\nx,y,z\nTotal,4,5\n"],
)
def test_records_before_a_blank_line_are_no_titles(merge: Merge, text: str) -> None:
    _, warnings = read(merge, text)

    assert not any("skipped" in each for each in warnings)


@pytest.mark.parametrize(
    "text",
    [
        "# made by x\n\nid,v\n1,2\n3,4\n",
        "# made by x\n# on Monday\n\n\nid,v\n1,2\n# between\n\n3,4\n",
        "\n# made by x\n\nid,v\n1,2\n3,4\n",
        "# made by x\nid,v\n1,2\n3,4\n# the end\n",
    ],
)
def test_blank_lines_behind_comments_are_no_header(merge: Merge, text: str) -> None:
    rows, warnings = read(merge, text, comment="#")

    assert rows == [{"id": 1, "v": 2}, {"id": 3, "v": 4}]
    assert warnings == []


@pytest.mark.parametrize(
    "text", ["# made by x\nReport\n\nid,v,w\n1,2,a\n3,4,b\n", "# x\n\nReport\n# y\nid,v,w\n1,2,a\n3,4,b\n"]
)
def test_titles_behind_comments_are_skipped(merge: Merge, text: str) -> None:
    rows, warnings = read(merge, text, comment="#")

    assert rows == [{"id": 1, "v": 2, "w": "a"}, {"id": 3, "v": 4, "w": "b"}]
    assert warnings == ['a.csv: its first 3 lines are not a record of 3 fields, and skipped: "Report".']


def test_a_column_of_numbers_behind_a_comment_and_a_blank_line(merge: Merge) -> None:
    assert read(merge, "# x\n\nid\n1\n\n2\n", comment="#")[0] == [{"id": 1}, {"id": None}, {"id": 2}]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('"a" "b"\n"1" 1 "x y"\n"2" 2 "z"\n', [["1", 1, "x y"], ["2", 2, "z"]]),
        ('"a" "b"\n"Ann" "x, y" "z"\n"Bob" "u, v" "w w"\n', [["Ann", "x, y", "z"], ["Bob", "u, v", "w w"]]),
        ("a b\nr1 1 x\nr2 2 z\n", [["r1", 1, "x"], ["r2", 2, "z"]]),
    ],
)
def test_tables_of_r_with_names_of_rows_are_read(merge: Merge, text: str, rows: list[list[Any]]) -> None:
    found, warnings = read(merge, text)

    assert [list(row) for row in found] == [["col_0", "a", "b"]] * 2
    assert [[str(cell) for cell in row.values()] for row in found] == [list(map(str, row)) for row in rows]
    assert "called col_0" in warnings[0]


def test_tables_of_r_without_names_of_rows_are_read(merge: Merge) -> None:
    rows, warnings = read(merge, '"a" "b"\n1 "x y"\n2 "z"\n')

    assert (rows, warnings) == ([{"a": 1, "b": "x y"}, {"a": 2, "b": "z"}], [])


def test_numbers_with_exponents_between_spaces_are_fields(merge: Merge) -> None:
    rows, warnings = read(merge, "0.0e+00 1.5e+00\n2.0e+00 1.7e+00\n4.0e+00 1.9e+00\n")

    assert [list(row.values()) for row in rows] == [
        ["0.0e+00", "1.5e+00"],
        ["2.0e+00", "1.7e+00"],
        ["4.0e+00", "1.9e+00"],
    ]
    assert warnings == []


def test_lines_of_words_are_one_column(merge: Merge) -> None:
    rows, _ = read(merge, "note\nthe sea is\nblue and big\nso it goes\n")

    assert [list(row.values()) for row in rows][-1] == ["so it goes"]


def test_files_with_one_header_may_have_different_quotes(merge: Merge) -> None:
    merge.given("a.csv", "id,name\n1,x\n2,y\n")
    merge.given("b.csv", "id,name\n3,'a, b'\n4,'c'\n")

    assert [row["name"] for row in merge.rows()] == ["x", "y", "a, b", "c"]


def test_the_line_of_excel_may_end_with_a_space(merge: Merge) -> None:
    rows, warnings = read(merge, "sep=; \nid;v\n1;2\n3;4\n")

    assert rows == [{"id": 1, "v": 2}, {"id": 3, "v": 4}]
    assert warnings == ['a.csv: its first line says "sep=;" and is not a record.']


@pytest.mark.parametrize("options", [{"escape": '"'}, {"comment": '"'}, {"quote": "#", "comment": "#"}])
def test_an_escape_that_is_the_quote_is_refused_with_what_to_do(merge: Merge, options: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="must differ.*leave escape out"):
        read(merge, "a,b\n1,2\n", **options)


def test_two_odd_quotes_of_many_records_do_not_turn_quoting_off(merge: Merge) -> None:
    lines = [f"{number},x,y" for number in range(300)]
    lines[50], lines[60], lines[250] = '50,"5 inch,y', '60,"6 inch,y', '250,"a, b",y'
    rows, warnings = read(merge, "\n".join(["id,v,w", *lines, ""]))

    assert next(row["v"] for row in rows if row["id"] == 250) == "a, b"
    assert [each.record for each in merge.rejects()] == [52, 62]
    assert not any("plain characters" in each for each in warnings)


@pytest.mark.parametrize(
    "text",
    [
        "home address\nMain 1\nHigh 22\nPark 3\n",
        "net weight\n5 kg\n6 kg\n5 kg\n",
        "temp\n20 C\n21 C\n22 C\n",
        "price\n5 €\n6 €\n7 €\n",
        "name\nHenry 8\nLouis 14\nJohn 23\n",
    ],
)
def test_words_and_numbers_with_a_space_between_them_are_one_column(merge: Merge, text: str) -> None:
    merge.given("a.csv", text)

    assert [list(row.values()) for row in merge.rows()] == [[line] for line in text.splitlines()[1:]]


@pytest.mark.parametrize("title", ["title\n\n", "title\n", "# a note\n"])
def test_single_quotes_below_a_title_are_quotes_though_no_field_needs_them(merge: Merge, title: str) -> None:
    rows, _ = read(merge, f"{title}'id','qty'\n'1','2'\n'3','4'\n")

    assert rows == [{"id": 1, "qty": 2}, {"id": 3, "qty": 4}]


@pytest.mark.parametrize("title", ["Report\n", "# x\n", "Report of x\n\n"])
@pytest.mark.parametrize(
    "table",
    [
        "id||name||v\n1||a||2\n2||c||3\n",
        "id||name||v\n1||a|b||2\n2||c||3\n",
        "id~name~v\n1~a~2\n2~c~3\n",
        "id name v\n1 a 2\n2 c 3\n",
    ],
)
def test_unusual_delimiters_below_a_title_are_found(merge: Merge, title: str, table: str) -> None:
    if " " in table and "of x" in title:
        title = "Report\n\n"
    rows, warnings = read(merge, title + table)

    second = "a|b" if "a|b" in table else "a"
    assert rows == [{"id": 1, "name": second, "v": 2}, {"id": 2, "name": "c", "v": 3}]
    assert any("skipped" in each for each in warnings)


def test_a_padded_title_above_two_columns_is_skipped(merge: Merge) -> None:
    rows, warnings = read(merge, "Sales,\nid,name\n1,a\n2,b\n")

    assert rows == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    assert warnings == ['a.csv: its first line is not a record of 2 fields, and skipped: "Sales,".']


def test_a_first_line_that_may_be_a_padded_title_is_told(merge: Merge) -> None:
    rows, warnings = read(merge, "Key,\nbolt,wide\nnut,5\ngear,7\n")

    assert rows[0] == {"Key": "bolt", "col_1": "wide"}
    assert warnings[0] == (
        'a.csv: its first line, "Key,", was taken for the header, and could be a title; skip_rows: 1 skips it.'
    )


@pytest.mark.parametrize(
    ("comments", "table"),
    [
        ("# made by tool, v2\n", "id,name\n1,Ann\n2,Bob\n"),
        ("# made by tool,v2\n", "id,name\n1,Ann\n2,Bob\n"),
        ("# exported: 2026-01-01, 10 rows\n# by: ann, bob\n", "id,name\n1,Ann\n2,Bob\n"),
    ],
)
def test_comments_with_as_many_fields_as_the_table_are_no_header(merge: Merge, comments: str, table: str) -> None:
    rows, warnings = read(merge, comments + table)

    assert rows == [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}]
    (told,) = warnings
    assert told.endswith(f'and skipped: "{comments.partition(chr(10))[0]}".')


def test_comments_among_the_records_are_told_with_what_leaves_them_out(merge: Merge) -> None:
    text = "# made by tool, v2\nid,name\n1,Ann\n# inside, yes\n2,Bob\n"

    rows, warnings = read(merge, text)

    assert list(rows[0]) == ["id", "name"]
    said = 'a.csv: lines among its records begin with # as well: comment:"#" leaves them out.'
    assert said in warnings
    assert [row["id"] for row in read(merge, text, comment="#")[0]] == [1, 2]


def test_a_header_that_begins_as_a_comment_does_is_a_header(merge: Merge) -> None:
    rows, _ = read(merge, "#id,name\n1,Ann\n2,Bob\n")

    assert rows[0] == {"#id": 1, "name": "Ann"}


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ('"";"79796"', ['"84.02";"74019"', '"298.95";"26865"']),
        ('"";"true";"false"', ['"x";"false";"true"', '"y";"true";"true"']),
        ('"";"5";"900"', ['"1.5";"3";"2"', '"2.5";"4";"7"']),
    ],
)
def test_a_record_of_values_behind_an_empty_text_is_no_header(merge: Merge, first: str, others: list[str]) -> None:
    rows, _ = read(merge, "\n".join([first, *others, ""]))

    assert len(rows) == len(others) + 1
    assert list(rows[0])[:2] == ["col_0", "col_1"]


@pytest.mark.parametrize(
    "header", ['"","2-9","10-19"', '"","1990","1991"', '"","1","2"', '"","0","30"', '"","a","b"', '"","mpg","cyl"']
)
def test_names_beside_the_names_of_rows_are_names(merge: Merge, header: str) -> None:
    rows, _ = read(merge, f'{header}\n"ann",5,6\n"bob",7,8\n')

    assert [list(row.values()) for row in rows] == [["ann", 5, 6], ["bob", 7, 8]]
    assert list(rows[0])[1:] == [each.strip('"') for each in header.split(",")[1:]]


def test_titles_below_the_line_of_excel_are_skipped_too(merge: Merge) -> None:
    rows, warnings = read(merge, "sep=;\nReport 2026\n\nid;name;v\n1;a;2\n2;b;3\n")

    assert rows == [{"id": 1, "name": "a", "v": 2}, {"id": 2, "name": "b", "v": 3}]
    assert warnings == [
        'a.csv: its first line says "sep=;" and is not a record.',
        'a.csv: the next 2 lines are not a record of 3 fields, and skipped: "Report 2026".',
    ]


@pytest.mark.parametrize("label", ["Total", "TOTAL:", "Grand total", "Summe", "итого"])
def test_a_last_record_that_sums_up_the_others_is_told(merge: Merge, label: str) -> None:
    text = f"id,name,v\n1,a,2.5\n2,b,3.5\n{label},,6.0\n"
    rows, warnings = read(merge, text)

    told = f'a.csv: its last record begins with "{label}" and may sum up the others; skip_footer:1 leaves it out.'
    assert (len(rows), warnings) == (3, [told])


def test_a_footer_that_is_left_out_is_not_told_of(merge: Merge) -> None:
    rows, warnings = read(merge, "id,name,v\n1,a,2.5\n2,b,3.5\nTotal,,6.0\n", skip_footer=1)

    assert ([each["id"] for each in rows], warnings) == ([1, 2], [])


@pytest.mark.parametrize(
    "text",
    [
        "name,v\nTotal,1\nElf,2\nShell,3\nTotal,4\n",
        "kind,v\nsum,1\ntotal,2\n",
        "name,v\na,1\nb,2\nTotally Bakery,3\n",
        "name,note\na,x\nb,y\ntotal,z\n",
    ],
    ids=["a name that comes again", "few records", "part of a name", "no amount"],
)
def test_a_last_record_that_may_be_one_of_them_is_not_told_of(merge: Merge, text: str) -> None:
    assert read(merge, text)[1] == []


# Records that may be none


@pytest.mark.parametrize("columns", [2, 4])
def test_empty_records_before_the_header_are_skipped_and_told(merge: Merge, columns: int) -> None:
    names, values = ["name", "city", "date", "price"][:columns], ["Ann", "Rome", "x", "y"][:columns]
    rows, warnings = read(merge, "," * (columns - 1) + "\n" + ",".join(names) + "\n" + ",".join(values) + "\n")

    assert rows == [dict(zip(names, values, strict=True))] or warnings[0].endswith("skip_rows: 1 skips it.")
    assert "a.csv" in warnings[0]


def test_an_empty_first_record_that_stays_one_is_told(merge: Merge) -> None:
    rows, warnings = read(merge, ",,\nmars,,\nearth,moon,\n")

    assert len(rows) == 3
    assert warnings == ["a.csv: all fields of its first record are empty; if that is not data, skip_rows: 1 skips it."]


@pytest.mark.parametrize("rule", ["--,----,-----", "----,----,----", "==,====,====="])
def test_a_line_that_underlines_the_header_is_no_record(merge: Merge, rule: str) -> None:
    rows, warnings = read(merge, f"id,name,price\n{rule}\n1,saw,5\n-2,--,6\n")

    assert rows == [{"id": 1, "name": "saw", "price": 5}, {"id": -2, "name": "--", "price": 6}]
    assert warnings == [f'a.csv: the line below its header, "{rule}", underlines it and is not a record.']


def test_a_record_that_lacks_all_values_underlines_nothing(merge: Merge) -> None:
    rows, warnings = read(merge, "name,city\n-,-\nAnn,Rome\n")

    assert (len(rows), warnings) == (2, [])


def test_a_second_line_of_the_header_is_told(merge: Merge) -> None:
    rows, warnings = read(merge, "name,city\n(name),(city)\nAnn,Rome\nBob,Ulm\n")

    assert len(rows) == 3
    assert warnings == [
        'a.csv: its record 2, "(name),(city)", looks like another line of the header, and is read as a record.'
    ]


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ("id,name,price\n(no),(text),(EUR)\n1,saw,5\n2,axe,6\n", '2, "(no),(text),(EUR)"'),
        ("Thing,,Price,\nid,name,net,gross\n1,saw,5,6\n2,axe,6,7\n", '2, "id,name,net,gross"'),
        ("Thing,,Price,\n,,,EUR\nid,name,net,gross\n1,saw,5,6\n2,axe,6,7\n", '3, "id,name,net,gross"'),
    ],
)
def test_lines_of_names_below_the_header_and_above_numbers_are_told(merge: Merge, text: str, record: str) -> None:
    rows, warnings = read(merge, text)

    assert len(rows) == text.count("\n") - 1
    assert warnings == [f"a.csv: its record {record}, looks like another line of the header, and is read as a record."]


def test_a_header_below_a_title_that_was_taken_for_data_is_told(merge: Merge) -> None:
    _, warnings = read(merge, "People, 2026\nname,city\nAnn,Rome\nBob,Ulm\n")

    assert warnings == ['a.csv: its record 2, "name,city", looks like a header, and is read as a record.']


@pytest.mark.parametrize(
    "text", ["name,age\nAnn,n/a\nBob,5\nCleo,6\n", "name,city\nAnn,Rome\nBob,Ulm\n", "1,Ann\n2,name\n3,id\n4,name\n"]
)
def test_records_without_numbers_are_not_taken_for_headers(merge: Merge, text: str) -> None:
    _, warnings = read(merge, text)

    assert not any("looks like" in each for each in warnings)


def test_another_header_in_files_that_were_put_together_is_told(merge: Merge) -> None:
    rows, warnings = read(merge, "id,name,age\n1,Ann,5\n2,Bob,6\nname,id,age\nCleo,3,7\nDan,4,8\n")

    assert len(rows) == 5
    assert warnings == [
        'a.csv: its record 4, "name,id,age", looks like the header of another table, and is read as a record.'
    ]


def test_records_above_the_header_of_a_file_that_was_put_behind_another_are_no_titles(merge: Merge) -> None:
    merge.given("a.csv", "id,name\n1,Ann\n2,Bob\nid,name,age\n3,Cleo,7\n4,Dan,8\n")

    with pytest.raises(MasonError, match="3 of 5 records do not fit"):
        merge.run()
    merge.run(most_bad_share=1.0)

    assert [row["name"] for row in merge.table().to_pylist()] == ["Ann", "Bob"]
    assert [each.raw for each in merge.rejects()] == ["id,name,age", "3,Cleo,7", "4,Dan,8"]


def test_a_remark_behind_the_records_is_told(merge: Merge) -> None:
    rows, warnings = read(merge, "name,city,note\nAnn,Rome,x\nBob,Ulm,\nCleo,Graz,y\nEnd of report,,\n")

    assert len(rows) == 4
    assert warnings == ['a.csv: its last record says "End of report" and nothing else; skip_footer:1 leaves it out.']


def test_a_last_record_with_few_values_among_others_like_it_is_no_remark(merge: Merge) -> None:
    _, warnings = read(merge, "name,city,note\nAnn,,\nBob,Ulm,\nCleo,Graz,y\nDan,,\n")

    assert warnings == []


def test_a_comment_above_one_column_is_told(merge: Merge) -> None:
    _, warnings = read(merge, "# made by me\ncode\nA-081\nB-440\nA-640\n")

    assert 'a.csv: its first line begins with #, and is read; comment:"#" leaves it out.' in warnings


def test_a_header_that_may_stand_again_in_one_column_of_text_is_told(merge: Merge) -> None:
    _, warnings = read(merge, "city\nRome\nUlm\ncity\nGraz\n")
    assert warnings == [
        'a.csv: its first line, "city", was taken for data, and could be the header; '
        "parse_headers: true or false settles it."
    ]

    result = merge.run(parse_headers=True)
    assert result.plan.warnings == [
        "a.csv: its header stands again as record 4: of one column of text it may be a value, and is read."
    ]
