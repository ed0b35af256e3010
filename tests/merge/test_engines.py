"""The same files give the same table, whichever engine runs the tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.pipeline.table_commit import TableFolder
from tests.conftest import EXAMPLES, Mason, write

ENGINE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: {engine}\nclients:\n{clients}"
SPARK = "  spark:\n    configuration:\n      runner:\n        type: local\n        warm: {warm}\n"


@pytest.fixture
def engines(mason: Mason, tmp_path: Path) -> Iterator[Mason]:
    mason.variables["XDG_RUNTIME_DIR"] = str(tmp_path / "runtime")
    (tmp_path / "runtime").mkdir(mode=0o700)
    write(
        mason.folder / "configs",
        {
            "here.yaml": ENGINE.format(engine="local", clients="  local: {configuration: {}}\n"),
            "warm.yaml": ENGINE.format(engine="spark", clients=SPARK.format(warm="always")),
            "cold.yaml": ENGINE.format(engine="spark", clients=SPARK.format(warm="never")),
        },
    )
    assert mason("config", "configs").exit_code == 0
    yield mason.register_examples()
    assert mason("spark", "stop").exit_code == 0


def merged(mason: Mason, engine: str) -> tuple[dict[str, Any], pa.Table]:
    data = f"input_path:{EXAMPLES / 'data' / 'suppliers'},output_path:out/{engine}"
    result = mason("operator", "table", "merge", "-c", engine, "-p", data)
    assert result.exit_code == 0, result.stderr
    folder = mason.folder / "out" / engine
    commit = TableFolder(str(folder)).current()
    assert commit is not None
    return result.json["Data"][0], pa.concat_tables([pq.read_table(folder / each.path) for each in commit.files])


@pytest.mark.timeout(600)
def test_the_same_rows_and_types_here_on_a_warm_spark_and_on_one_in_this_process(engines: Mason) -> None:
    results = {engine: merged(engines, engine) for engine in ("here", "warm", "cold")}

    for record, table in results.values():
        assert (record["RowsIn"], record["RowsOut"], record["RowsQuarantined"]) == (14, 13, 1)
        assert table.schema == results["here"][1].schema
        assert table.to_pylist() == results["here"][1].to_pylist()
    again, table = merged(engines, "warm")
    assert table.to_pylist() == results["here"][1].to_pylist()
    assert again["Commit"] != results["warm"][0]["Commit"]
    listed = engines("operator", "job", "list", "-c", "here").json["Data"]
    assert [each["Status"] for each in listed] == ["succeeded"] * 4
