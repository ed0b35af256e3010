"""Conditions: what Spark SQL would say of these rows, and what is refused, with its place."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from mason.pipeline.jobs.format.condition import BadCondition, Condition

ROWS = pa.record_batch(
    {
        "id": pa.array([1, 2, 3, 4], pa.int32()),
        "price": pa.array([5, 10, None, 20], pa.int16()),
        "country": ["DE", "US", None, "De"],
        "ratio": [float("nan"), 1.0, None, -0.0],
        "day": [date(2020, 1, 1), date(2021, 1, 1), None, date(1969, 1, 1)],
        "at": pa.array([datetime(2020, 1, 1, 12), None, None, datetime(2022, 1, 1)], pa.timestamp("us")),
        "instant": pa.array([datetime(2020, 1, 1, 12), None, None, datetime(2022, 1, 1)], pa.timestamp("us", "UTC")),
        "amount": pa.array([Decimal("1.50"), None, Decimal("-2.25"), Decimal("0.00")], pa.decimal128(10, 2)),
        "flag": [True, False, None, True],
        "place": [{"x": 1, "City": {"zip": "q"}}, None, {"x": None, "City": None}, {"x": 3, "City": {"zip": "w"}}],
        "a.b": [1, 2, 3, 4],
        "select": ["a", "it's", "100%", "a_b"],
        "huge": pa.array([2**64 - 1, 0, 1, 2], pa.uint64()),
        "list": [[1], [2], None, []],
    }
)


@pytest.mark.parametrize(
    ("condition", "ids"),
    {
        "price > 6 and country = 'US'": [2],
        "price > 6 or country = 'DE'": [1, 2, 4],
        "not (price > 6)": [1],  # what is unknown stays unknown
        "not (price > 6) or price is null": [1, 3],
        "price <> 5": [2, 4],
        "price <=> null": [3],
        "price <=> 5": [1],
        "price in (5, 20, null)": [1, 4],
        "price not in (5, 20)": [2],
        "price not in (5, null)": [],
        "price between 5 and 10": [1, 2],
        "price not between 5 and 10": [4],
        "price + 1 = 6 or price - 1 = 9 or price * 2 = 40": [1, 2, 4],
        "price / 4 = 1.25": [1],
        "-price < -6": [2, 4],
        "price > -128::tinyint and price > -128Y": [1, 2, 4],  # a sign is a part of its number
        "country <> -1::string": [1, 2, 4],
        "ratio = ratio": [1, 2, 4],  # NaN equals itself, as in Spark
        "ratio > 1": [1],  # and is larger than any number
        "ratio >= 1": [1, 2],
        "ratio < 1": [4],
        "ratio <> 1": [1, 4],
        "ratio = 0": [4],  # so does -0.0 equal 0.0
        "ratio <=> cast('NaN' as double)": [1],
        "day >= '2020-01-01'": [1, 2],
        "day > date '2020-06-01'": [2],
        "day < '2020-01-01 00:00:01'": [1, 4],
        "at > '2021-01-01'": [4],
        "at > timestamp '2020-01-01 11:59:59'": [1, 4],
        "instant > '2020-01-01 12:00:00'": [4],
        "instant = '2020-01-01T13:00:00+01:00'": [1],
        "cast(at as date) = date '2020-01-01'": [1],
        "amount > 1.25": [1],
        "amount = 1.5e0": [1],
        "amount * 2 = -4.5": [3],
        "amount + price > 6.49": [1, 4],
        "huge > 9223372036854775807": [1],
        "id = 9999999999999999999999": [],
        "country like 'D%'": [1, 4],
        "country like 'D_'": [1, 4],
        "country not like 'D%'": [2],
        "country ilike 'dE'": [1, 4],
        "`select` like '100\\\\%'": [3],
        "`select` = 'it\\'s'": [2],
        "`select` = 'it''s'": [2],
        "flag": [1, 4],
        "not flag": [2],
        "flag is not true": [2, 3],
        "flag = true": [1, 4],
        "place.x > 1": [4],
        "PLACE.city.zip = 'q'": [1],
        "`a.b` > 2": [3, 4],
        "PRICE > 6": [2, 4],
        "cast(price as string) = '5'": [1],
        "cast(cast(id as string) as bigint) = 3": [3],
        "null": [],
        "true": [1, 2, 3, 4],
        "null is null": [1, 2, 3, 4],
        "price > 6 -- dear ones": [2, 4],
    }.items(),
)
def test_rows_for_which_it_is_true_are_taken(condition: str, ids: list[int]) -> None:
    taken = ROWS.filter(Condition.of(condition).mask(ROWS))

    assert taken.column("id").to_pylist() == ids


@pytest.mark.parametrize(
    ("condition", "message"),
    {
        "pric > 1": 'filter 1:1: there is no column "pric". Did you mean "price"?',
        "price > 1 and\n  contry = 'DE'": 'filter 2:3: there is no column "contry". Did you mean "country"?',
        "place.z = 1": 'filter 1:1: "place" has no field "z".',
        "price > 1 and upper(country) = 'X'": "filter 1:15: UPPER(country) is not allowed in a filter.",
        "price in (select 1)": "filter 1:1: in needs a list of values.",
        "case when flag then flag end": "is not allowed in a filter.",
        "exists (select 1)": "is not allowed in a filter.",
        "price >": 'filter 1:7: it cannot be understood near ">".',
        "country = 'DE": "filter 1:11: a quote or a comment is opened and not closed",
        "price > 1; drop table x": "filter: it is more than one statement.",
        " ": "filter: there is nothing in it.",
        "price": "filter 1:1: this is int64, and neither true nor false.",
        "price = 'x'": "filter 1:1: int64 cannot be compared with text.",
        "at = instant": "filter 1:1: a time with a zone cannot be compared with one that has none.",
        "list = list": "cannot be compared",
        "day > 'yesterday'": "filter 1:1: Failed to parse string: 'yesterday'",
        "country + 1 > 2": "filter 1:1: string is not a number to calculate with.",
        "country like id": "like compares a text with a pattern in quotes",
        "price / (price - 5) > 1": "filter 1:1: a number is divided by zero.",
        "cast(country as int) = 1": "filter 1:6: Failed to parse string",
        "try_cast(country as int) is null": "filter 1:10: try_cast is not allowed in a filter.",
        "price between symmetric 10 and 5": "is not allowed in a filter.",
        "country like any ('x', 'y')": "is not allowed in a filter.",
        "cast(ratio as string) = '1'": "cannot be cast to text",
        "cast(price as array<int>) = 1": "cannot be cast to",
        "@place = 1": "filter 1:1: it has no variables. Write the value itself.",
        "price = :price": "it has no variables. Write the value itself.",
        "delete from x": "is not allowed in a filter.",
        "(" * 3000 + "flag" + ")" * 3000: "filter: it is nested too deeply to be understood.",
        " or ".join(["flag"] * 3000): "filter: it is nested too deeply to be understood.",
    }.items(),
)
def test_what_is_more_than_a_condition_is_refused_with_its_place(condition: str, message: str) -> None:
    with pytest.raises(BadCondition) as refused:
        Condition.of(condition).mask(ROWS)

    assert message in str(refused.value)


def test_the_columns_that_it_looks_at_are_known() -> None:
    condition = Condition.of("PRICE > 6 and (place.x = 1 or `a.b` = price)")

    assert condition.columns(ROWS.schema) == ["price", "place", "a.b"]
