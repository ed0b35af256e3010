"""Names that clash, and names that are odd."""

from __future__ import annotations

import pyarrow as pa
import pytest

from mason.pipeline.jobs.explode.shape import Form, flat_tables, folder_name
from tests.explode.conftest import Explode


def test_a_column_keeps_its_name_and_the_field_of_a_struct_gets_a_number(explode: Explode) -> None:
    explode.given([{"a": {"b": 1, "b_2": 2}, "a_b": "own"}])
    plan = explode.plan()

    assert explode.tables() == {"orders": [{"a_b_2": 1, "a_b_2_2": 2, "a_b": "own"}]}
    assert list(plan.warnings) == [
        'Table "orders" has two columns "a_b": one of them is called "a_b_2".',
        'Table "orders" has two columns "a_b_2": one of them is called "a_b_2_2".',
    ]


def test_names_that_differ_only_in_case_clash_too(explode: Explode) -> None:
    explode.given([{"a": {"City": 1, "city": 2}, "A_CITY": 3}])

    assert explode.tables() == {"orders": [{"a_City_2": 1, "a_city_3": 2, "A_CITY": 3}]}


def test_what_is_made_gives_way_to_what_is_there(explode: Explode) -> None:
    explode.given([{"orders_id": "own", "l": [{"position": "own", "orders_id_2": "own"}], "l_count": "own"}])

    assert explode.tables() == {
        "orders": [{"orders_id_3": 0, "orders_id": "own", "l_count_2": 1, "l_count": "own"}],
        "orders_l": [{"orders_id_3": 0, "position_2": 0, "position": "own", "orders_id_2": "own"}],
    }


def test_two_lists_that_would_be_the_same_table_are_two(explode: Explode) -> None:
    explode.given([{"a": {"b": [1]}, "a_b": ["x"]}])

    tables = explode.tables()

    assert list(tables) == ["orders", "orders_a_b", "orders_a_b_2"]
    assert [row["value"] for name in list(tables)[1:] for row in tables[name]] == [1, "x"]
    assert list(tables["orders"][0]) == ["orders_id", "a_b_count", "a_b_count_2"]


def test_names_with_dots_quotes_slashes_emoji_and_keywords(explode: Explode) -> None:
    names = ["select", "a.b", "q\"uo'te", "up/../down", "😀 smile", "", "k=v", "tab\tnew\nline", "%41", "."]
    explode.given([{name: {name: [{name: number}]} for number, name in enumerate(names)}])

    tables = explode.tables()

    assert list(tables)[1:] == [f"orders_{name}_{name}" for name in names]
    for number, name in enumerate(names):
        assert tables[f"orders_{name}_{name}"] == [{"orders_id": 0, "position": 0, name: number}]
    folders = [each.name for each in explode.output.iterdir() if each.name != ".mason"]
    assert len(folders) == len(names) + 1 and all("=" not in each for each in folders)
    assert sorted(each.name for each in explode.root.iterdir()) == [".mason", "orders", "out"]


def test_a_folder_is_never_hidden_nor_too_long_nor_the_same_for_two_names() -> None:
    assert folder_name("_x") == "%5Fx" and folder_name(".x") == "%2Ex" and folder_name("a=b/c") == "a%3Db%2Fc"
    long = [f"{'ä' * 150}{number}" for number in range(2)]
    assert len({folder_name(name) for name in long}) == 2
    assert all(len(folder_name(name).encode()) <= 200 for name in long)


def test_five_thousand_columns(explode: Explode) -> None:
    record = {f"c{number}": {"v": number, "t": str(number)} for number in range(2_500)}
    explode.given([record] * 3)

    (row, *_) = explode.tables()["orders"]

    assert len(row) == 5_000 and (row["c2499_v"], row["c2499_t"]) == (2_499, "2499")


@pytest.mark.parametrize("kind", ["lists", "structs", "both"])
def test_a_hundred_levels(explode: Explode, kind: str) -> None:
    deepest = 98  # and two more for the record itself and its column
    value: object = 1
    for level in range(deepest):
        is_list = kind == "lists" or (kind == "both" and level % 2)
        value = [value] if is_list else {"a": value}
    explode.given([{"x": value}])

    tables = explode.tables()

    lists = {"lists": deepest, "structs": 0, "both": deepest // 2}[kind]
    assert len(tables) == lists + 1
    *_, last = tables.values()
    (row,) = last
    assert list(row.values())[-1] == 1
    assert len(row) == (1 if kind == "structs" else lists + 2)


def test_the_form_of_a_job_comes_back_as_it_was() -> None:
    form = Form("t", ".", ("a",), {("a", None, "b"): pa.struct([("x", pa.list_(pa.int64()))])})

    assert Form.of(form.to_dict()) == form
    schema = pa.schema([("a", pa.list_(pa.struct([("b", pa.string())])))])
    assert [each.name for each in flat_tables(schema, form)] == ["t", "t.a", "t.a.b.x"]
