"""Writing Parquet files as CSV: Mason on a warm Spark beside DuckDB, in turn, in one process.

.venv/bin/python -m benchmarks.format [--scale 0.01]
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb

from benchmarks import data
from benchmarks.contestants import MasonJob, make_empty, remove
from benchmarks.equality import Written, proven_equal
from benchmarks.jobs import GB, PARQUET
from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.profiling import profile_tasks
from benchmarks.script import Script, script
from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.format.job import FormatJob, FormatOptions
from mason.pipeline.jobs.format.plan import plan_format
from mason.pipeline.jobs.format.run import sink_of
from mason.pipeline.reading.tasks.task import tasks_of

AT_MOST = 1.3
SIZE = 2.7 * GB
"""Before compression, which makes 1 GB of it."""

TYPES = {
    "id": "BIGINT",
    "customer": "VARCHAR",
    "qty": "BIGINT",
    "price": "DOUBLE",
    "ratio": "DOUBLE",
    "day": "DATE",
    "at": "TIMESTAMP",
    "flag": "BOOLEAN",
    "note": "VARCHAR",
    "extra": "VARCHAR",
}
READ = "read_csv('{}/*.csv', header = true, columns = {{" + str(TYPES)[1:-1] + "}})"


def main() -> None:
    with script(__doc__, rounds=5) as running:
        running.save(measure(running, running.folder / "format"))


def measure(running: Script, folder: Path) -> Result:
    """Write the data and measure."""
    inputs = folder / "in"
    data.write_parquet_files(inputs, running.bytes(SIZE))
    job = FormatJob(Location(str(inputs)), Location(str(folder / "mason")), FormatOptions(format="csv"))
    mason = MasonJob(job.to_job())
    source = PARQUET.source.format(inputs)
    contestants = [
        _copy(source, folder / "duckdb"),
        _copy_tuned(source, folder / "tuned"),
        mason.contestant(lambda: remove(folder / "mason")),
    ]
    plain, tuned, ours = interleaved(contestants, running.rounds)
    mason.close()
    written = [
        Written(plain.label, folder / "duckdb", READ),
        Written(tuned.label, folder / "tuned", READ),
        Written(ours.label, folder / "mason", READ),
    ]
    outputs = proven_equal(written, PARQUET.columns)
    comparisons = [Comparison("Parquet to CSV", ours, rival, limit=AT_MOST) for rival in (plain, tuned)]
    size = data.folder_bytes(inputs)
    result = Result("format", f"{size / 1e9:.2f} GB in 16 Parquet files", comparisons, outputs)
    if running.wants_profile(result):
        plan = plan_format(job)
        (folder / "profile").mkdir()
        tasks = tasks_of(plan.scan.plan, Location(str(folder / "profile")), "profile", sink_of(plan))
        result = replace(result, profile=profile_tasks(tasks))
    remove(folder)
    return result


def _copy(source: str, target: Path) -> Contestant:
    def copy() -> None:
        with duckdb.connect() as db:
            db.execute(f"COPY (FROM {source}) TO '{target}/all.csv' (FORMAT csv, HEADER)")

    return Contestant("DuckDB COPY", seconds(copy), lambda: make_empty(target))


def _copy_tuned(source: str, target: Path) -> Contestant:
    def copy() -> None:
        with duckdb.connect() as db:
            db.execute("SET preserve_insertion_order = false")
            options = "(FORMAT csv, HEADER, PER_THREAD_OUTPUT true, OVERWRITE_OR_IGNORE true)"
            db.execute(f"COPY (FROM {source}) TO '{target}' {options}")

    return Contestant("DuckDB COPY, tuned (unordered, a file per thread)", seconds(copy), lambda: make_empty(target))


if __name__ == "__main__":
    main()
