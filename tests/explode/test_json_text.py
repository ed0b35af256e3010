"""JSON in columns of text."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from mason.pipeline.jobs.explode.json_text import read_texts
from tests.explode.conftest import Explode

PEOPLE = pa.struct([("name", pa.string()), ("ages", pa.list_(pa.int64()))])


def test_json_text_is_taken_apart_and_what_is_broken_is_kept_and_told(explode: Explode) -> None:
    explode.given(
        [
            {"id": 1, "t": '{"a": {"b": 1}, "l": ["x", "y"]}'},
            {"id": 2, "t": '{"a": {"b": 2'},
            {"id": 3, "t": None},
            {"id": 4, "t": ' {"a": {"b": 4}, "l": []} '},
            {"id": 5, "t": '{"a": null}'},
        ]
    )

    result = explode.run()

    assert explode.table("orders").to_pylist() == [
        {"orders_id": 0, "id": 1, "t": None, "t_a_b": 1, "t_l_count": 2},
        {"orders_id": 1, "id": 2, "t": '{"a": {"b": 2', "t_a_b": None, "t_l_count": None},
        {"orders_id": 2, "id": 3, "t": None, "t_a_b": None, "t_l_count": None},
        {"orders_id": 3, "id": 4, "t": None, "t_a_b": 4, "t_l_count": 0},
        {"orders_id": 4, "id": 5, "t": None, "t_a_b": None, "t_l_count": None},
    ]
    assert explode.table("orders_t_l")["value"].to_pylist() == ["x", "y"]
    assert result.to_dict()["TextsKept"] == {"t": 1} and result.to_dict()["JsonTexts"] == ["t"]
    assert list(result.warnings) == ['In "t" 1 text is not a JSON object as the others are, and kept as text.']


def test_text_that_is_seldom_json_stays_text(explode: Explode) -> None:
    texts = ['{"a": 1}', "plain", "[1]", "5", '"x"', "null", "{}"]
    explode.given([{"t": text} for text in texts])

    assert [row["t"] for row in explode.tables()["orders"]] == texts


def test_what_is_json_but_neither_object_nor_list_stays_text_among_objects(explode: Explode) -> None:
    texts = ['{"a": 1}'] * 9 + ["null", "5", '"x"', "true", "[1]", "", '{"a": 1, "a": 2}', '{"a": NaN}{']
    explode.given([{"t": text} for text in texts])

    rows = explode.tables()["orders"]

    assert [row["t"] for row in rows] == [None] * 9 + texts[9:]
    assert [row["t_a"] for row in rows] == [1] * 9 + [None] * 8


def test_lists_in_text_are_a_table(explode: Explode) -> None:
    explode.given([{"t": "[1, 2]"}, {"t": "[]"}, {"t": None}, {"t": "[3]"}, {"t": '{"odd": 1}'}])

    tables = explode.tables()

    assert [(row["t"], row["t_count"]) for row in tables["orders"]] == [
        (None, 2),
        (None, 0),
        (None, None),
        (None, 1),
        ('{"odd": 1}', None),
    ]
    assert [row["value"] for row in tables["orders_t"]] == [1, 2, 3]


def test_json_text_inside_lists_of_structs_is_found_as_well(explode: Explode) -> None:
    explode.given([{"l": [{"t": '{"x": 1}'}, {"t": "{"}]}, {"l": [{"t": '{"x": 2, "y": ["z"]}'}]}])

    tables = explode.tables()

    assert [(row["t"], row["t_x"], row["t_y_count"]) for row in tables["orders_l"]] == [
        (None, 1, None),
        ("{", None, None),
        (None, 2, 1),
    ]
    assert tables["orders_l_t_y"] == [{"orders_id": 1, "l_position": 0, "position": 0, "value": "z"}]


def test_a_type_that_shows_beyond_the_sample_is_found(explode: Explode) -> None:
    texts = ['{"a": 1}'] * 3_000 + ['{"a": 1.5, "new": {"b": [true]}}', '{"a": 2}']
    explode.given([{"t": text} for text in texts])

    tables = explode.tables()

    assert tables["orders"][3_000] == {"orders_id": 3_000, "t": None, "t_a": 1.5, "t_new_b_count": 1}
    assert tables["orders_t_new_b"] == [{"orders_id": 3_000, "position": 0, "value": True}]


def test_rows_that_the_plan_has_not_looked_at_do_not_spoil_the_sample(explode: Explode) -> None:
    for number in range(40):  # of so many files the plan looks at less than the sample of texts is
        explode.given([{"s": {"t": '{"x": 1}'}, "l": [1]}], f"{number:02}.jsonl")
    explode.given([*[{"s": {"t": '{"x": 1}'}, "l": [1]}] * 700, {"s": "text", "l": {"odd": 1}}], "00.jsonl")

    rows = explode.tables()["orders"]

    assert (len(rows), rows[700]["s"], rows[700]["l"]) == (740, "text", '{"odd": 1}')


def test_json_in_a_column_that_is_not_named_stays_text(explode: Explode) -> None:
    explode.given([{"t": '{"a": 1}', "u": '{"b": 1}', "v": "plain"}])

    tables = explode.tables(columns=("u", "v"))

    assert tables == {"orders": [{"t": '{"a": 1}', "u": None, "u_b": 1, "v": "plain"}]}
    told = [each for each in explode.plan(columns=("u", "v")).warnings if "taken apart" in each]
    assert told == ['Column "v" has nothing to be taken apart: it stays as it is.']


def test_a_column_that_is_text_because_files_disagree_is_taken_apart(explode: Explode) -> None:
    explode.given([{"a": {"x": 1}}, {"a": {"x": 2}}, {"a": 3}])

    assert explode.tables()["orders"] == [{"a": None, "a_x": 1}, {"a": None, "a_x": 2}, {"a": "3", "a_x": None}]


def test_texts_in_csv_with_quotes_and_lines(explode: Explode) -> None:
    pretty = json.dumps({"a": 'he said "yes",\n twice', "n": 1}, indent=1)
    quoted = pretty.replace('"', '""')
    explode.given(f'id,t\n1,"{quoted}"\n2,"{{""a"": ""ü"", ""n"": 2}}"\n', "a.csv")

    assert explode.tables()["orders"] == [
        {"id": 1, "t": None, "t_a": 'he said "yes",\n twice', "t_n": 1},
        {"id": 2, "t": None, "t_a": "ü", "t_n": 2},
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "x"}, "v": {"name": "y"}',
        '{"name": "x"}, "w": 1',
        '{"name": "x"}} {"v": {"name": "y"}',
        '{"name": "x"}}\n{"v": {"name": "y"}',
        '{"name": "x\ny"}',
        '{"name": "x", "name": "y"}',
        '{"name": "\\ud800"}',
        '{"name": 1e999}',
        "{" * 200,
        '{"name": ["not", "text"]',
    ],
)
def test_no_text_gets_past_that_json_would_not_take(text: str) -> None:
    good = '{"name": "good", "ages": [1]}'

    found = read_texts(pa.array([good, text, None]), PEOPLE)

    assert found.kept.to_pylist() == [None, text, None]
    assert found.values.to_pylist() == [{"name": "good", "ages": [1]}, None, None]


def test_numbers_too_large_for_a_double_keep_their_digits(explode: Explode) -> None:
    explode.given([{"t": '{"n": 12345678901234567890123}'}, {"t": '{"n": 1}'}])

    assert [int(row["t_n"]) for row in explode.tables()["orders"]] == [12345678901234567890123, 1]
