"""Plain PySpark with a warm session that is asked a query: TABLES (as JSON) STATEMENT WAREHOUSE."""

from __future__ import annotations

import json
import sys

from benchmarks.child import answer
from benchmarks.plain_spark import plain_session


def main(tables: str, statement: str, warehouse: str) -> None:
    """Ask once for each line of stdin."""
    spark = plain_session(warehouse)

    def ask(_: str) -> str:
        for name, path in json.loads(tables).items():
            spark.read.parquet(path).createOrReplaceTempView(name)
        return json.dumps([list(map(str, row)) for row in spark.sql(statement).collect()])

    answer(ask)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
