"""Rows that are written in other formats, and the text that they must become."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mason.pipeline.tables.folder import TableFolder

HEADER = "id,name,tags\n"
FIRST = '1,"saw, small","[""a"",null]"\n2,"",\n'
SECOND = '4,,"[]"\n'
"""What a person reads in the rows that are given, without that which the filter leaves out."""


def write_golden(folder: Path) -> None:
    """Write two files of rows."""
    folder.mkdir()
    rows = {"id": [1, 2, 3], "name": ["saw, small", "", "axe"], "tags": [["a", None], None, ["b"]]}
    pq.write_table(pa.table(rows), folder / "a.parquet")
    tags = pa.array([[]], pa.list_(pa.string()))
    pq.write_table(pa.table({"id": [4], "name": pa.array([None], pa.string()), "tags": tags}), folder / "b.parquet")


def texts_of(folder: Path) -> list[str]:
    """Return what is in the files of a table."""
    commit = TableFolder(str(folder)).current()
    assert commit is not None
    return [(folder / each.path).read_text() for each in commit.files]
