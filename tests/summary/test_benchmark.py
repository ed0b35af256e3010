"""The proof behind the figures of the benchmark notices what it is there for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.equality import Different
from benchmarks.summarize import check, write_table
from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.summary.job import SummaryJob
from mason.pipeline.jobs.summary.work import SummaryWork


def test_figures_that_are_further_off_than_stated_are_noticed(tmp_path: Path) -> None:
    table = write_table(tmp_path / "data", 160_000)
    work = SummaryWork.plan(SummaryJob(path=Location(str(table))).to_job())
    done = work.run(InProcessRunner(), "job", lambda *_: None).to_dict()
    columns: dict[str, dict[str, Any]] = {each["Name"]: each for each in done["Columns"]}
    files = f"read_parquet('{table}/*.parquet')"
    assert "those of exact queries" in check(files, columns)
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("note", {"Distinct": int(columns["note"]["Distinct"] * 1.1)}),
        ("qty", {"Max": 50}),
        ("city", {"Count": 159_999}),
        ("amount", {"Mean": "1.0"}),
        ("score", {"StandardDeviation": columns["score"]["StandardDeviation"] + 1e-6}),
        ("at", {"Quantiles": {**columns["at"]["Quantiles"], "P50": columns["at"]["Quantiles"]["P25"]}}),
    ]
    for name, figure in wrong:
        with pytest.raises(Different, match=name):
            check(files, {**columns, name: {**columns[name], **figure}})
