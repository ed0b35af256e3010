"""Whether a first line is a header: where it cannot be known, the likelier reading is taken, and that is told."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow.fs as pafs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mason.engines.storage.models.infer_options import DelimitedOptions
from mason.errors import MasonError
from mason.pipeline.formats.delimited.headers import Header
from mason.pipeline.formats.delimited.headers_together import headers_to_change, strangers
from mason.pipeline.formats.delimited.reading import CsvReading
from mason.pipeline.formats.file_schema import FileSchema
from mason.pipeline.jobs.merge.outcome import TooManyBadRecords
from mason.pipeline.reading.inference import infer
from mason.pipeline.types.column_types import TEXT
from tests.merge.conftest import Merge

SETTLES = "parse_headers: true or false settles it."


def read(merge: Merge, files: Mapping[str, str], **options: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of some files, and all warnings."""
    for name, text in files.items():
        merge.given(name, text)
    result = merge.run(**options)
    return merge.table().to_pylist(), [*result.plan.warnings, *result.warnings]


# Headers that stand again among the records


@pytest.mark.parametrize(
    ("text", "first", "types"),
    [
        ("id,name\n1,a\n2,b\nid,name\n3,c\n", {"id": 1, "name": "a"}, {"id": "int64", "name": "string"}),
        ("name,city\nAnn,Rome\nBob,Ulm\nname,city\nCid,Graz\n", {"name": "Ann", "city": "Rome"}, {}),
        ("id\n1\n2\nid\n3\n", {"id": 1}, {"id": "int64"}),
        (",n,n\n0,1,2\n1,2,3\n,n,n\n2,4,5\n", {"col_0": 0, "n": 1, "n_2": 2}, {"n": "int64", "n_2": "int64"}),
        ("land,2023\nAT,1\nIT,2\nland,2023\nDE,3\n", {"land": "AT", "2023": 1}, {"2023": "int64"}),
    ],
)
def test_a_header_that_stands_again_in_the_file_is_no_record(
    merge: Merge, text: str, first: dict[str, Any], types: dict[str, str]
) -> None:
    rows, warnings = read(merge, {"a.csv": text}, names="number")

    assert (rows[0], len(rows)) == (first, 3)
    assert merge.types().items() >= types.items()
    (reject,) = merge.rejects()
    assert (reject.record, reject.reason, reject.raw) == (4, "it repeats the header", text.partition("\n")[0])
    assert [each for each in warnings if "more than one column" not in each] == [
        "a.csv: its header stands again as record 4: such records are set aside.",
        "a.csv: 1 record is in the quarantine: it repeats the header.",
    ]


def test_a_header_that_stands_again_beyond_the_sample_is_no_record_either(merge: Merge) -> None:
    lines = [f"{number},x" for number in range(3000)]
    lines[2500:2500] = ["id,name"]
    merge.given("a.csv", "\n".join(["id,name", *lines, ""]))

    result = merge.run(sample=100)

    assert (result.rows_in, result.rows_out, result.quarantined) == (3001, 3000, 1)
    assert merge.types() == {"id": "int64", "name": "string"}
    assert merge.rejects()[0].raw == "id,name"


