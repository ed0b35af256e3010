"""Merging CSV files into Parquet: Mason on a warm local Spark beside DuckDB and plain PySpark, all in one run.

Run it with the project's environment: .venv/bin/python benchmarks/merge.py [--gigabytes 1] [--plain-spark]
Mason's figure is the whole job in a process that is running: listing, sniffing, conflict checks, counting, quarantine,
record and commit included. Rivals use all cores and the same codec. Rows and sums of every result are compared.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

FILES = 16
COLUMNS = "id,customer,city,price,qty,day,at,flag,code,ratio,note"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--plain-spark", action="store_true", help="measure plain PySpark, too (slow)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["MASON_HOME"] = str(folder / "home")
        write_files(folder / "in", int(options.gigabytes * 2**30))
        size = sum(file.stat().st_size for file in (folder / "in").iterdir())
        print(f"{size / 1e9:.2f} GB in {FILES} CSV files, two of them with an extra column, {os.cpu_count()} cores\n")
        duck = report("DuckDB COPY, union_by_name", best(lambda: run_duckdb(folder, tuned=False)), None)
        report("DuckDB, unordered, one file per thread", best(lambda: run_duckdb(folder, tuned=True)), duck)
        report("Mason, in this process, one core", best(lambda: run_mason(folder, "local"), 1), duck)
        report("Mason on a warm Spark", best(lambda: run_mason(folder, "spark"), 3, warm_up=True), duck)
        if options.plain_spark:
            report("plain PySpark, inferSchema", best(lambda: run_plain_spark(folder), 1), duck)
        compare(folder)


def run_duckdb(folder: Path, *, tuned: bool) -> None:
    target = folder / "duckdb"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    db = duckdb.connect()
    if tuned:
        db.execute("SET preserve_insertion_order = false")
    place = f"'{target}' (FORMAT parquet, COMPRESSION snappy, PER_THREAD_OUTPUT true, OVERWRITE_OR_IGNORE true)"
    plain = f"'{target}/all.parquet' (FORMAT parquet, COMPRESSION snappy)"
    files = f"read_csv('{folder}/in/*.csv', union_by_name = true)"
    db.execute(f"COPY (SELECT * FROM {files}) TO {place if tuned else plain}")


def run_mason(folder: Path, engine: str) -> None:
    from mason.clients.discovery import build_client
    from mason.clients.response import Response
    from mason.pipeline.merge.job import MergeJob

    configuration = {"runner": {"type": "local", "warm": "always"}} if engine == "spark" else {}
    client = CLIENTS.setdefault(engine, build_client(engine, "execution", configuration))
    job = MergeJob(str(folder / "in"), str(folder / "mason")).to_job()
    plan, response = client.plan_job(job, response=Response())  # type: ignore[attr-defined]
    client.run_job(plan, response=response)  # type: ignore[attr-defined]


CLIENTS: dict[str, object] = {}


def run_plain_spark(folder: Path) -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
    frame = spark.read.csv(str(folder / "in"), header=True, inferSchema=True)
    frame.write.mode("overwrite").parquet(str(folder / "plain"))


def compare(folder: Path) -> None:
    query = "SELECT count(*), sum(id), sum(price)::DOUBLE, count(DISTINCT code) FROM read_parquet('{}/*.parquet')"
    results = {name: duckdb.sql(query.format(folder / name)).fetchall() for name in ("duckdb", "mason")}
    print(f"\nrows and sums equal: {results['duckdb'][0][:2] == results['mason'][0][:2]} {results}")
    for name in ("duckdb", "mason"):
        print(
            f"{name}: {sum(file.stat().st_size for file in (folder / name).glob('*.parquet')) / 1e6:.0f} MB of Parquet"
        )


def best(work: Callable[[], None], runs: int = 3, *, warm_up: bool = False) -> float:
    if warm_up:
        work()
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def report(name: str, seconds: float, rival: float | None) -> float:
    ratio = f" = {seconds / rival:.2f} × DuckDB" if rival else ""
    print(f"{name}: {seconds:.2f} s{ratio}", flush=True)
    return seconds


def write_files(folder: Path, size: int) -> None:
    folder.mkdir()
    for number in range(FILES):
        extra = number >= FILES - 2
        with open(folder / f"{number:02}.csv", "w") as file:
            file.write(COLUMNS + (",extra" if extra else "") + "\n")
            row = 0
            while file.tell() < size // FILES:
                file.write("".join(line(number * 10**7 + each, extra) for each in range(row, row + 10_000)))
                row += 10_000


def line(row: int, extra: bool) -> str:
    return (
        f"{row},customer {row % 5000},{'abcdefgh'[row % 8]}-town,{row * 37 % 10000 / 100:.2f},{row % 50},"
        f"2026-{row % 12 + 1:02}-{row % 28 + 1:02},2026-01-01 {row % 24:02}:{row % 60:02}:00,"
        f"{'true' if row % 2 else 'false'},{row % 1000:05},{row % 7919 / 7919:.6f},some note {row % 100}"
        + (",x\n" if extra else "\n")
    )


if __name__ == "__main__":
    main()
