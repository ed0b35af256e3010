"""Summarizing a table: Mason on a warm Spark beside DuckDB, in turn, in one process.

.venv/bin/python -m benchmarks.summarize [--scale 0.01]
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.contestants import MasonJob, remove
from benchmarks.data import folder_bytes
from benchmarks.equality import Different
from benchmarks.measure import Comparison, Contestant, Profile, Result, interleaved, seconds
from benchmarks.profiling import profile_call
from benchmarks.script import Script, script
from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.jobs.merge.run import run_merge
from mason.pipeline.jobs.summary.job import SummaryJob
from mason.pipeline.jobs.summary.work import SummaryWork

ROWS = 9_600_000
FILES = 16
AT_MOST = 1.1
SHARES = {"P25": 0.25, "P50": 0.5, "P75": 0.75}
NUMBERS = ("id", "qty", "price", "amount", "ratio", "score")
TIMES = ("day", "at")
TEXTS = ("customer", "city", "note")
ALL = NUMBERS + TIMES + TEXTS


def main() -> None:
    with script(__doc__, rounds=5) as running:
        running.save(measure(running, running.folder / "summarize"))


def measure(running: Script, folder: Path) -> Result:
    """Make the table and measure who summarizes it."""
    table = write_table(folder, int(ROWS * running.scale))
    files = f"read_parquet('{table}/*.parquet')"
    mason = MasonJob(SummaryJob(path=Location(str(table))).to_job())
    contestants = [duckdb_summarize(files), duckdb_by_hand(files), mason.contestant()]
    plain, by_hand, ours = interleaved(contestants, running.rounds)
    mason.close()
    proof = check(files, {each["Name"]: each for each in mason.details["Columns"]})
    data = (
        f"{int(ROWS * running.scale):,} rows, {len(ALL)} columns, "
        f"{folder_bytes(table, '*.parquet') / 1e6:.0f} MB in {len(list(table.glob('*.parquet')))} Parquet files"
    )
    comparisons = [Comparison("summarize", ours, plain, limit=AT_MOST), Comparison("summarize", ours, by_hand)]
    result = Result("summarize", data, comparisons, notes=[proof])
    if running.wants_profile(result):
        result = replace(result, profile=profile(table))
    remove(folder)
    return result


def duckdb_summarize(files: str) -> Contestant:
    """DuckDB as a user would write it."""

    def summarize() -> None:
        with duckdb.connect() as db:
            db.execute(f"SUMMARIZE FROM {files}").fetchall()

    return Contestant("DuckDB SUMMARIZE", seconds(summarize))


def duckdb_by_hand(files: str) -> Contestant:
    """DuckDB at its fastest: the aggregates of SUMMARIZE, each asked for once, all quantiles of a column together."""
    asked = [f'count("{name}"), min("{name}"), max("{name}"), approx_count_distinct("{name}")' for name in ALL]
    asked += [f'approx_quantile("{name}", {list(SHARES.values())}), avg("{name}")' for name in NUMBERS + TIMES]
    asked += [f'stddev("{name}")' for name in NUMBERS]

    def summarize() -> None:
        with duckdb.connect() as db:
            db.execute("SET preserve_insertion_order = false")
            db.execute(f"SELECT count(*), {', '.join(asked)} FROM {files}").fetchall()

    return Contestant("DuckDB, the same aggregates by hand", seconds(summarize))


def write_table(folder: Path, rows: int) -> Path:
    """Write files of eleven columns, and merge them into a table of Mason's."""
    inputs, table = folder / "in", folder / "table"
    inputs.mkdir(parents=True)
    for number in range(FILES):
        pq.write_table(_rows(number, rows // FILES), inputs / f"{number:02}.parquet", compression="snappy")
    job = MergeJob(Location(str(inputs)), Location(str(table)))
    run_merge(plan_merge(job), InProcessRunner(), "made", lambda *_: None)
    remove(inputs)
    return table


def _rows(file: int, rows: int) -> pa.Table:
    chance = np.random.default_rng(file)
    numbers = np.arange(rows) + file * rows
    customers = pa.array([f"customer {number}" for number in range(5000)])
    cities = pa.array([f"{each}-town" for each in "abcdefgh"])
    notes = pa.array(chance.integers(0, 10**9, rows)).cast(pa.string())
    return pa.table(
        {
            "id": numbers,
            "customer": customers.take(pa.array(chance.integers(0, len(customers), rows))),
            "city": cities.take(pa.array(chance.integers(0, len(cities), rows))),
            "qty": chance.integers(0, 50, rows).astype(np.int32),
            "price": _decimals(chance.integers(0, 10**6, rows), 12, 2),
            "amount": _decimals(chance.integers(0, 10**10, rows), 18, 4),
            "ratio": chance.random(rows),
            "score": chance.normal(100, 15, rows),
            "day": pa.array((20454 + numbers % 365).astype(np.int32), pa.date32()),
            "at": pa.array(1767225600_000000 + chance.integers(0, 10**13, rows), pa.timestamp("us")),
            "note": pc.binary_join_element_wise("note ", notes, ""),
        }
    )


def _decimals(unscaled: np.ndarray, digits: int, scale: int) -> pa.Array:
    halves = np.stack([unscaled, np.zeros_like(unscaled)], axis=1)  # all are positive: the upper half is zero
    return pa.Array.from_buffers(pa.decimal128(digits, scale), len(unscaled), [None, pa.py_buffer(halves.tobytes())])


@dataclass(frozen=True)
class Worst:
    """How far a figure is off at most, over all columns."""

    distinct: float = 0.0
    rank: float = 0.0

    def and_also(self, distinct: float, rank: float) -> Worst:
        return Worst(max(self.distinct, distinct), max(self.rank, rank))


def check(files: str, ours: Mapping[str, Mapping[str, Any]]) -> str:
    """Hold what Mason says against exact figures, and what SUMMARIZE says is exact against it; return the proof.

    Raises:
        Different: a figure is further off than Mason states.
    """
    worst = Worst()
    with duckdb.connect() as db:
        summarized = {row[0]: row for row in db.execute(f"SUMMARIZE FROM {files}").fetchall()}
        for name in ALL:
            column = ours[name]
            _check_plain(db, files, name, column, summarized[name])
            worst = worst.and_also(_distinct_off(db, files, name, column), _rank_off(db, files, name, column))
    return (
        "Count, nulls, minimum and maximum of every column are those of exact queries, means and deviations those to "
        f"nine digits. Different values were at most {worst.distinct:.1%} off what COUNT(DISTINCT) says (stated: "
        f"{max(each['DistinctError'] for each in ours.values()):.1%}), the ranks of quantiles {worst.rank:.2%} "
        f"(stated: {max(each.get('QuantileError', 0) for each in ours.values()):.2%}). Mason also has the lengths of "
        "texts, the most frequent values, four more quantiles and a histogram of each column."
    )


def _check_plain(db: Any, files: str, name: str, column: Mapping[str, Any], summarized: Sequence[Any]) -> None:
    exact = f'SELECT count("{name}"), count(*) - count("{name}"), min("{name}"), max("{name}") FROM {files}'
    ((count, nulls, low, high),) = db.execute(exact).fetchall()
    _same(name, "count", (column["Count"], column["Nulls"]), (count, nulls))
    _same(name, "extremes", (_text(column["Min"]), _text(column["Max"])), (_text(low), _text(high)))
    _same(name, "extremes of SUMMARIZE", (_text(summarized[2]), _text(summarized[3])), (_text(low), _text(high)))
    if name in NUMBERS:
        ((mean, deviation),) = db.execute(f'SELECT avg("{name}"), stddev("{name}"::DOUBLE) FROM {files}').fetchall()
        _near(name, "mean", float(column["Mean"]), mean)
        _near(name, "deviation", column["StandardDeviation"], deviation)


def _distinct_off(db: Any, files: str, name: str, column: Mapping[str, Any]) -> float:
    ((exact,),) = db.execute(f'SELECT count(DISTINCT "{name}") FROM {files}').fetchall()
    off: float = abs(column["Distinct"] - exact) / exact
    if off > column["DistinctError"]:
        raise Different(f"{name}: {column['Distinct']} distinct, but there are {exact}.")
    return off


def _rank_off(db: Any, files: str, name: str, column: Mapping[str, Any]) -> float:
    """How far a quantile is from its place: 0 where its value stands at it, as often as it may occur."""
    worst = 0.0
    for share_name, share in SHARES.items() if name in NUMBERS + TIMES else ():
        value = column["Quantiles"][share_name]
        ranks = f"""count(*) FILTER ("{name}" < ?::{_TYPES[name]}), count(*) FILTER ("{name}" <= ?::{_TYPES[name]})"""
        query = f"SELECT {ranks}, count(*) FROM {files}"
        ((below, up_to, count),) = db.execute(query, [str(value), str(value)]).fetchall()
        off = max(below / count - share, share - up_to / count, 0.0)
        if off > column["QuantileError"] + 1 / count:
            raise Different(f"{name}: {share_name} is {value}, whose rank is {below / count:.4f}.")
        worst = max(worst, off)
    return worst


_TYPES = {
    "id": "BIGINT",
    "qty": "INTEGER",
    "price": "DECIMAL(12,2)",
    "amount": "DECIMAL(18,4)",
    "ratio": "DOUBLE",
    "score": "DOUBLE",
    "day": "DATE",
    "at": "TIMESTAMP",
}


def _same(name: str, what: str, ours: object, exact: object) -> None:
    if ours != exact:
        raise Different(f"{name}: {what} {ours}, but {exact}.")


def _near(name: str, what: str, ours: float, exact: float) -> None:
    if not math.isclose(ours, exact, rel_tol=1e-9):
        raise Different(f"{name}: {what} {ours}, but {exact}.")


def _text(value: object) -> str:
    return str(value).replace("T", " ") if value is not None else ""


def profile(table: Path) -> Profile:
    """Return the profile of a whole summary whose tasks run in this process."""
    work = SummaryWork.plan(SummaryJob(path=Location(str(table))).to_job())
    return profile_call("all tasks in one process", lambda: work.run(InProcessRunner(), "profile", lambda *_: None))


if __name__ == "__main__":
    main()
