"""An operator of one's own over DataFrames beside the same PySpark by hand, on the same warm Spark.

.venv/bin/python -m benchmarks.transform [--scale 0.01]
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import mason
from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.orders import describe, write_customers, write_orders
from benchmarks.script import Script, script
from mason.clients.spark.java_home import java_home
from mason.clients.spark.runners.local import connect
from mason.clients.spark.server.launch import Launch
from mason.clients.spark.settings import RunnerSettings
from mason.configurations.configuration import parse_configuration
from mason.configurations.saved import save_configurations
from mason.connection.connection import Connection
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment

AT_MOST = 1.15
KEYS = 6_700_000
SMALL_KEYS = 1_000
CONFIGURATION = """
id: here
metastore_engine: local
storage_engine: local
execution_engine: spark
clients: {local: {configuration: {root: ROOT}}, spark: {configuration: {runner: {type: local, warm: always}}}}
"""
DEFINITION = """
type: operator
namespace: orders
command: spend
description: What the customers of each country have spent
parameters:
  required:
    - {name: orders, type: table, access: read}
    - {name: customers, type: table, access: read}
    - {name: output, type: table, access: write}
"""
SOURCE = '''
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from mason.operators.spark_operator import Inputs, SparkOperator
from mason.parameters.validated_parameters import ValidatedParameters


class OrdersSpend(SparkOperator):
    """What the customers of each country have spent."""

    def transform(self, spark: SparkSession, inputs: Inputs, parameters: ValidatedParameters) -> DataFrame:
        joined = inputs["orders"].join(inputs["customers"], "customer")
        return joined.groupBy("country").agg(F.count("*").alias("orders"), F.sum("price").alias("price"))
'''


def main() -> None:
    with script(__doc__, rounds=5) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Measure a gigabyte, and a thousand rows, of which the time that the operator adds is told."""
    root = running.folder / "data"
    _prepare(running.folder, root)
    large, small = root / "large", root / "small"
    write_orders(large, int(KEYS * running.scale))
    write_customers(large)
    write_orders(small, SMALL_KEYS)
    write_customers(small)
    held = connect(Launch.of(RunnerSettings.of({"runner": {"type": "local", "warm": "always"}}), java_home()))
    m = mason.connect(config="here")
    comparisons = []
    notes = []
    try:
        for label, folder, limit in (("join and aggregate", large, AT_MOST), ("a thousand rows", small, None)):
            contestants = [
                Contestant("PySpark by hand", seconds(_by_hand(held.spark, folder)), _remover(folder / "by_hand")),
                Contestant("the operator", seconds(_by_mason(m, folder))),
            ]
            rival, ours = interleaved(contestants, running.rounds, warm_ups=2)
            comparisons.append(Comparison(label, ours, rival, limit=limit))
            notes.append(f"{label}: the operator takes {ours.median - rival.median:+.2f} s.")
    finally:
        held.release()
    return Result("transform", describe(large / "orders"), comparisons, notes=notes)


def _prepare(folder: Path, root: Path) -> None:
    """Save the configuration and register the operator."""
    root.mkdir(parents=True)
    configuration = parse_configuration(CONFIGURATION.replace("ROOT", str(root)), name="here.yaml", default_id="here")
    env = MasonEnvironment.of()
    save_configurations(env, [(Path("here.yaml"), configuration)])
    operator = folder / "operators" / "orders" / "spend"
    operator.mkdir(parents=True)
    (operator / "operator.yaml").write_text(DEFINITION, encoding="utf-8")
    (operator / "__init__.py").write_text(SOURCE, encoding="utf-8")
    register(env, open_state(env), read_definitions(folder / "operators", [OPERATORS]).valid, replace=True)
    os.environ["MASON_CONFIG"] = "here"


def _by_hand(spark: object, folder: Path) -> Callable[[], None]:
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F  # noqa: N812 (as all the world calls it)

    def run() -> None:
        session: SparkSession = spark  # type: ignore[assignment]
        orders = session.read.parquet(*map(str, (folder / "orders").glob("*.parquet")))
        customers = session.read.parquet(*map(str, (folder / "customers").glob("*.parquet")))
        found = orders.join(customers, "customer").groupBy("country")
        found.agg(F.count("*").alias("orders"), F.sum("price").alias("price")).write.parquet(str(folder / "by_hand"))

    return run


def _by_mason(m: Connection, folder: Path) -> Callable[[], None]:
    def run() -> None:
        m.operator(
            "orders",
            "spend",
            orders=f"{folder}/orders",
            customers=f"{folder}/customers",
            output=f"{folder}/spent",
        )

    return run


def _remover(folder: Path) -> Callable[[], None]:
    return lambda: shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
