"""Merging files into Parquet: Mason on a warm Spark beside DuckDB, in turn, in one process.

.venv/bin/python -m benchmarks.merge [--only merge_json] [--scale 0.01]
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from benchmarks.contestants import Mason, duckdb_copy, duckdb_tuned, remove
from benchmarks.equality import Written, proven_equal
from benchmarks.jobs import JOBS, MergeBenchmark
from benchmarks.measure import Comparison, Result, interleaved
from benchmarks.profiling import profile_kernel
from benchmarks.script import Script, script


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", action="append", choices=JOBS, help="this job; all of them unless told")
    with script(__doc__, rounds=5, parser=parser) as running:
        for name in running.options.only or JOBS:
            folder = running.folder / name
            running.save(measure(running, JOBS[name], folder))
            remove(folder)


def measure(running: Script, job: MergeBenchmark, folder: Path) -> Result:
    """Write the data of a merge and measure it."""
    inputs = folder / "in"
    job.write(inputs, running.bytes(job.size))
    mason = Mason(inputs, folder / "mason")
    contestants = [
        duckdb_copy(job.source.format(inputs), folder / "duckdb"),
        duckdb_tuned((job.tuned_source or job.source).format(inputs), folder / "tuned"),
        mason.contestant(),
    ]
    plain, tuned, ours = interleaved(contestants, running.rounds)
    mason.close()
    written = [
        Written(plain.label, folder / "duckdb"),
        Written(tuned.label, folder / "tuned"),
        Written(ours.label, folder / "mason"),
    ]
    comparisons = [Comparison("merge", ours, rival, limit=job.at_most) for rival in (plain, tuned)]
    outputs = proven_equal(written, job.columns)
    result = Result(job.name, job.describe(inputs), comparisons, outputs, [mason.parts()])
    if running.wants_profile(result):
        return replace(result, profile=profile_kernel(mason.job, folder / "profile"))
    return result


if __name__ == "__main__":
    main()
