"""The same table gives the same files, whichever engine runs the tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.pipeline.table_folder import TableFolder
from tests.conftest import Mason
from tests.merge.test_engines import ENGINES, engines

__all__ = ["engines"]

HEADER = "id,name,tags\n"
FIRST = '1,"saw, small","[""a"",null]"\n2,"",\n'
SECOND = '4,,"[]"\n'
"""What a person reads in the rows that are given, without that which the filter leaves out."""


def _given(folder: Path) -> None:
    folder.mkdir()
    rows = {"id": [1, 2, 3], "name": ["saw, small", "", "axe"], "tags": [["a", None], None, ["b"]]}
    pq.write_table(pa.table(rows), folder / "a.parquet")
    tags = pa.array([[]], pa.list_(pa.string()))
    pq.write_table(pa.table({"id": [4], "name": pa.array([None], pa.string()), "tags": tags}), folder / "b.parquet")


def _texts(folder: Path) -> list[str]:
    commit = TableFolder(str(folder)).current()
    assert commit is not None
    return [(folder / each.path).read_text() for each in commit.files]


@pytest.mark.timeout(600)
def test_the_same_files_here_on_a_warm_spark_on_one_in_this_process_and_over_connect(engines: Mason) -> None:
    _given(engines.folder / "in")

    for engine in ENGINES:
        for kind in ("csv", "json"):
            parameters = f"path:in,output_path:out/{engine}/{kind},format:{kind},filter:id <> 3"
            result = engines("operator", "table", "format", "-c", engine, "-p", parameters)

            assert result.exit_code == 0, result.stderr
            (job,) = result.json["Data"]
            counts = [job[name] for name in ("RowsIn", "RowsOut", "RowsFiltered", "RowsQuarantined")]
            assert counts == [4, 3, 1, 0], engine
        written = "".join(text.removeprefix(HEADER) for text in _texts(engines.folder / "out" / engine / "csv"))
        assert written == FIRST + SECOND, engine
        (document,) = _texts(engines.folder / "out" / engine / "json")
        assert [row["id"] for row in json.loads(document)] == [1, 2, 4], engine
    shown = engines("operator", "table", "preview", "-c", "here", "-p", "path:out/warm/csv").json["Data"]
    assert [row["tags"] for row in shown[0]["Rows"]] == [["a", None], None, []]
