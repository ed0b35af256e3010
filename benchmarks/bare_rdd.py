"""Two tasks as an RDD on a bare Spark of this process, with an archive of its classes: the rival of a cold command.

bare_rdd.py ARCHIVE INPUT OUTPUT
"""

import os
import sys
from pathlib import Path

from pyspark import SparkConf, SparkContext


def merge(places):
    """Read CSV files and write them as one Parquet file, as a task of Mason's does."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    for source, target in places:
        tables = [pyarrow.csv.read_csv(each) for each in sorted(Path(source).glob("*.csv"))]
        whole = pa.concat_tables(tables)
        pyarrow.parquet.write_table(whole, target)
        yield whole.num_rows


def main(archive, source, target):
    """Run the task and leave without waiting for Spark's end."""
    options = f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:SharedArchiveFile={archive} -Xshare:auto -Xlog:disable"
    settings = f'--driver-java-options "{options}" --conf spark.ui.enabled=false --master local[2] pyspark-shell'
    os.environ["PYSPARK_SUBMIT_ARGS"] = settings
    context = SparkContext(conf=SparkConf())
    print(sum(context.parallelize([(source, target)], 1).mapPartitions(merge).collect()), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
