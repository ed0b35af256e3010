"""A table of orders for queries: some keys have two versions, and every customer is in a second table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.jobs.merge.run import run_merge

FILES = 8
CUSTOMERS = 50_000
COUNTRIES = 40
VERSIONS = 1.2
"""How many rows there are for each key."""
COLUMNS = {name: name for name in ("id", "customer", "qty", "price", "ratio", "updated", "note")}
"""All columns, as they are compared."""


def write_orders(folder: Path, keys: int) -> Path:
    """Make a table of Mason's with a fifth more rows than keys, in no order of the keys."""
    raw = folder / "raw"
    raw.mkdir(parents=True)
    random = np.random.default_rng(7)
    ids = np.concatenate([np.arange(keys), random.choice(keys, int(keys * (VERSIONS - 1)), replace=False)])
    versions = np.concatenate([np.zeros(keys, np.int64), np.ones(len(ids) - keys, np.int64)])
    order = random.permutation(len(ids))
    for number, part in enumerate(np.array_split(order, FILES)):
        pq.write_table(_rows(ids[part], versions[part]), raw / f"{number:02}.parquet", compression="snappy")
    return _table(raw, folder / "orders")


def write_customers(folder: Path) -> Path:
    """Make a table of Mason's with a row for each customer."""
    raw = folder / "raw_customers"
    raw.mkdir(parents=True)
    numbers = np.arange(CUSTOMERS)
    countries = pa.array([f"country {number % COUNTRIES:02}" for number in numbers])
    pq.write_table(pa.table({"customer": numbers, "country": countries}), raw / "all.parquet")
    return _table(raw, folder / "customers")


def describe(table: Path) -> str:
    files = list(table.glob("*.parquet"))
    rows = sum(pq.read_metadata(file).num_rows for file in files)
    size = sum(file.stat().st_size for file in files)
    return f"{rows:,} rows, {len(COLUMNS)} columns, {size / 1e6:.0f} MB in {len(files)} Parquet files"


def _rows(ids: np.ndarray, versions: np.ndarray) -> pa.Table:
    times = (ids % 30_000_000 + versions * 40_000_000) * 1_000_000
    notes = pa.array([f"note {number} on an order" for number in range(1000)])
    return pa.table(
        {
            "id": ids,
            "customer": ids * 7919 % CUSTOMERS,
            "qty": ids % 97 + versions,
            "price": (ids * 31 % 100_000) / 100,
            "ratio": np.sin(ids),
            "updated": pa.array(times, pa.timestamp("us")),
            "note": notes.take(pa.array(ids % 1000)),
        }
    )


def _table(raw: Path, output: Path) -> Path:
    plan = plan_merge(MergeJob(Location(str(raw)), Location(str(output))))
    run_merge(plan, InProcessRunner(), "made", lambda *_: None)
    return output
