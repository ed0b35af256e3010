"""Operators of one's own give the same table on every way to a Spark; a statement gives it without a Spark, too."""

from __future__ import annotations

import pytest

from tests.cluster import Sparks
from tests.conftest import Mason, write
from tests.transform.conftest import GIVEN, Shop, open_shop

STATEMENT = """\
SELECT o.customer_id, c.country, sum(o.amount) AS total, max(o.day) AS last
FROM orders o JOIN customers c USING (customer_id)
WHERE :since IS NULL OR o.day >= :since
GROUP BY o.customer_id, c.country
"""
BODY = """\
from pyspark.sql import Window

from . import rules

since = parameters.get_optional("since")
orders = inputs["orders"].where(F.col("day") >= since) if since else inputs["orders"]
grade = F.udf(lambda amount: rules.grade(float(amount)), "string")
ranked = orders.withColumn("place", F.row_number().over(Window.orderBy(F.desc("amount"))))


def halve(rows):
    return rows.assign(half=rows["amount"].astype(float) / 2)[["order_id", "half"]]


halves = orders.groupBy("customer_id").applyInPandas(halve, "order_id bigint, half double")
return ranked.withColumn("grade", grade("amount")).join(halves, "order_id").select("order_id", "place", "grade", "half")
"""
RULES = "def grade(amount):\n    return 'big' if amount > 5 else 'small'\n"


def configured(mason: Mason, sparks: Sparks, name: str) -> Shop:
    """Return the shop with tables that Mason has made: what is submitted would start a Spark for each that is not."""
    mason.register_examples()
    mason.variables["XDG_RUNTIME_DIR"] = str(sparks.runtime)
    open_shop(mason, f"id: before\n{sparks.configurations()['here.yaml']}")
    for table in ("orders", "customers"):
        merge = f"input_path:shop/{table}.csv,output_path:shop/{table}"
        assert mason("operator", "table", "merge", "-c", "before", "-p", merge).exit_code == 0
        (mason.folder / f"shop/{table}.csv").unlink()
    return open_shop(mason, f"id: {name}\n{sparks.configurations()[f'{name}.yaml']}", {})


@pytest.mark.parametrize("name", ["here", "warm", "connect"])
def test_a_statement_makes_the_same_table_everywhere(mason: Mason, sparks: Sparks, name: str) -> None:
    shop = configured(mason, sparks, name)
    shop.register(shop.write_sql("totals", STATEMENT))

    record = shop.made("totals", f"{GIVEN},since:2026-01-02")

    assert [(row["customer_id"], row["country"], str(row["total"]), str(row["last"])) for row in shop.rows()] == [
        (7, "NL", "1.0", "2026-02-01"),
        (8, "DE", "3.0", "2026-01-03"),
    ]
    assert [each["Type"] for each in record["Columns"]] == ["int64", "string", "decimal128(28, 1)", "date32[day]"]


@pytest.mark.parametrize("name", ["warm", "cold", "connect", "submit"])
def test_functions_windows_and_pandas_of_a_class_work_on_every_runner(mason: Mason, sparks: Sparks, name: str) -> None:
    shop = configured(mason, sparks, name)
    assert shop.register(shop.write_code("grades", BODY, files={"rules.py": RULES})).exit_code == 0

    shop.made("grades", f"{GIVEN},since:2026-01-01")

    assert shop.rows() == [
        {"order_id": 1, "place": 1, "grade": "big", "half": 5.25},
        {"order_id": 2, "place": 2, "grade": "small", "half": 1.5},
        {"order_id": 3, "place": 3, "grade": "small", "half": 0.5},
    ]


def test_a_test_of_a_statement_that_only_spark_can_run_is_run_there_and_the_report_says_so(
    mason: Mason, sparks: Sparks
) -> None:
    shop = configured(mason, sparks, "warm")
    folder = shop.write_sql("stamp", "SELECT order_id, version() AS made_by FROM orders")
    case = "name: It runs\ngiven:\n  files:\n    in/orders.csv: |\n      order_id,amount\n      1,2\n"
    case += "parameters: {orders: in/orders.csv, customers: in/orders.csv, output: out/made}\n"
    case += "expect: {data: {RowsOut: 1}}\n"
    write(folder, {"tests/runs.yaml": case})
    write(shop.folder, {"warm.yaml": f"id: warm\n{sparks.configurations()['warm.yaml']}"})

    result = mason("test", "operators", "--config", "warm.yaml", "--on", "local", "--on", "warm")

    assert result.exit_code == 0, result.stderr
    assert "orders:stamp: It runs: not run on: local (" in result.stderr
    assert "all passed" in result.stderr
