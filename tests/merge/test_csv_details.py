"""Small things about delimited text: numbers of records, words for null in quotes, names of rows, odd spellings."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from mason.engines.storage.models.infer_options import DelimitedOptions, InferOptions
from mason.pipeline.reading.inference import infer
from tests.merge.conftest import LOCAL, Merge


def test_two_wide_lines_make_no_titles_of_many_narrow_ones(merge: Merge) -> None:
    narrow = "".join(f"w{number},n{number}\n" for number in range(41))
    merge.given("a.csv", f"{narrow}x,y,z\n1,2,3\n")

    result = merge.run(parse_headers=False)

    assert (result.rows_out, result.quarantined) == (41, 2)


@pytest.mark.parametrize(
    "text",
    [
        "id,v\n1,5\n2,6\n\n3,7\n4,x,y\n5,8\n",
        "\n\nid,v\n1,5\n\n\n2,6,7\n5,8\n6,9\n",
        "1,5\n2,6\n\n3,7\n4,x,y\n5,8\n",
        "\n\n1,5\n2,6\n\n3,7\n4,x,y\n5,8\n",
        "Report of sales\n\nid,v\n1,5\n\n2,6\n4,x,y\n5,8\n6,9\n7,9\n",
        'id,v\n1,"5"\n2,"6" inch\n\n3,7\n4,"x",y\n5,8\n6,9\n7,9\n',
    ],
)
def test_a_warning_and_the_quarantine_number_a_record_alike(merge: Merge, text: str) -> None:
    merge.given("a.csv", text)

    result = merge.run(most_bad_share=1.0)

    told = next(each for each in result.plan.warnings if "fields instead of 2" in each)
    found = re.search(r"record ([0-9]+) has", told)
    ragged = next(each for each in merge.rejects() if "fields instead" in each.reason)
    assert found
    assert int(found[1]) == ragged.record


def test_the_record_of_an_odd_value_is_counted_over_blank_lines_and_broken_records(merge: Merge) -> None:
    lines = [f"{number},{number}" for number in range(1, 40)]
    text = "\n".join(["id,v", *lines[:10], "", '11,"1" x', "", *lines[10:], "40,abc", ""])
    merge.given("a.csv", text)

    (told,) = (each for each in merge.plan().warnings if "is text for" in each)

    assert f'"abc" in record {text.splitlines().index("40,abc") + 1}:' in told


def test_a_word_for_null_is_null_in_quotes_where_all_fields_are_in_quotes(merge: Merge) -> None:
    rows = [f'"{number}","{number}"' for number in range(20)]
    merge.given("a.csv", "\n".join(['"id","v"', *rows, '"20","n/a"', '"21",""', ""]))

    plan = merge.plan(nulls=["n/a", '""'])
    merge.run_plan(plan)

    assert str(plan.schema.field("v").type) == merge.types()["v"] == "int64"
    assert merge.table()["v"].to_pylist()[-2:] == [None, None]


@pytest.mark.parametrize("quoted", ['"n/a"', '"a ""b"" c"\n23,"n/a"'])
def test_a_word_for_null_is_text_in_quotes_where_others_have_none_and_the_plan_knows_it(
    merge: Merge, quoted: str
) -> None:
    rows = [f"{number},{number}" for number in range(20)]
    merge.given("a.csv", "\n".join(["id,v", *rows, "20,n/a", f"21,{quoted}", ""]))

    plan = merge.plan(nulls=["n/a"])
    merge.run_plan(plan)

    assert str(plan.schema.field("v").type) == merge.types()["v"] == "string"
    assert merge.table()["v"].to_pylist()[20] is None
    assert merge.table()["v"].to_pylist()[-1] == "n/a"


def test_a_word_for_null_that_stands_in_quotes_is_told_as_that(merge: Merge) -> None:
    rows = [f"{number},{number}" for number in range(20)]
    merge.given("a.csv", "\n".join(["id,v", *rows, '21,"n/a"', ""]))

    assert merge.plan(nulls=["n/a"]).warnings == [
        'a.csv: column "v" is text for "n/a" in quotes in record 22: the others are int64.'
    ]


def test_a_column_that_is_called_like_a_word_for_null_keeps_its_name(merge: Merge) -> None:
    merge.given("a.csv", '"id","NA"\n"1","5"\n"2","NA"\n')

    assert merge.rows(nulls=["NA"]) == [{"id": 1, "NA": 5}, {"id": 2, "NA": None}]


@pytest.mark.parametrize("rows", ['"1","5"\n', '"1",5\n"2",6\n', '"a","5"\n"b","6"\n"c","7"\n'])
def test_names_of_rows_stand_before_one_column_of_r_too(merge: Merge, rows: str) -> None:
    merge.given("a.csv", f'"x"\n{rows}')

    found = merge.rows()

    assert list(found[0]) == ["col_0", "x"]
    assert len(found) == rows.count("\n")
    assert "the first column, which has no name, is called col_0" in merge.plan().warnings[0]


def test_values_in_single_quotes_below_a_header_without_are_told(merge: Merge) -> None:
    merge.given("a.csv", "id,name\n1,'Ann'\n2,'Bob'\n3,\n")

    told = """a.csv: column "name" has values in ' quotes, which are part of them (quote:"'" takes them off)."""
    assert merge.plan().warnings == [told]
    assert told in infer(LOCAL, str(merge.root / "in"), InferOptions()).warnings
    assert merge.rows(csv=DelimitedOptions(quote="'"))[0] == {"id": 1, "name": "Ann"}
    assert merge.plan(csv=DelimitedOptions(quote="'")).warnings == []


def test_a_minus_before_zero_that_a_decimal_does_not_keep_is_told(merge: Merge) -> None:
    merge.given("a.csv", "id,v\n1,-0.00\n2,1.50\n")

    assert merge.rows()[0] == {"id": 1, "v": Decimal("0.00")}
    assert merge.plan().warnings == [
        'a.csv: column "v" has -0.0, which is 0.0 in a decimal (the type double keeps the sign).'
    ]
    assert merge.plan(schema="v double").warnings == []
    assert str(merge.rows(schema="v double")[0]["v"]) == "-0.0"
