"""Plain PySpark with a warm session, as a user would write it: INPUTS INFERRED GIVEN (two outputs)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType

from pyspark.sql import SparkSession

from benchmarks.child import answer
from mason.clients.spark.java_home import java_home

SCHEMA = (
    "id bigint, customer string, city string, price double, qty bigint, day date, at timestamp_ntz, flag boolean, "
    "code string, ratio double, note string"
)


def plain_session(warehouse: str, others: Mapping[str, str] = MappingProxyType({})) -> SparkSession:
    """Return a session of `local[*]` with nothing set that would make it quicker or slower."""
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[*]")
        .config(map=dict(others))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "localhost")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", warehouse)
        .getOrCreate()
    )


def main(inputs: str, inferred: str, given: str) -> None:
    """Merge once for each line of stdin."""
    answer(merges(plain_session(inferred + "-warehouse"), inputs, inferred, given))


def merges(spark: SparkSession, inputs: str, inferred: str, given: str) -> Callable[[str], None]:
    """Return what merges the inputs, with types that are found out or given."""

    def merge(how: str) -> None:
        if how == "inferred":
            frame = spark.read.csv(inputs, header=True, inferSchema=True)
        else:
            frame = spark.read.csv(inputs, header=True, schema=SCHEMA)
        frame.write.mode("overwrite").parquet(inferred if how == "inferred" else given, compression="snappy")

    return merge


if __name__ == "__main__":
    main(*sys.argv[1:])
