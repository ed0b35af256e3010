"""What is said of the golden rows, and as much data as is read in several tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.conftest import Mason
from tests.merge.golden import QUARANTINED, ROWS

TASKS = 4


def columns_of(mason: Mason, engine: str, path: str) -> list[dict[str, Any]]:
    result = mason("operator", "table", "summarize", "-c", engine, "-p", f"path:{path}")
    assert result.exit_code == 0, result.stderr
    (job,) = result.json["Data"]
    if path == "golden":
        assert (job["RowsIn"], job["Rows"], job["RowsQuarantined"]) == (len(ROWS) + 1, len(ROWS), len(QUARANTINED))
    else:
        assert job["Tasks"] == TASKS
    found: list[dict[str, Any]] = job["Columns"]
    return found


def check_golden(columns: list[dict[str, Any]]) -> None:
    """What is said of the golden rows, against what Python says of them."""
    by_name = {each["Name"]: each for each in columns}
    for name in ("id", "name", "amount", "code", "flag", "year", "region"):
        values = [row[name] for row in ROWS if row[name] is not None]
        found = by_name[name]
        assert (found["Count"], found["Nulls"]) == (len(values), len(ROWS) - len(values))
        assert found["Distinct"] == len(set(values))
        assert (found["Min"], found["Max"]) == (min(values), max(values))
    assert by_name["at"]["Min"] == "1969-12-31T23:59:59+00:00"
    assert (by_name["tags"]["Lengths"]["Max"], by_name["tags[]"]["Count"]) == (2, 2)
    assert (by_name["place.city"]["Count"], by_name["place.floor"]["Max"]) == (1, 3)


def write_large(folder: Path) -> None:
    """Write as much as is read in several tasks."""
    folder.mkdir()
    chance = np.random.default_rng(1)
    for number in range(TASKS):
        rows = {"n": chance.integers(-(2**62), 2**62, 700_000), "x": chance.random(700_000)}
        pq.write_table(pa.table(rows), folder / f"{number}.parquet", use_dictionary=False)
