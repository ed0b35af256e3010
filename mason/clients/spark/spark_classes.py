"""Has a Spark load the classes that Mason's jobs need: tasks and queries, here and over Connect. See `class_archive`.

Run by spark-submit with two arguments: where to write a small table, and the address of its own Connect server.
"""

from __future__ import annotations

import os
import subprocess
import sys

_TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
_OVER_CONNECT = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[2]).getOrCreate()
frame = spark.read.parquet(sys.argv[1])
print(frame.mapInArrow(lambda batches: batches, "id long").toArrow())
print(spark.sql("select id, sum(b.id) s from {t} a join {t} b using (id) group by id order by s", t=frame).collect())
"""


def load_classes(table: str, address: str) -> None:
    """Do a little of everything."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.parallelize([(0, b"task")], 1).mapPartitions(list).collect()
    spark.range(9).mapInArrow(lambda batches: batches, "id long").collect()
    spark.range(9).selectExpr("id % 7 as k", "cast(id as string) as t").groupBy("k").count().toArrow()
    spark.range(9).write.parquet(table)
    # Of this process's variables Spark's own would make the client a part of this session; the token lets it in.
    plain = {name: value for name, value in os.environ.items() if "SPARK" not in name and name != "MASTER"}
    plain[_TOKEN] = os.environ[_TOKEN]
    subprocess.run([sys.executable, "-c", _OVER_CONNECT, table, address], env=plain, check=True)
    spark.stop()


if __name__ == "__main__":
    load_classes(*sys.argv[1:])