def test_looking_for_headers_that_come_again_imports_no_pandas(merge: Merge) -> None:
    """It would take a merge of text a third of a second and 50 MB."""
    code = """
import sys
import pyarrow as pa
from mason.pipeline.formats.scanning.header_repeats import find_repeats
columns = [pa.nulls(2, pa.string()), pa.nulls(2, pa.string())]
assert find_repeats(columns, ["name", "Köln"]).tolist() == [], "null is not a name"
assert find_repeats(columns, ["", ""]).tolist() == [0, 1]
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_many_small_files_one_behind_the_other_are_not_refused_for_their_headers(merge: Merge) -> None:
    text = "".join(f"id,name\n{number},x\n" for number in range(30))
    rows, warnings = read(merge, {"a.csv": text})

    assert [row["id"] for row in rows] == list(range(30))
    assert warnings[-1] == "a.csv: 29 records are in the quarantine: it repeats the header."
    with pytest.raises(TooManyBadRecords):
        merge.run(most_bad_share=0)


def test_records_that_come_again_are_no_headers(merge: Merge) -> None:
    rows, warnings = read(merge, {"a.csv": "Ann,Rome\nBob,Ulm\nAnn,Rome\nBob,Ulm\n"})

    assert len(rows) == 4
    assert any(each.startswith('a.csv: its first line, "Ann,Rome", was taken for data') for each in warnings)


def test_a_value_that_is_its_column_s_name_stays_a_value(merge: Merge) -> None:
    codes = ["AT", "BE", "CH", "DE", "ES", "FR", "GB", "HU", "ID", "IT", "JP"]
    rows, _ = read(merge, {"a.csv": "\n".join(["ID", *codes, ""])}, parse_headers=True)

    assert [row["ID"] for row in rows] == codes


# Files of nothing but text


def test_two_tables_of_text_in_one_folder_keep_their_headers(merge: Merge) -> None:
    files = {"a.csv": "name,city\nAnn,Rome\nBob,Ulm\n", "b.csv": "product,colour\nsaw,red\naxe,blue\n"}
    rows, warnings = read(merge, files)

    assert len(rows) == 4
    assert set(rows[0]) == {"name", "city", "product", "colour"}
    assert warnings == ["a.csv has no column in common with b.csv: are they files of one table?"]


def test_first_records_that_share_a_value_are_no_headers(merge: Merge) -> None:
    files = {"a.csv": "Ann,DE\nBob,FR\n", "b.csv": "Cid,DE\nDee,IT\n"}
    rows, warnings = read(merge, files)

    assert [row["col_0"] for row in rows] == ["Ann", "Bob", "Cid", "Dee"]
    so = "was taken for data (so were those of b.csv), and could be the header"
    assert warnings == [f'a.csv: its first line, "Ann,DE", {so}; {SETTLES}']


def test_a_first_line_of_text_that_could_be_either_is_told(merge: Merge) -> None:
    rows, warnings = read(merge, {"a.csv": "Anna,Vienna\nBob,Graz\n"})

    assert rows == [{"Anna": "Bob", "Vienna": "Graz"}]
    assert warnings == [f'a.csv: its first line, "Anna,Vienna", was taken for the header, and could be data; {SETTLES}']
    found = infer(pafs.LocalFileSystem(), str(merge.root / "in"))
    assert list(found.warnings) == warnings


def test_many_files_in_doubt_are_one_warning(merge: Merge) -> None:
    files = {f"{number}.csv": f"Ann{'abcdefgh'[number]},Rome\nBob,Ulm\n" for number in range(8)}
    rows, warnings = read(merge, files)

    assert len(rows) == 16
    (told,) = warnings
    assert "(so were those of 1.csv, 2.csv, 3.csv and 4 more files)" in told


def test_files_that_begin_alike_and_go_on_differently_have_a_header(merge: Merge) -> None:
    moons = {"a": "Mars,Phobos", "b": "Earth,Luna", "c": "Pluto,Charon"}
    rows, warnings = read(merge, {f"{name}.csv": f"Planet,Moon\n{each}\n" for name, each in moons.items()})

    assert [tuple(row.values()) for row in rows] == [("Mars", "Phobos"), ("Earth", "Luna"), ("Pluto", "Charon")]
    assert warnings == []


def test_files_that_all_begin_with_the_same_records_tell_nothing(merge: Merge) -> None:
    _, warnings = read(merge, {"a.csv": "Anna,Rome\nBob,Ulm\n", "b.csv": "Anna,Rome\nBob,Ulm\nCid,Graz\n"})

    assert any('"Anna,Rome", was taken for the header (so were those of b.csv)' in each for each in warnings)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("name,city\nann,rome\n", 1),
        ("planet,moon\nMars,Phobos\nEarth,Luna\n", 2),
        ("first_name,homeTown\nann,rome\nbob,ulm\n", 2),
        ("Order Date,Customer\nMonday,Ann\n", 1),
        ("name,type,city\nAnn,x,Rome\nBob,y,Ulm\n", 2),
    ],
)
def test_names_of_columns_are_known_by_their_words_and_their_case(merge: Merge, text: str, count: int) -> None:
    rows, warnings = read(merge, {"a.csv": text})

    assert (list(rows[0]), len(rows)) == (text.partition("\n")[0].split(","), count)
    assert warnings == []


def test_a_name_that_is_a_value_once_is_a_name_in_doubt(merge: Merge) -> None:
    rows, warnings = read(merge, {"a.csv": "name,type,city\nAnn,x,Rome\nBob,type,Ulm\n"})

    assert [row["type"] for row in rows] == ["x", "type"]
    assert "was taken for the header, and could be data" in warnings[0]


# Cells that say little


@pytest.mark.parametrize("text", ["Ann,,\nBob,3,x\n", "Ann,,\nBob,Rome,x\nCid,Ulm,y\n", "Ann,NA,NA\nBob,3,4\n"])
def test_a_first_record_of_hardly_any_cells_is_data(merge: Merge, text: str) -> None:
    rows, warnings = read(merge, {"a.csv": text})

    assert rows[0]["col_0"] == "Ann"
    assert len(rows) == text.count("\n")
    assert "was taken for data, and could be the header" in warnings[0]


@pytest.mark.parametrize(
    "header",
    ["shop,2026-01-01,2026-01-02", "shop,1/22/20,1/23/20", "shop,01.02.2026,01.03.2026", "shop,2026-01,2026-02"],
)
def test_dates_above_numbers_are_names(merge: Merge, header: str) -> None:
    rows, warnings = read(merge, {"a.csv": f"{header}\nnorth,5,6\nsouth,7,\n"})

    assert [list(row.values()) for row in rows] == [["north", 5, 6], ["south", 7, None]]
    assert list(rows[0]) == header.split(",")
    assert warnings == []


@pytest.mark.parametrize("text", ["Ann,2026-01-01\nBob,2026-01-02\n", "Ann,2026-01-01\nBob,\n"])
def test_dates_above_dates_or_nothing_are_values(merge: Merge, text: str) -> None:
    assert len(read(merge, {"a.csv": text})[0]) == 2


# What a table tells


def test_files_that_begin_with_the_names_of_the_table_have_a_header(merge: Merge) -> None:
    read(merge, {"a.csv": "word,tongue\nsaw,en\naxe,en\n"}, parse_headers=True)
    (merge.root / "in" / "a.csv").unlink()
    rows, warnings = read(merge, {"b.csv": "word,tongue\nword,en\nWort,de\n"}, mode="append")

    assert rows[2:] == [{"word": "word", "tongue": "en"}, {"word": "Wort", "tongue": "de"}]
    assert warnings == []


def test_files_that_are_added_to_a_table_without_names_have_none(merge: Merge) -> None:
    read(merge, {"a.csv": "Ann,Rome\nBob,Ulm\n"}, parse_headers=False)
    rows, _ = read(merge, {"a.csv": "Cid,Graz\nDee,Linz\n"}, mode="append")

    assert [row["col_0"] for row in rows] == ["Ann", "Bob", "Cid", "Dee"]


# Records off by one, but for a broken one


@pytest.mark.parametrize(
    ("text", "names", "bad", "said"),
    [
        ("n,c\na,b,\nc,d,\ne\nf,g,\n", ["n", "c"], "e", "end with a delimiter"),
        ("n,c\na,b,\nc,d,\ne,f,x\nf,g,\n", ["n", "c"], "e,f,x", "end with a delimiter"),
        ("mpg,c\nM,2,6\nD,3,4\nTotal\nE,5,6\n", ["col_0", "mpg", "c"], "Total", "called col_0"),
        ("n,c,\na,b\nc,d\nx\ne,f\n", ["n", "c"], "x", "its header ends with a delimiter"),
        ("n,c,x\na,1\nb,2\nTotal\nd,4\n", ["n", "c", "x"], "Total", '"x" is null'),
        ("id||name\n1||a\n2||b\n3\n4||d\n", ["id", "name"], "3", 'its delimiter is "||"'),
        ("id, name, n\n1, Ann, 5\n2, Bob, 6\nend\n3, Cid, 7\n", ["id", "name", "n"], "end", "spaces behind"),
    ],
)
def test_one_broken_line_does_not_hide_how_the_others_are_written(
    merge: Merge, text: str, names: list[str], bad: str, said: str
) -> None:
    rows, warnings = read(merge, {"a.csv": text})

    assert (list(rows[0]), len(rows)) == (names, 3)
    assert [each.raw for each in merge.rejects()] == [bad]
    assert said in warnings[0]


def test_five_broken_lines_of_a_hundred_do_not_hide_how_the_others_are_written(merge: Merge) -> None:
    lines = [f"{number},x," if number % 20 else "?" for number in range(100)]
    rows, _ = read(merge, {"a.csv": "\n".join(["id,t", *lines, ""])})

    assert (list(rows[0]), len(rows), len(merge.rejects())) == (["id", "t"], 95, 5)


def test_what_is_cut_off_is_counted_by_file(merge: Merge) -> None:
    files = {"a.csv": "a,b\n1,2\n4,5,6\n7,8,\n9,8,7\n", "b.csv": "a,b\n1,2\n"}
    rows, warnings = read(merge, files, csv=DelimitedOptions(ragged="cut"))

    assert len(rows) == 5
    assert "a.csv: 2 records lost fields for which there is no column (ragged: cut)." in warnings
    assert not any(each.startswith("b.csv") for each in warnings)


@pytest.mark.parametrize(
    "text",
    [
        "week,1,2,3\nA,10,20,30\nB,11,21,31\n",
        ",2020,2021\na,5,6\nb,7,8\n",
        "name,2020-01-01,2020-02-01\nA,x,y\nB,z,w\n",
    ],
)
def test_a_series_of_numbers_or_dates_beside_a_label_is_taken_for_names_and_told(merge: Merge, text: str) -> None:
    merge.given("a.csv", text)

    plan = merge.plan()

    assert plan.schema.names[1:] == text.split("\n")[0].split(",")[1:]
    assert any("was taken for the header, and could be data" in each for each in plan.warnings)


def test_years_above_years_are_data_and_told(merge: Merge) -> None:
    merge.given("a.csv", "name,2020,2021\nA,2001,2002\nB,2003,2004\n")

    plan = merge.plan()

    assert any("was taken for data, and could be the header" in each for each in plan.warnings)


@pytest.mark.parametrize("text", ["Ann,12,5\nBob,3,4\n", "1,2,3\n4,5,6\n", "Ann,1\nBob,2\n"])
def test_first_rows_of_numbers_that_are_no_series_stay_data_without_a_word(merge: Merge, text: str) -> None:
    merge.given("a.csv", text)

    plan = merge.plan()

    assert plan.schema.names[0] == "col_0" and not [each for each in plan.warnings if "could be" in each]


def test_two_files_that_begin_with_the_same_record_are_told(merge: Merge) -> None:
    merge.given("mon.csv", "Smith,John\nDoe,Jane\n")
    merge.given("tue.csv", "Smith,John\nRay,Tim\n")

    assert any("Smith,John" in each and "could be data" in each for each in merge.plan().warnings)


def test_words_above_words_added_to_a_table_without_names_are_told(merge: Merge) -> None:
    merge.given("a.csv", "1,2\n3,4\n")
    merge.run()
    (merge.root / "in" / "a.csv").write_text("first_name,last_name\nAnn,Rome\nBob,Oslo\n", encoding="utf-8")

    plan = merge.plan(mode="append")

    assert any("first_name,last_name" in each and "could be the header" in each for each in plan.warnings)


def doubtful_files(count: int) -> dict[str, FileSchema]:
    """Files whose first records share one cell, and of which nothing is sure."""
    return {
        f"{number}.csv": FileSchema(
            format="csv",
            columns=dict.fromkeys(["common", *(f"a{number}_{column}" for column in range(5))], TEXT),
            csv=CsvReading(),
            guess=Header.DOUBTFUL,
        )
        for number in range(count)
    }


def test_thousands_of_files_in_doubt_are_held_against_each_other_in_no_time() -> None:
    files = doubtful_files(3_000)
    apart = {name: replace(each, columns=dict(list(each.columns.items())[1:])) for name, each in files.items()}

    began = time.process_time()
    changes = headers_to_change(files)
    groups = strangers(apart)

    assert time.process_time() - began < 2  # all pairs took ten seconds and more
    assert set(changes.values()) == {Header.NONE_DOUBTFUL}
    assert len(groups) == 3_000
    assert strangers(files) == []


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5), max_size=8))
@settings(max_examples=200, deadline=None)
def test_headers_are_kin_if_they_share_more_than_half_of_the_cells(records: list[list[str]]) -> None:
    cells = {tuple(record): {("1",)} for record in records}
    files = {
        str(number): FileSchema(
            format="csv", columns=dict.fromkeys(record, TEXT), csv=CsvReading(), guess=Header.DOUBTFUL
        )
        for number, record in enumerate(dict.fromkeys(record for record in cells if len(set(record)) == len(record)))
    }
    firsts = {name: tuple(each.columns) for name, each in files.items()}

    changes = headers_to_change(files)

    for name, first in firsts.items():
        others = [set(each) for each in firsts.values() if each != first and len(each) == len(first)]
        kin = any(len(set(first) & other) * 2 > len(first) for other in others)
        assert (changes.get(name) is Header.DOUBTFUL) == kin


@given(st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=3), max_size=8))
@settings(max_examples=200, deadline=None)
def test_files_are_strangers_if_no_chain_of_columns_leads_from_one_to_the_other(columns: list[set[str]]) -> None:
    files = {
        str(number): FileSchema(format="csv", columns=dict.fromkeys(sorted(names), TEXT))
        for number, names in enumerate(columns)
    }

    wanted: list[tuple[set[str], set[str]]] = []
    for number, names in enumerate(columns):
        met = [each for each in wanted if each[0] & names]
        united = (names.union(*(each[0] for each in met)), {str(number)}.union(*(each[1] for each in met)))
        wanted = [each for each in wanted if each not in met] + [united]

    found = [set(group) for group in strangers(files)]

    assert sorted(found, key=sorted) == (sorted((each[1] for each in wanted), key=sorted) if len(wanted) > 1 else [])


def test_a_name_that_is_also_a_number_to_programs_is_a_name(merge: Merge) -> None:
    rows, warnings = read(merge, {"a.csv": "year,inf,nan\n1990,1.5,3\n1991,2.5,4\n"})

    assert (list(rows[0]), len(rows), warnings) == (["year", "inf", "nan"], 2, [])


def test_words_one_of_which_is_infinity_may_be_names(merge: Merge) -> None:
    rows, _ = read(merge, {"a.csv": "to,infinity,and,beyond\na,b,c,d\n"})

    assert list(rows[0]) == ["to", "infinity", "and", "beyond"]


@pytest.mark.parametrize("content", ["1,2\nb,3,4\n", "7,0.5\nb,0,1\n"])
def test_true_and_false_above_numbers_are_names(merge: Merge, content: str) -> None:
    rows, _ = read(merge, {"a.csv": f"label,True,False\na,{content}"})

    assert list(rows[0]) == ["label", "True", "False"]


def test_true_above_ones_and_noughts_is_a_value(merge: Merge) -> None:
    rows, _ = read(merge, {"a.csv": "Ann,true\nBob,1\nCleo,0\n"})

    assert len(rows) == 3


def test_dates_without_a_label_above_a_series_of_numbers_are_names_in_doubt(merge: Merge) -> None:
    rows, warnings = read(merge, {"a.csv": ",2024-01-01,2024-02-01\nRome,1,2\nOslo,4,5\n"})

    assert list(rows[0]) == ["col_0", "2024-01-01", "2024-02-01"]
    assert "was taken for the header, and could be data" in warnings[0]


def test_a_name_that_is_there_twice_among_usual_ones_hides_no_header(merge: Merge) -> None:
    with pytest.raises(MasonError, match='more than one column "name"'):
        read(merge, {"a.csv": "name,city,name\nAnn,Rome,Bob\nCleo,Ulm,Dan\n"})


def test_one_name_that_is_written_like_its_values_hides_no_header(merge: Merge) -> None:
    text = 'id,prop0,prop1,geo\n,value0,,"{""type"": 1}"\n,value0,0.0,"{""type"": 2}"\n,value0,{x},"{""type"": 3}"\n'
    rows, warnings = read(merge, {"a.csv": text})

    assert (list(rows[0]), len(rows)) == (["id", "prop0", "prop1", "geo"], 3)
    assert any("was taken for the header, and could be data" in each for each in warnings)


def test_a_header_behind_the_byte_order_mark_of_its_file_is_no_record(merge: Merge) -> None:
    rows, warnings = read(merge, {"a.csv": "\ufeffid,name\n1,a\n2,b\n\ufeffid,name\n3,c\n"})

    assert [row["id"] for row in rows] == [1, 2, 3]
    assert "a.csv: its header stands again as record 4: such records are set aside." in warnings


def test_a_header_behind_a_byte_order_mark_beyond_the_sample_is_no_record(merge: Merge) -> None:
    lines = "".join(f"{number},a{number}\n" for number in range(200_000))
    rows, _ = read(merge, {"a.csv": f"name,id\nx,1\n{lines}\ufeffname,id\ny,2\n"})

    assert len(rows) == 200_002


def test_a_byte_order_mark_that_is_there_twice_is_no_part_of_a_name(merge: Merge) -> None:
    rows, _ = read(merge, {"a.csv": "\ufeff\ufeffid,name\n1,a\n2,b\n"})

    assert rows[0] == {"id": 1, "name": "a"}


def test_a_series_that_pandas_wrote_has_a_header(merge: Merge) -> None:
    rows, _ = read(merge, {"a.csv": ",0\n0,269.0\n1,321.0\n2,585.0\n"})

    assert (len(rows), list(rows[0])) == (3, ["col_0", "0"])
