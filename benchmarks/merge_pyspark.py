"""Merging CSV files into Parquet: Mason on a warm Spark beside plain PySpark with a warm session, in turn.

.venv/bin/python -m benchmarks.merge_pyspark [--scale 0.01]
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.child import Child
from benchmarks.contestants import Mason
from benchmarks.equality import Written, proven_equal
from benchmarks.jobs import CSV
from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.profiling import profile_kernel
from benchmarks.script import Script, script

AT_LEAST = 6.0
LOST = (
    "PySpark takes one file's header for all, so that the column that only two files have may be lost: it is left out "
    "of the proof. And inferSchema takes the other header for data, which makes text of every column."
)


def main() -> None:
    with script(__doc__, rounds=3) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Write the files and measure."""
    folder, inputs = running.folder, running.folder / "in"
    CSV.write(inputs, running.bytes(CSV.size))
    mason = Mason(inputs, folder / "mason")
    with Child("benchmarks.plain_spark", str(inputs), str(folder / "inferred"), str(folder / "given")) as spark:
        contestants = [
            Contestant("PySpark, inferSchema", seconds(lambda: spark.ask("inferred"))),
            Contestant("PySpark, tuned (schema given)", seconds(lambda: spark.ask("given"))),
            mason.contestant(),
        ]
        inferred, given, ours = interleaved(contestants, running.rounds)
    mason.close()
    written = [
        Written(inferred.label, folder / "inferred"),
        Written(given.label, folder / "given"),
        Written(ours.label, folder / "mason"),
    ]
    outputs = proven_equal(written, CSV.columns, but={"extra"})
    comparisons = [
        Comparison("merge", ours, inferred, limit=AT_LEAST, ratio_is="speed-up"),
        Comparison("merge", ours, given, ratio_is="speed-up"),
    ]
    result = Result("merge_csv_pyspark", CSV.describe(inputs), comparisons, outputs, [LOST])
    if running.wants_profile(result):
        return replace(result, profile=profile_kernel(mason.job, folder / "profile"))
    return result


if __name__ == "__main__":
    main()
