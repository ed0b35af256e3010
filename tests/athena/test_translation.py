"""Spark SQL becomes what Athena takes, and means the same there.

Athena is Trino, which no test here can ask: these texts are what its documentation demands. What they mean is asked of
an engine in the conformance suites.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from mason.clients.athena.translation import Question
from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.statement import parse_statement

ORDERS = pa.schema(
    [
        ("id", pa.int64()),
        ("pieces", pa.int32()),
        ("name", pa.string()),
        ("price", pa.decimal128(10, 2)),
        ("weight", pa.float64()),
        ("share", pa.float32()),
        ("paid", pa.bool_()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us")),
        ("seen", pa.timestamp("us", "UTC")),
        ("tags", pa.list_(pa.string())),
    ]
)


def question(statement: str, **parameters: Any) -> Question:
    return Question(statement, parameters, {"orders": ORDERS}, parse_statement(statement).names)


def asked(statement: str, **parameters: Any) -> str:
    return question(statement, **parameters).rows(11).text


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("day > '2026-01-01'", "\"day\" > CAST('2026-01-01' AS DATE)"),
        ("'2026-01-01' <= at", 'CAST(\'2026-01-01\' AS TIMESTAMP) <= "orders"."at"'),
        ("id = '7'", "\"id\" = CAST('7' AS BIGINT)"),
        ("paid = 'true'", "\"paid\" = CAST('true' AS BOOLEAN)"),
        ("name = '7'", "\"name\" = '7'"),
        ("day in ('2026-01-01', null)", "IN (CAST('2026-01-01' AS DATE), NULL)"),
        (
            "day between '2026-01-01' and '2026-01-02'",
            "BETWEEN CAST('2026-01-01' AS DATE) AND CAST('2026-01-02' AS DATE)",
        ),
    ],
)
def test_a_text_is_compared_as_what_it_is_compared_with(condition: str, expected: str) -> None:
    assert expected in asked(f"select id from orders where {condition}")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("id / 2", 'CAST("orders"."id" AS DOUBLE) / 2'),
        ("weight / 2.5e0", '"orders"."weight" / '),
        (
            "id / pieces",
            '"orders"."id" / (CASE WHEN ("orders"."pieces") = 0 THEN CAST(\'Division by zero\' AS DOUBLE)'
            ' ELSE "orders"."pieces" END)',
        ),
        # Spark: decimal(10,2) / int is decimal(10 - 2 + 0 + 13, max(6, 2 + 10 + 1))
        (
            "price / pieces",
            'CAST(CAST("orders"."price" AS DECIMAL(21, 13)) / "orders"."pieces" AS DECIMAL(21, 13))',
        ),
        ("id div pieces", 'CAST("orders"."id" / "orders"."pieces" AS BIGINT)'),
        # Spark: decimal(20,2) / bigint, which has too many digits to have all
        (
            "sum(price) / count(*)",
            'CAST(CAST(SUM("orders"."price") AS DECIMAL(20, 2)) AS DECIMAL(38, 20)) / COUNT(*) AS DECIMAL(38, 20))',
        ),
        ("datediff(day, '2026-01-01')", "DATE_DIFF('DAY', CAST('2026-01-01' AS DATE), \"orders\".\"day\")"),
        ("sum(price)", 'CAST(SUM("orders"."price") AS DECIMAL(20, 2))'),
        ("avg(price)", 'CAST(AVG(CAST("orders"."price" AS DECIMAL(14, 6))) AS DECIMAL(14, 6))'),
        ("sum(share)", 'SUM(CAST("orders"."share" AS DOUBLE))'),
        ("sum(distinct price)", 'CAST(SUM(DISTINCT "orders"."price") AS DECIMAL(20, 2))'),
        (
            "sum(price) over (partition by day)",
            'CAST(SUM("orders"."price") OVER (PARTITION BY "orders"."day") AS DECIMAL(20, 2))',
        ),
        (
            "sum(price) filter (where paid)",
            'CAST(SUM("orders"."price") FILTER(WHERE "orders"."paid") AS DECIMAL(20, 2))',
        ),
    ],
)
def test_arithmetic_is_that_of_spark(expression: str, expected: str) -> None:
    assert expected in asked(f"select {expression} as x from orders")


def test_nulls_are_ordered_as_in_spark() -> None:
    assert asked("select id from orders order by day").count("NULLS FIRST") == 1
    assert asked("select id from orders order by day desc").count("NULLS FIRST") == 0


def test_no_more_rows_are_asked_for_than_are_shown() -> None:
    assert asked("select id from orders").endswith("LIMIT 11")
    assert asked("select id from orders limit 5").endswith("LIMIT 5")
    assert asked("select id from orders limit 500").endswith("LIMIT 11")
    assert asked("select id from orders union all select id from orders order by id").endswith("LIMIT 11")


def test_values_are_bound_and_not_pasted() -> None:
    text = asked("select id from orders where name = :n", n="x' or '1'='1")

    assert "\"name\" = 'x'' or ''1''=''1'" in text


def test_nested_columns_are_told_as_json() -> None:
    asked_for = question("select id, tags from orders").rows(11)

    assert 'JSON_FORMAT(CAST("orders"."tags" AS JSON)) AS "tags"' in asked_for.text
    assert [str(each) for each in asked_for.types] == ["int64", "list<item: string>"]


def test_a_star_is_spelled_out_and_its_nested_columns_are_told_as_json() -> None:
    asked_for = question("select * from orders").rows(11)

    assert [str(each) for each in asked_for.types[-2:]] == ["timestamp[us, tz=UTC]", "list<item: string>"]
    assert '"orders"."seen" AS "seen"' in asked_for.text
    assert 'JSON_FORMAT(CAST("orders"."tags" AS JSON)) AS "tags"' in asked_for.text


def test_a_star_has_the_names_of_the_table() -> None:
    schema = pa.schema([("Id", pa.int64()), ("Größe", pa.int32())])

    assert Question("select * from t", {}, {"t": schema}).rows(11).names == ["Id", "Größe"]


def test_rows_after_others_are_asked_for_in_the_order_of_words_that_athena_wants() -> None:
    assert asked("select id from orders order by id limit 2 offset 1").endswith("OFFSET 1 LIMIT 2")


def test_numbers_that_become_a_table_have_the_types_of_spark() -> None:
    text = question("select id, length(name) as long from orders").unload("s3://shop/x/").text

    assert text.startswith('UNLOAD (SELECT "id" AS "id", CAST("long" AS INTEGER) AS "long" FROM (SELECT ')


def test_rows_that_become_a_table_are_unloaded_as_parquet() -> None:
    text = question("select id, tags from orders").unload("s3://shop/o'neill/").text

    assert text.startswith('UNLOAD (SELECT "orders"."id" AS "id", "orders"."tags" AS "tags" FROM "orders" AS "orders")')
    assert text.endswith("TO 's3://shop/o''neill/' WITH (format = 'PARQUET', compression = 'SNAPPY')")


def test_bare_values_have_the_names_of_spark() -> None:
    assert 'AS "rows_given"("col1", "col2")' in asked("values (1, 'a'), (2, 'b')")


def test_what_a_lateral_view_makes_has_the_type_that_athena_says() -> None:
    asked_for = question("select id, t from orders lateral view explode(tags) x as t").rows(11)

    assert [str(each) for each in asked_for.types] == ["int64", "None"]
    assert '"x"."t" AS "t"' in asked_for.text


def test_what_athena_would_only_approximate_is_refused() -> None:
    with pytest.raises(BadQuery, match="Athena has nothing for a part of the query: .*exact quantiles"):
        asked("select percentile(weight, 0.5) as p from orders")


def test_two_columns_of_one_name_are_refused_before_athena_is_asked() -> None:
    with pytest.raises(BadQuery, match='two columns called "pieces"'):
        asked("select * from orders a join orders b using (id)")


def test_what_cannot_be_typed_here_is_left_to_athena() -> None:
    asked_for = question("select luhn_check(id) as x from orders").rows(11)

    assert 'LUHN_CHECK("orders"."id") AS "x"' in asked_for.text
    assert list(asked_for.types) == [None]
