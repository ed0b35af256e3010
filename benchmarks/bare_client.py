"""A bare client of Spark Connect, as small as it can be: URL INPUTS OUTPUT. The token is in the environment."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession


def main(url: str, inputs: str, output: str) -> None:
    """Merge the CSV files of a folder in one task."""

    def merge(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        from pyarrow import concat_tables, csv, parquet

        for _ in batches:
            table = concat_tables([csv.read_csv(file) for file in sorted(Path(inputs).iterdir())])
            parquet.write_table(table, output, compression="snappy")
            yield pa.record_batch({"rows": [table.num_rows]})

    spark = SparkSession.builder.remote(url).getOrCreate()
    rows = spark.range(0, 1, 1, 1).mapInArrow(merge, "rows long").collect()
    print(rows[0].rows)
    # No spark.stop(): it would close the session for good, and the next process would find cold workers.


if __name__ == "__main__":
    main(*sys.argv[1:])
