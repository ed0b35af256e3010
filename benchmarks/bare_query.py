"""A bare client of Spark Connect that asks a query, as small as it can be: URL TABLE STATEMENT."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession


def main(url: str, table: str, statement: str) -> None:
    """Ask the query of a folder of Parquet files."""
    spark = SparkSession.builder.remote(url).getOrCreate()
    spark.read.parquet(table).createOrReplaceTempView("items")
    print(spark.sql(statement).collect()[0][0])
    # No spark.stop(): it would close the session for good, and the next process would find it cold.


if __name__ == "__main__":
    main(*sys.argv[1:])
