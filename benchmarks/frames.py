"""What `m.sql` adds to DuckDB's own query of the same files, when all rows come as Arrow.

.venv/bin/python -m benchmarks.frames [--scale 0.1]
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import duckdb
import pyarrow as pa

import mason
from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.script import Script, script
from mason.configurations.configuration import parse_configuration
from mason.configurations.saved import save_configurations
from mason.util.environment import MasonEnvironment

ROWS = 10_000_000
AT_MOST = 1.2
CONFIGURATION = """
id: here
metastore_engine: local
storage_engine: local
execution_engine: local
clients: {local: {configuration: {root: ROOT}}}
"""


def main() -> None:
    with script(__doc__, rounds=5) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Save a frame as a table, and ask for all of its rows."""
    root = running.folder / "data"
    (root / "shop").mkdir(parents=True)
    file = Path("here.yaml")
    configuration = parse_configuration(CONFIGURATION.replace("ROOT", str(root)), name=str(file), default_id="here")
    save_configurations(MasonEnvironment.of(), [(file, configuration)])
    os.environ["MASON_CONFIG"] = "here"
    m = mason.connect()
    count = running.bytes(ROWS)
    m.save(_make_rows(count), "shop.big")
    files = [str(each) for each in (root / "shop" / "big").glob("*.parquet")]

    def ask_duckdb() -> None:
        assert duckdb.connect().read_parquet(files).to_arrow_table().num_rows == count

    def ask_mason() -> None:
        assert m.sql("SELECT * FROM shop.big").to_arrow().num_rows == count

    rival, ours = interleaved(
        [Contestant("DuckDB", seconds(ask_duckdb)), Contestant("m.sql", seconds(ask_mason))], running.rounds
    )
    comparison = Comparison("all rows as Arrow", ours, rival, limit=AT_MOST)
    return Result("frames", f"{count:,} rows of a number, a fraction and a word", [comparison])


def _make_rows(count: int) -> pa.Table:
    chance = random.Random(1)
    words = pa.array([f"word {number}" for number in range(1_000)])
    some = [chance.random() for _ in range(1_000)]
    return pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "amount": pa.array([some[number % 997] for number in range(count)]),
            "word": words.take(pa.array([number % 1_000 for number in range(count)])),
        }
    )


if __name__ == "__main__":
    main()
