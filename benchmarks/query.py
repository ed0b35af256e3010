"""A query that joins and groups: Mason on a warm Spark beside DuckDB and plain PySpark, in turn.

.venv/bin/python -m benchmarks.query [--scale 0.01]
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.child import Child
from benchmarks.contestants import MasonJob, remove
from benchmarks.equality import Different
from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.orders import describe, write_customers, write_orders
from benchmarks.profiling import profile_call
from benchmarks.script import Script, script
from mason.engines.storage.models.location import Location, TableRef
from mason.pipeline.jobs.query.job import QueryJob

AT_MOST = 1.1
KEYS = 6_700_000
STATEMENT = (
    "SELECT country, count(*) AS orders, sum(qty) AS qty, round(sum(price), 2) AS price, max(updated) AS updated "
    "FROM orders JOIN customers ON orders.customer = customers.customer GROUP BY country ORDER BY country"
)


def main() -> None:
    with script(__doc__, rounds=7) as running:
        running.save(measure(running, running.folder / "query"))


def measure(running: Script, folder: Path) -> Result:
    """Make the tables and measure who answers."""
    tables = {"orders": str(write_orders(folder, int(KEYS * running.scale))), "customers": str(write_customers(folder))}
    mason = MasonJob(
        QueryJob(
            statement=STATEMENT,
            database="shop",
            tables={name: TableRef(name, Location(path)) for name, path in tables.items()},
        ).to_job()
    )
    answers: dict[str, Any] = {}

    def ask_duckdb() -> None:
        with duckdb.connect() as db:
            for name, path in tables.items():
                db.execute(f"CREATE VIEW {name} AS FROM read_parquet('{path}/*.parquet')")
            answers["DuckDB"] = db.execute(STATEMENT).fetchall()

    with Child("benchmarks.plain_spark_query", json.dumps(tables), STATEMENT, str(folder / "warehouse")) as spark:

        def ask_spark() -> None:
            answers["PySpark"] = json.loads(spark.ask("query"))

        contestants = [
            Contestant("DuckDB", seconds(ask_duckdb)),
            Contestant("PySpark", seconds(ask_spark)),
            mason.contestant(),
        ]
        plain, rival, ours = interleaved(contestants, running.rounds, warm_ups=3)
    answers["Mason"] = [tuple(row.values()) for row in mason.details["Rows"]]
    _check(answers)
    comparisons = [Comparison("query", ours, rival, limit=AT_MOST), Comparison("query", ours, plain)]
    proof = f"{len(answers['Mason'])} rows in the answer, proven equal."
    result = Result("query", describe(folder / "orders"), comparisons, notes=[proof])
    if running.wants_profile(result):
        result = replace(result, profile=profile_call("the job, without the server", mason.run))
    mason.close()
    remove(folder)
    return result


def _check(answers: dict[str, Any]) -> None:
    told = {label: [[str(value) for value in row[:4]] for row in rows] for label, rows in answers.items()}
    if len({json.dumps(each) for each in told.values()}) != 1 or not told["Mason"]:
        raise Different(json.dumps({label: rows[:2] for label, rows in told.items()}))


if __name__ == "__main__":
    main()
