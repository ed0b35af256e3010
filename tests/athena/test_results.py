"""What Athena sends as text comes back in its type, and what it cannot say is known from the catalog."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from mason.clients.athena.results import to_table
from mason.errors import ClientFailed
from mason.pipeline.sql.query import BadQuery


def column(name: str, kind: str, precision: int = 0, scale: int = 0) -> dict[str, Any]:
    return {"Name": name, "Type": kind, "Precision": precision, "Scale": scale, "Nullable": "UNKNOWN"}


@pytest.mark.parametrize(
    ("told", "text", "kind", "value"),
    [
        (column("c", "boolean"), "true", pa.bool_(), True),
        (column("c", "tinyint"), "-128", pa.int8(), -128),
        (column("c", "smallint"), "7", pa.int16(), 7),
        (column("c", "integer"), "2147483647", pa.int32(), 2**31 - 1),
        (column("c", "bigint"), "-9223372036854775808", pa.int64(), -(2**63)),
        (column("c", "float"), "0.25", pa.float32(), 0.25),
        (column("c", "double"), "1.0E-5", pa.float64(), 1e-5),
        (column("c", "double"), "Infinity", pa.float64(), math.inf),
        (column("c", "decimal", 38, 10), "-1.0000000001", pa.decimal128(38, 10), Decimal("-1.0000000001")),
        (column("c", "varchar"), "", pa.string(), ""),
        (column("c", "json"), "{}", pa.string(), "{}"),
        (column("c", "date"), "2026-02-28", pa.date32(), date(2026, 2, 28)),
        (
            column("c", "timestamp"),
            "2026-01-01 10:20:30.250",
            pa.timestamp("us"),
            datetime(2026, 1, 1, 10, 20, 30, 250_000),
        ),
        (
            column("c", "timestamp with time zone"),
            "2026-01-01 10:00:00.000 Europe/Berlin",
            pa.timestamp("us", "UTC"),
            datetime(2026, 1, 1, 9, tzinfo=UTC),
        ),
        (
            column("c", "timestamp with time zone"),
            "2026-01-01 10:00:00.000 +05:30",
            pa.timestamp("us", "UTC"),
            datetime(2026, 1, 1, 4, 30, tzinfo=UTC),
        ),
        (
            column("c", "timestamp with time zone"),
            "2026-01-01 10:00:00.000 UTC",
            pa.timestamp("us", "UTC"),
            datetime(2026, 1, 1, 10, tzinfo=UTC),
        ),
        (column("c", "varbinary"), "00 ff 61", pa.binary(), b"\x00\xffa"),
        (column("c", "interval day to second"), "1 00:00:00.000", pa.string(), "1 00:00:00.000"),
    ],
)
def test_each_text_is_a_value_of_its_type(told: dict[str, Any], text: str, kind: pa.DataType, value: Any) -> None:
    table = to_table([told], [[text], [None]])

    assert table.schema.field("c").type == kind
    assert table.to_pylist() == [{"c": value}, {"c": None}]


def test_a_time_is_an_instant_where_the_catalog_says_so() -> None:
    known = [pa.timestamp("us", "UTC")]

    table = to_table([column("c", "timestamp")], [["2026-01-01 10:00:00.000"]], known=known)

    assert table.schema.field("c").type == pa.timestamp("us", "UTC")
    assert table.to_pylist() == [{"c": datetime(2026, 1, 1, 10, tzinfo=UTC)}]


def test_nested_values_are_read_from_json_in_the_types_of_the_catalog() -> None:
    inner = pa.struct([("Day", pa.date32()), ("price", pa.decimal128(20, 10)), ("ok", pa.bool_()), ("f", pa.float64())])
    known = [pa.list_(inner), pa.map_(pa.int64(), pa.timestamp("us"))]
    listed = '[{"day":"2026-01-01","price":1.0000000001,"ok":false,"f":"NaN"},null,{"day":null}]'
    mapped = '{"7":"2026-01-01 00:00:00.000","8":null}'

    table = to_table([column("l", "varchar"), column("m", "varchar")], [[listed, mapped], [None, None]], known=known)

    assert list(table.schema.types) == known
    [first, second] = table.to_pylist()
    assert math.isnan(first["l"][0].pop("f"))
    assert first["l"][0] == {"Day": date(2026, 1, 1), "price": Decimal("1.0000000001"), "ok": False}
    assert first["l"][1] is None
    assert first["l"][2] == {"Day": None, "price": None, "ok": None, "f": None}
    assert first["m"] == [(7, datetime(2026, 1, 1)), (8, None)]
    assert second == {"l": None, "m": None}


def test_a_text_is_not_taken_for_a_list_of_letters() -> None:
    with pytest.raises(ClientFailed, match='values of the column "l" that are no list'):
        to_table([column("l", "varchar")], [['"abc"']], known=[pa.list_(pa.string())])


def test_an_array_of_which_nothing_is_known_is_refused_with_what_to_write() -> None:
    with pytest.raises(BadQuery, match=r'"tags" is of the type array, .* Write to_json'):
        to_table([column("tags", "array")], [["[a, b]"]])


def test_columns_are_called_as_the_statement_calls_them() -> None:
    table = to_table([column("_col0", "integer"), column("_col1", "integer")], [["1", "2"]], names=["a", "COUNT(*)"])

    assert table.to_pylist() == [{"a": 1, "COUNT(*)": 2}]


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(BadQuery, match='two columns called "A"'):
        to_table([column("a", "integer"), column("A", "integer")], [["1", "2"]])


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (column("c", "boolean"), "yes"),
        (column("c", "bigint"), "1.5"),
        (column("c", "decimal", 10, 2), "x"),
        (column("c", "date"), "+10000-01-01"),
        (column("c", "timestamp with time zone"), "2026-01-01 10:00:00.000 Nowhere/Town"),
    ],
)
def test_a_value_that_is_none_of_its_type_is_named(told: dict[str, Any], text: str) -> None:
    with pytest.raises(ClientFailed, match='values of the column "c" that are no '):
        to_table([told], [[text]])
