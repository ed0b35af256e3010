"""Nested JSON lines as flat tables: Mason on a warm Spark beside DuckDB's unnest, in turn, in one process.

.venv/bin/python -m benchmarks.explode [--scale 0.01]
"""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from benchmarks import data
from benchmarks.contestants import Mason, make_empty, remove
from benchmarks.equality import Different
from benchmarks.measure import Comparison, Contestant, Output, Profile, Result, interleaved, seconds
from benchmarks.profiling import _profile
from benchmarks.script import Script, script
from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.jobs.explode.plan import plan_explode
from mason.pipeline.jobs.explode.run import run_explode

BYTES = 0.3e9
AT_MOST = 1.5
MAIN = "orders"
SIZES = "Mason writes a key as the steps from row to row, hence the smaller files."
TABLES = {
    MAIN: """SELECT orders_id, id, "user".name AS user_name, "user".address.city AS user_address_city,
        "user".address.zip AS user_address_zip, "user".address.floor AS user_address_floor,
        len("user".tags) AS user_tags_count, len(items) AS items_count, "at", score, paid FROM records""",
    "orders_items": """SELECT orders_id, unnest(range(len(items))) AS position, unnest(items, recursive := true)
        FROM records""",
    "orders_user_tags": """SELECT orders_id, unnest(range(len("user".tags))) AS position, unnest("user".tags) AS value
        FROM records""",
}
RECORDS = "CREATE TABLE records AS SELECT row_number() OVER () - 1 AS orders_id, * FROM read_ndjson('{}/*.jsonl')"
# What is compared: of a list's rows the record by its own id, since a key may be any that fits.
COMPARED = {
    MAIN: "id, user_name, user_address_city, user_address_zip, user_address_floor, user_tags_count, items_count, "
    'CAST("at" AS TIMESTAMP), score, paid',
    "orders_items": "id, position, sku, qty, CAST(price AS DOUBLE)",
    "orders_user_tags": "id, position, value",
}


def main() -> None:
    with script(__doc__, rounds=5) as running:
        running.save(measure(running, running.folder / "explode"))


def measure(running: Script, folder: Path) -> Result:
    """Write the data, and measure who takes them apart."""
    inputs = folder / "in"
    data.write_json_files(inputs, running.bytes(BYTES))
    mason = MasonExplodes(inputs, folder / "mason")
    contestants = [
        duckdb_unnest("DuckDB unnest", inputs, folder / "duckdb", {}),
        duckdb_unnest(
            "DuckDB unnest, tuned (unordered, a file per thread)",
            inputs,
            folder / "tuned",
            {"PER_THREAD_OUTPUT": "true", "OVERWRITE_OR_IGNORE": "true"},
        ),
        mason.contestant(),
    ]
    plain, tuned, ours = interleaved(contestants, running.rounds)
    mason.close()
    outputs = proven_equal(
        [(plain.label, folder / "duckdb"), (tuned.label, folder / "tuned"), (ours.label, folder / "mason")]
    )
    comparisons = [Comparison("explode", ours, rival, limit=AT_MOST) for rival in (plain, tuned)]
    size, files = data.folder_bytes(inputs), len(list(inputs.iterdir()))
    told = f"{size / 1e6:.0f} MB in {files} files of nested JSON lines, into a table of records and two of lists"
    result = Result("explode", told, comparisons, outputs, [mason.parts(), SIZES])
    return replace(result, profile=profile(mason.explode, folder)) if running.wants_profile(result) else result


class MasonExplodes(Mason):
    """Mason as it merges, with another job."""

    def __init__(self, inputs: Path, output: Path) -> None:
        super().__init__(inputs, output)
        self.explode = ExplodeJob(path=Location(str(inputs)), name=MAIN, output=Location(str(output)))
        self.job = self.explode  # type: ignore[assignment]


def duckdb_unnest(label: str, inputs: Path, target: Path, options: Mapping[str, str]) -> Contestant:
    """DuckDB on all cores: the records are read once, and every table is written from them."""

    def unnest() -> None:
        with duckdb.connect() as db:
            if options:
                db.execute("SET preserve_insertion_order = false")
            db.execute(RECORDS.format(inputs))
            for name, query in TABLES.items():
                place = f"{target}/{name}" + ("" if options else "/all.parquet")
                told = ", ".join(f"{option} {value}" for option, value in options.items())
                db.execute(f"COPY ({query}) TO '{place}' (FORMAT parquet, COMPRESSION snappy{told and f', {told}'})")

    def before() -> None:
        make_empty(target)
        for name in TABLES:
            (target / name).mkdir()

    return Contestant(label, seconds(unnest), before)


def proven_equal(written: Sequence[tuple[str, Path]]) -> list[Output]:
    """Return what each wrote, all tables together.

    Raises:
        Different: some table of theirs has other rows.
    """
    outputs = [_output(label, folder) for label, folder in written]
    if len({(each.rows, each.digest) for each in outputs}) != 1:
        raise Different("\n".join(f"{each.label}: {each.rows:,} rows, digest {each.digest}" for each in outputs))
    return outputs


def _output(label: str, folder: Path) -> Output:
    rows, digests, size = 0, [], 0
    with duckdb.connect() as db:
        for name, columns in COMPARED.items():
            source = f"read_parquet('{folder}/{name}/*.parquet')"
            if name != MAIN:
                source += (
                    f" JOIN (SELECT orders_id, id FROM read_parquet('{folder}/{MAIN}/*.parquet')) USING (orders_id)"
                )
            row = f"hash({columns})"
            query = f"SELECT count(*), sum({row}::HUGEINT), bit_xor({row}) FROM {source}"
            ((count, total, parity),) = db.execute(query).fetchall()
            rows += count
            digests.append(f"{total:x}-{parity:x}")
            size += sum(file.stat().st_size for file in (folder / name).glob("*.parquet"))
    return Output(label, rows, ",".join(digests), size)


def profile(job: ExplodeJob, folder: Path) -> Profile:
    """Return the profile of a whole explode in this process."""
    output = folder / "profile"
    plan = plan_explode(replace(job, output=Location(str(output))))
    profiler = cProfile.Profile()
    profiler.runcall(run_explode, plan, InProcessRunner(), "profile", lambda *_: None)
    remove(output)
    return _profile("the whole explode, its tasks one after the other in one process", pstats.Stats(profiler))


if __name__ == "__main__":
    main()
