"""Plain PySpark over S3A with a warm session: ADDRESS INPUTS INFERRED GIVEN, the last three as `bucket/key`."""

from __future__ import annotations

import os
import sys
import tempfile

from benchmarks.child import answer
from benchmarks.plain_spark import merges, plain_session
from mason.clients.spark.server.launch import hadoop_version
from mason.clients.spark.settings import RunnerSettings
from mason.pipeline.storage.address import java_needs


def main(address: str, *paths: str) -> None:
    """Merge once for each line of stdin."""
    needs = java_needs(address, hadoop_version())
    settings = RunnerSettings().reading(needs)
    os.environ.update(needs.variables)
    with tempfile.TemporaryDirectory() as warehouse:
        spark = plain_session(warehouse, {**settings.package_conf, **settings.conf})
        answer(merges(spark, *(f"{needs.root}{path}" for path in paths)))


if __name__ == "__main__":
    main(*sys.argv[1:])
