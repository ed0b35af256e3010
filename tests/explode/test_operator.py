"""`table explode` as a user has it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.test_terminal import on_a_terminal
from tests.conftest import Mason, write
from tests.explode.golden import ROWS, TYPES, check_golden, write_golden

HERE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\n"


@pytest.fixture
def shop(mason: Mason) -> Mason:
    write_golden(mason.folder / "shop" / "orders")
    write(mason.folder, {"here.yaml": HERE})
    assert mason("config", "here.yaml").exit_code == 0
    return mason.register_examples()


def explode(mason: Mason, parameters: str, *options: str) -> dict[str, Any]:
    result = mason("operator", "table", "explode", *options, "-p", parameters)
    assert result.exit_code == 0, result.stderr
    *_, data = result.json["Data"]  # a plan tells of the operator before
    return data


def test_without_an_output_the_tables_are_shown_and_nothing_is_written(shop: Mason) -> None:
    before = sorted(shop.folder.rglob("*"))

    shown = explode(shop, "path:shop/orders")

    assert {table["Name"]: len(table["Rows"]) for table in shown["Tables"]} == {
        name: len(rows) for name, rows in ROWS.items()
    }
    assert [each["Name"] for each in shown["Tables"][1]["Columns"]] == list(TYPES["orders_items"])
    assert sorted(shop.folder.rglob("*")) == before
    (few,) = [table for table in explode(shop, "path:shop/orders,limit:1")["Tables"] if table["Name"] == "orders"]
    assert few["Rows"] == [dict(zip(TYPES["orders"], ROWS["orders"][0], strict=True))]


def test_rows_far_behind_the_first_are_shown_as_they_are(shop: Mason) -> None:
    lines = ['{"a": {"b": 1}, "t": "{\\"x\\": 1}"}'] * 1_500 + ['{"a": {"b": "x"}, "t": "{\\"l\\": [2.5]}"}']
    write(shop.folder, {"far.jsonl": "\n".join(lines)})

    (main, child) = explode(shop, "path:far.jsonl,limit:2000")["Tables"]

    assert len(main["Rows"]) == 1_501 and main["Rows"][-1]["a_b"] == "x"
    assert [row["value"] for row in child["Rows"]] == [2.5]


def test_a_plan_writes_nothing_and_names_the_tables(shop: Mason) -> None:
    planned = explode(shop, "path:shop/orders,output_path:flat", "--plan")

    assert [table["Name"] for table in planned["Tables"]] == list(TYPES)
    assert planned["Output"] == str(shop.folder / "flat") and not (shop.folder / "flat").exists()


def test_a_table_by_its_name_and_its_flat_tables_as_a_database(shop: Mason) -> None:
    written = explode(shop, f"database_name:{shop.folder}/shop,table_name:orders,output_path:flat")

    check_golden(shop.folder / "flat")
    assert (written["RowsIn"], written["RowsOut"], written["RowsQuarantined"]) == (6, 5, 1)
    listed = shop("operator", "table", "list", "-p", f"database_name:{shop.folder}/flat").json["Data"]
    assert [table["Name"] for table in listed] == sorted(TYPES)
    preview = shop("operator", "table", "preview", "-p", "path:flat/orders_labels").json["Data"][0]
    assert [tuple(row.values()) for row in preview["Rows"]] == ROWS["orders_labels"]
    merged = shop("operator", "table", "merge", "-p", "input_path:flat/orders_items,output_path:merged")
    assert merged.exit_code == 0, merged.stderr
    assert merged.json["Data"][0]["RowsOut"] == len(ROWS["orders_items"])


def test_a_terminal_shows_the_tables(shop: Mason) -> None:
    drawn = on_a_terminal(shop, "operator", "table", "explode", "-p", "path:shop/orders", NO_COLOR="1")
    assert "orders_items_sizes" in drawn and "items_position  position  value_count" in drawn

    told = on_a_terminal(shop, "operator", "table", "explode", "-p", "path:shop/orders,output_path:flat", NO_COLOR="1")
    assert "orders_items_sizes_value  3" in told


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("path:nowhere", "nowhere"),
        ("path:shop/orders,columns:item", 'There is no column "item". Did you mean "items"?'),
        ("path:shop/orders,output_path:shop", "lie one in the other"),
        ("columns:items", 'Which table? Give its "path"'),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(shop: Mason, parameters: str, message: str) -> None:
    result = shop("operator", "table", "explode", "-p", parameters)

    assert result.exit_code != 0 and message in result.stderr and "Traceback" not in result.stderr
