"""Nested records in several formats, and the flat tables that they must become, written out in full.

Nothing of what is expected here was computed by Mason: it is what a person reads in the files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.explode.conftest import read_table

RECORDS, QUARANTINED = 6, 1
MANY = 60_000

TYPES = {
    "orders": {
        "orders_id": "int64",
        "id": "int64",
        "customer_name": "string",
        "customer_address_city": "string",
        "items_count": "int32",
        "extra": "string",
        "extra_gift": "bool",
        "extra_notes_count": "int32",
        "labels_count": "int32",
    },
    "orders_items": {
        "orders_id": "int64",
        "position": "int32",
        "sku": "string",
        "price": "double",
        "sizes_count": "int32",
    },
    "orders_items_sizes": {
        "orders_id": "int64",
        "items_position": "int32",
        "position": "int32",
        "value_count": "int32",
    },
    "orders_items_sizes_value": {
        "orders_id": "int64",
        "items_position": "int32",
        "items_sizes_position": "int32",
        "position": "int32",
        "value": "int64",
    },
    "orders_extra_notes": {"orders_id": "int64", "position": "int32", "value": "string"},
    "orders_labels": {"orders_id": "int64", "position": "int32", "key": "string", "value": "int64"},
}

ROWS: dict[str, list[tuple[Any, ...]]] = {
    "orders": [
        (0, 1, "Ann", "Bern", 2, None, True, 2, None),
        (1, 2, None, None, 0, None, None, 0, None),
        (2, 3, None, None, None, "{broken", None, None, None),
        (3, 4, "Bo", None, 1, None, None, None, None),
        (4, 5, None, None, None, None, None, None, 2),
    ],
    "orders_items": [(0, 0, "a", 1.5, 3), (0, 1, "b", 2.0, None), (3, 0, None, None, None)],
    "orders_items_sizes": [(0, 0, 0, 2), (0, 0, 1, 0), (0, 0, 2, 1)],
    "orders_items_sizes_value": [(0, 0, 0, 0, 1), (0, 0, 0, 1, 2), (0, 0, 2, 0, 3)],
    "orders_extra_notes": [(0, 0, "soon"), (0, 1, "ü")],
    "orders_labels": [(4, 0, "x", 1), (4, 1, "y", None)],
}


def write_golden(folder: Path) -> None:
    folder.mkdir(parents=True)
    lines: list[Any] = [
        {
            "id": 1,
            "customer": {"name": "Ann", "address": {"city": "Bern"}},
            "items": [{"sku": "a", "price": 1.5, "sizes": [[1, 2], [], [3]]}, {"sku": "b", "price": 2}],
            "extra": '{"gift": true, "notes": ["soon", "ü"]}',
        },
        {"id": 2, "customer": None, "items": [], "extra": '{"notes": []}'},
        {"id": 3, "customer": {}, "items": None, "extra": "{broken"},
        ["no", "object"],
        {"id": 4, "customer": {"name": "Bo", "address": None}, "items": [None], "extra": '{"gift": null}'},
    ]
    (folder / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    labels = pa.array([[("x", 1), ("y", None)]], pa.map_(pa.string(), pa.int64()))
    pq.write_table(pa.table({"id": [5], "labels": labels}), folder / "b.parquet")


def check_golden(output: Path) -> None:
    for name, types in TYPES.items():
        table = read_table(output / name)
        assert {field.name: str(field.type) for field in table.schema} == types, name
        assert [tuple(row.values()) for row in table.to_pylist()] == ROWS[name], name
    assert sorted(each.name for each in output.glob("[!.]*")) == sorted(TYPES)


def write_many(folder: Path) -> None:
    """Write enough for several tasks; the record with the number n has n % 4 elements, each n times its place."""
    folder.mkdir(parents=True)
    padding = "x" * 200
    lines = [
        json.dumps({"n": number, "pad": padding, "l": [number * place for place in range(number % 4)]})
        for number in range(MANY)
    ]
    (folder / "many.jsonl").write_text("\n".join(lines))
    (folder / "more.jsonl").write_text(json.dumps({"n": MANY, "l": [7]}))


def check_many(output: Path) -> None:
    main, child = read_table(output / "many"), read_table(output / "many_l")
    assert main["many_id"].to_pylist() == main["n"].to_pylist() == list(range(MANY + 1))
    assert len(child) == sum(number % 4 for number in range(MANY)) + 1
    expected = pc.multiply(child["many_id"], child["position"].cast(pa.int64()))
    assert pc.equal(child["value"], expected).to_pylist()[:-1] == [True] * (len(child) - 1)
    assert child.to_pylist()[-1] == {"many_id": MANY, "position": 0, "value": 7}
