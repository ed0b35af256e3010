"""Keeping the latest row of each key: Mason on a warm Spark beside DuckDB, in turn, in one process.

.venv/bin/python -m benchmarks.dedupe [--scale 0.01]
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.contestants import MasonJob, make_empty, remove
from benchmarks.equality import Written, proven_equal
from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.orders import COLUMNS, describe, write_orders
from benchmarks.script import Script, script
from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.dedupe.job import DedupeJob, DedupeOptions

AT_MOST = 2.0
KEYS = 8_000_000
LATEST = "SELECT * FROM {} QUALIFY row_number() OVER (PARTITION BY id ORDER BY updated DESC) = 1"


def main() -> None:
    with script(__doc__, rounds=5) as running:
        running.save(measure(running, running.folder / "dedupe"))


def measure(running: Script, folder: Path) -> Result:
    """Make the table and measure who dedupes it."""
    table = write_orders(folder, int(KEYS * running.scale))
    job = DedupeJob(
        path=Location(str(table)),
        output=Location(str(folder / "mason")),
        options=DedupeOptions(("id",), ("updated",), "last"),
    )
    mason = MasonJob(job.to_job())
    contestants = [
        _duckdb("DuckDB qualify row_number", table, folder / "duckdb", tuned=False),
        _duckdb("DuckDB, tuned (unordered, a file per thread)", table, folder / "tuned", tuned=True),
        mason.contestant(lambda: remove(folder / "mason")),
    ]
    plain, tuned, ours = interleaved(contestants, running.rounds)
    mason.close()
    names = ("duckdb", "tuned", "mason")
    written = [Written(each.label, folder / name) for each, name in zip((plain, tuned, ours), names, strict=True)]
    outputs = proven_equal(written, COLUMNS)
    comparisons = [Comparison("dedupe", ours, plain, limit=AT_MOST), Comparison("dedupe", ours, tuned)]
    result = Result("dedupe", describe(table), comparisons, outputs)
    remove(folder)
    return result


def _duckdb(label: str, table: Path, output: Path, *, tuned: bool) -> Contestant:
    options = "FORMAT parquet, COMPRESSION snappy" + (", PER_THREAD_OUTPUT true" if tuned else "")
    target = output if tuned else output / "all.parquet"

    def dedupe() -> None:
        with duckdb.connect() as db:
            if tuned:
                db.execute("SET preserve_insertion_order = false")
            latest = LATEST.format(f"read_parquet('{table}/*.parquet')")
            db.execute(f"COPY ({latest}) TO '{target}' ({options}{', OVERWRITE_OR_IGNORE true' if tuned else ''})")

    return Contestant(label, seconds(dedupe), lambda: make_empty(output))


if __name__ == "__main__":
    main()
