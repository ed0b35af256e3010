"""What files say of their columns, and a table of plain columns does not say: it is told."""

from __future__ import annotations

import io
import json
from uuid import UUID

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from tests.merge.conftest import Merge

UUIDS = [UUID(int=5), UUID(int=2**127)]


def parquet_of(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def number(value: int) -> bytes:
    """A number as Protocol Buffers have it."""
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def text(field: int, content: bytes) -> bytes:
    return number(field << 3 | 2) + number(len(content)) + content


def encrypted_orc(*roots: int) -> bytes:
    """An ORC file as a reader without the key sees it: its footer names the columns that it has only masks of."""
    stream = io.BytesIO()
    table = pa.table({"id": [1], "at": [{"x": 1, "y": 2}], "ssn": ["XXX"]})
    orc.write_table(table, stream, compression="uncompressed")
    content = stream.getvalue()
    tail = content[-1 - content[-1] : -1]
    length, behind = orc.ORCFile(io.BytesIO(content)).file_footer_length, len(content) - len(tail) - 1
    assert tail.startswith(b"\x08" + number(length))
    variants = b"".join(text(3, b"\x08" + number(root)) for root in roots)
    footer = content[behind - length : behind] + text(10, variants)
    mended = b"\x08" + number(len(footer)) + tail.removeprefix(b"\x08" + number(length))
    return content[: behind - length] + footer + mended + bytes([len(mended)])


@pytest.mark.parametrize(("roots", "names"), [([5], ["ssn"]), ([3], ["at"]), ([1, 5], ["id", "ssn"]), ([], [])])
def test_encrypted_columns_of_orc_are_told(merge: Merge, roots: list[int], names: list[str]) -> None:
    merge.given("a.orc", encrypted_orc(*roots))

    plan = merge.plan()

    assert list(plan.warnings) == [
        f'a.orc: column "{name}" is encrypted: masked values stand for it.' for name in names
    ]
    assert merge.run_plan(plan).rows_out == 1


def test_a_uuid_of_parquet_is_told(merge: Merge) -> None:
    merge.given("a.parquet", pa.table({"u": pa.array([each.bytes for each in UUIDS], pa.uuid())}))

    plan = merge.plan()
    merge.run_plan(plan)

    assert list(plan.warnings) == ['a.parquet: column "u" is a UUID: the table has its 16 bytes.']
    assert [row["u"] for row in merge.table().to_pylist()] == [each.bytes for each in UUIDS]


def test_a_uuid_beside_text_is_its_text(merge: Merge) -> None:
    merge.given("a.parquet", pa.table({"u": pa.array([each.bytes for each in UUIDS], pa.uuid())}))
    merge.given("b.csv", "u\nnone\n")

    assert [row["u"] for row in merge.rows()] == [*map(str, UUIDS), "none"]


def test_variants_and_intervals_of_parquet_are_told(merge: Merge) -> None:
    file = merge.given("a.parquet", b"")
    with duckdb.connect() as connection:
        connection.execute(f"copy (select 42::variant v, interval 3 days i) to '{file}' (format parquet)")

    assert list(merge.plan().warnings) == [
        'a.parquet: column "i" is an interval: the table has its 12 bytes.',
        'a.parquet: column "v" is a VARIANT: the table has the parts that it is stored in.',
    ]
    assert merge.run().rows_out == 1


@pytest.mark.parametrize(
    ("metadata", "named"),
    [(json.dumps({"columns": {"geometry": {"encoding": "WKB"}}}), "geometry"), ("[", "its columns")],
)
def test_what_geoparquet_says_is_told(merge: Merge, metadata: str, named: str) -> None:
    table = pa.table({"id": [1], "geometry": [b"\1"]})
    merge.given("a.parquet", parquet_of(table.replace_schema_metadata({"geo": metadata})))

    said = f"what GeoParquet says of {named} (encoding, coordinate system) is not in the table, their bytes are"
    assert list(merge.plan().warnings) == [f"a.parquet: {said}."]


def test_an_enum_of_parquet_is_text(merge: Merge) -> None:
    """Arrow takes it for bytes. The footer of a text differs from that of an ENUM in two bytes."""
    stream = io.BytesIO()
    pq.write_table(pa.table({"kind": ["saw", None, "axe"]}), stream, store_schema=False)
    as_text, as_enum = b"\x25\x00\x4c\x1c\x00\x00", b"\x25\x08\x4c\x4c\x00\x00"
    assert stream.getvalue().count(as_text) == 1
    merge.given("a.parquet", stream.getvalue().replace(as_text, as_enum))

    assert merge.rows() == [{"kind": "saw"}, {"kind": None}, {"kind": "axe"}]
