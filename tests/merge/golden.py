"""One set of files in every format that Mason reads, and the table that they must become, written out in full.

Nothing of what is expected here was computed by Mason: it is what a person reads in the files.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import fastavro
import msgpack
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from mason.engines.storage.models.location import Location
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.rejects import read_quarantine

TYPES = {
    "id": "int64",
    "name": "string",
    "amount": "double",
    "day": "date32[day]",
    "code": "string",
    "flag": "bool",
    "at": "timestamp[us, tz=UTC]",
    "tags": "list<element: string>",
    "place": "struct<city: string, floor: int64>",
    "year": "int64",
    "region": "string",
}
"""Columns in the order in which the files, sorted by name, first show them; those of the folders come last."""


def _row(number: int, **values: Any) -> dict[str, Any]:
    """A row; columns that are not named are null."""
    return {**dict.fromkeys(TYPES), "id": number, **values}


ROWS = [
    _row(1, name="saw, small", amount=3.0, day=date(2024, 1, 31)),
    _row(2, name="two\nlines", amount=-4.0),
    _row(3, name='say "hi"', day=date(2024, 2, 29)),
    _row(4, name="", amount=0.0, day=date(1999, 12, 31)),
    _row(6, amount=7.0, code="00501"),
    _row(7, code="x"),
    _row(8, name="Schön"),
    _row(9, name="Körner"),
    _row(10, amount=0.5, flag=True),
    _row(11),
    _row(12, amount=1.25, day=date(2000, 2, 29)),
    _row(13, amount=2.0),
    _row(14, at=datetime(2024, 3, 10, 12, 0, 0, 250_000, tzinfo=UTC)),
    _row(15, name="avro", at=datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
    _row(16, tags=["a", "b"], place={"city": "Wien", "floor": 3}),
    _row(17, tags=[], place={"city": None, "floor": None}),
    _row(18, name="line\nbreak"),
    _row(19, code="x1"),
    _row(20, amount=2.5),
    _row(21, name="packed", flag=False),
    _row(22, flag=True, year=2024, region="eu"),
    _row(23, year=2024, region="eu"),
    _row(24, flag=False, year=2025),
]

QUARANTINED = [("a.csv", 6, "5")]
"""File, number of the record, and what it says."""

RECORDS = len(ROWS) + len(QUARANTINED)


@dataclass(frozen=True)
class Golden:
    """A table: the names and types of its columns in their order, its rows in theirs, and what did not fit."""

    types: Sequence[tuple[str, str]]
    rows: Sequence[Mapping[str, Any]]
    quarantined: Sequence[tuple[str, int, str]]


GOLDEN = Golden(list(TYPES.items()), ROWS, QUARANTINED)


def write_golden(folder: Path) -> Path:
    """Write the files below a folder and return it."""
    for below in ("year=2024/region=eu", "year=2025/region=__HIVE_DEFAULT_PARTITION__"):
        (folder / below).mkdir(parents=True)
    _write_text(folder)
    _write_columnar(folder)
    _write_records(folder)
    return folder


def read_golden(output: Path) -> Golden:
    """Return what a reader of Mason's finds in a table; an outsider who lists the folder must find the same files."""
    commit = TableFolder(str(output)).current()
    listed = [each.path for each in commit.files] if commit else []
    if sorted(listed) != sorted(file.name for file in output.glob("part-*")):
        raise AssertionError(f"the commit lists {listed}, in the folder are {list(output.glob('part-*'))}")
    table = pa.concat_tables([pq.read_table(output / path) for path in listed])
    rejects = read_quarantine(Location(str(output)))
    return Golden(
        [(field.name, str(field.type)) for field in table.schema],
        table.to_pylist(),
        [(each.file, each.record, each.raw) for each in rejects],
    )


def _write_text(folder: Path) -> None:
    (folder / "a.csv").write_text(
        "id,name,amount,day\n"
        '1,"saw, small",3,2024-01-31\n'
        '2,"two\nlines",-4,\n'
        '3,"say ""hi""",,2024-02-29\n'
        '4,"",0,1999-12-31\n'
        "5\n"
    )
    (folder / "b.tsv").write_text("amount\tid\tcode\n7\t6\t00501\n\t7\tx\n")
    (folder / "c.csv.gz").write_bytes(gzip.compress("name;id\nSchön;8\nKörner;9\n".encode()))
    (folder / "year=2024" / "region=eu" / "n.csv").write_text("id,flag\n22,true\n23,\n")
    (folder / "year=2025" / "region=__HIVE_DEFAULT_PARTITION__" / "o.csv").write_text("flag,id\nfalse,24\n")


def _write_columnar(folder: Path) -> None:
    doubles = pa.table({"id": pa.array([10, 11], pa.int32()), "amount": [0.5, None], "flag": [True, None]})
    pq.write_table(doubles, folder / "d.parquet")
    days = pa.table(
        {
            "id": pa.array([12, 13], pa.int16()),
            "day": pa.array([date(2000, 2, 29), None]),
            "amount": pa.array([1.25, 2.0], pa.float32()),
        }
    )
    orc.write_table(days, folder / "e.orc")
    schema = {
        "type": "record",
        "name": "golden",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "name", "type": ["null", "string"]},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        ],
    }
    rows = [
        {"id": 14, "name": None, "at": datetime(2024, 3, 10, 12, 0, 0, 250_000, tzinfo=UTC)},
        {"id": 15, "name": "avro", "at": datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)},
    ]
    with open(folder / "f.avro", "wb") as stream:
        fastavro.writer(stream, schema, rows)


def _write_records(folder: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"id": 16, "tags": ["a", "b"], "place": {"city": "Wien", "floor": 3}},
        {"id": 17, "tags": [], "place": {"city": None}},
        {"id": 18, "name": "line\nbreak", "place": None},
    ]
    (folder / "g.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "h.json").write_text(json.dumps([{"id": 19, "code": "x1"}, {"id": 20, "amount": 2.5}], indent=1))
    (folder / "i.msgpack").write_bytes(msgpack.packb({"id": 21, "name": "packed", "flag": False}))
