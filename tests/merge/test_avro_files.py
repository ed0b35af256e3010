"""Avro as others write it: with any codec, and with what no table has."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location, TableRef
from mason.errors import MasonError, UnreadableFile
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.formats.binary import avro_files
from mason.pipeline.jobs.query.job import QueryJob, QueryWork
from mason.pipeline.reading.inference import infer
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.preview import preview_table
from mason.pipeline.reading.view import view_table
from tests.merge.conftest import LOCAL, Merge

ROW = {"type": "record", "name": "row", "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}]}
ROWS = [{"id": number, "name": f"name {number % 7}"} for number in range(5_000)]
SYNC = b"0123456789abcdef"
HEADER = {
    "type": "record",
    "name": "org.apache.avro.file.Header",
    "fields": [
        {"name": "magic", "type": {"type": "fixed", "name": "magic", "size": 4}},
        {"name": "meta", "type": {"type": "map", "values": "bytes"}},
        {"name": "sync", "type": {"type": "fixed", "name": "sync", "size": 16}},
    ],
}


def unpacked(text: bytes) -> bytes:
    return text


def in_snappy(text: bytes) -> bytes:
    return bytes(pa.compress(text, "snappy", asbytes=True)) + zlib.crc32(text).to_bytes(4, "big")


def in_zstandard(text: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(text)
    return bytes(sink.getvalue().to_pybytes())


def encoded(value: Any, schema: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return stream.getvalue()


def file_of(codec: str, pack: Callable[[bytes], bytes], block: int = 1_000) -> bytes:
    """A file as the specification has it: fastavro writes some codecs only with packages that Mason does not need."""
    meta = {"avro.schema": json.dumps(ROW).encode(), "avro.codec": codec.encode()}
    content = encoded({"magic": b"Obj\x01", "meta": meta, "sync": SYNC}, HEADER)
    for start in range(0, len(ROWS), block):
        some = ROWS[start : start + block]
        packed = pack(b"".join(encoded(row, ROW) for row in some))
        content += encoded(len(some), "long") + encoded(len(packed), "long") + packed + SYNC
    return content


CODECS = {"snappy": in_snappy, "zstandard": in_zstandard, "null": unpacked}


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_of_avro_is_read(merge: Merge, codec: str) -> None:
    merge.given("a.avro", file_of(codec, CODECS[codec]))

    result = merge.run()

    assert (result.rows_in, result.rows_out) == (len(ROWS), len(ROWS))
    assert merge.table().to_pylist() == ROWS


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_is_read_by_infer_preview_and_queries_too(tmp_path: Path, codec: str) -> None:
    (tmp_path / "a.avro").write_bytes(file_of(codec, CODECS[codec]))

    columns = infer(LOCAL, str(tmp_path), InferOptions()).schema.columns
    assert [(each.name, str(each.type)) for each in columns] == [("id", "int64"), ("name", "string")]
    assert preview_table(LOCAL, view_table(Location(str(tmp_path))), 2, ()).rows == ROWS[:2]
    job = QueryJob(
        statement="select count(*) n, max(id) m from rows",
        database="shop",
        tables={"rows": TableRef("rows", Location(str(tmp_path)))},
    ).to_job()
    answer = QueryWork.plan(job).run(InProcessRunner(), "asked", lambda *_: None).rows
    assert answer is not None
    assert answer.to_pylist() == [{"n": len(ROWS), "m": len(ROWS) - 1}]


@pytest.mark.parametrize("codec", ["deflate", "bzip2", "xz", "null"])
def test_the_codecs_that_fastavro_writes_are_read(merge: Merge, codec: str) -> None:
    stream = io.BytesIO()
    fastavro.writer(stream, ROW, ROWS, codec=codec)
    merge.given("a.avro", stream.getvalue())

    assert merge.rows() == ROWS


def test_a_codec_that_is_not_read_is_named(merge: Merge) -> None:
    merge.given("a.avro", file_of("brotli", unpacked))

    with pytest.raises(MasonError, match=r"^a\.avro: its codec brotli is not read; these are: null, deflate, snappy"):
        merge.plan()


def test_a_block_of_snappy_that_does_not_fit_its_checksum_is_refused(merge: Merge) -> None:
    def wrong(text: bytes) -> bytes:
        return in_snappy(text)[:-1] + b"\0"

    merge.given("a.avro", file_of("snappy", wrong))

    with pytest.raises(UnreadableFile, match=r"^a\.avro: a block of it is damaged \(snappy\): .*checksum"):
        merge.run()


@pytest.mark.parametrize("codec", CODECS)
def test_a_block_with_other_bytes_is_damaged_and_not_incomplete(merge: Merge, codec: str) -> None:
    merge.given("a.avro", file_of(codec, CODECS[codec])[:-16] + b"x" * 16)

    with pytest.raises(UnreadableFile, match=r"^a\.avro: a block of it is damaged"):
        merge.run()


def test_snappy_that_says_to_be_endless_is_refused_before_memory_is_taken(merge: Merge) -> None:
    merge.given("a.avro", file_of("snappy", lambda text: b"\xff\xff\xff\xff\x0f" + text[:50]))

    with pytest.raises(UnreadableFile, match="cannot be as long as it says"):
        merge.run()


@pytest.mark.parametrize("codec", CODECS)
def test_a_file_that_ends_within_a_block_is_not_complete_wherever_it_ends(merge: Merge, codec: str) -> None:
    """Between two blocks it may end: Avro has no footer that would tell how many there are."""
    content = file_of(codec, CODECS[codec], block=2_500)
    second = content.index(SYNC, content.index(SYNC) + 1) + len(SYNC)
    last = content.index(SYNC, second)
    for end in (second + 1, second + 2, second + 5, last - 1, last, last + 8, last + 15):
        merge.given("a.avro", content[:end])
        with pytest.raises(UnreadableFile, match=r"^a\.avro: not a complete Avro file: it ends within a block"):
            merge.run()


def with_counts(counted: Callable[[int], int]) -> bytes:
    """A file of two blocks of 20 records, which say to hold others."""
    meta = {"avro.schema": json.dumps(ROW).encode(), "avro.codec": b"null"}
    content = encoded({"magic": b"Obj\x01", "meta": meta, "sync": SYNC}, HEADER)
    block = b"".join(encoded(row, ROW) for row in ROWS[:20])
    for _ in range(2):
        content += encoded(counted(20), "long") + encoded(len(block), "long") + block + SYNC
    return content


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (10, "it says to hold 10 records, and more bytes stand behind them"),
        (0, "it says to hold 0 records, and more bytes stand behind them"),
        (21, "it says to hold 21 records, and ends within record 21"),
        (-20, "it says to hold -20 records"),
        (2**62, "it says to hold 4,611,686,018,427,387,904 records, and has 160 bytes"),
    ],
)
def test_a_block_that_holds_other_records_than_it_says_is_damaged(merge: Merge, count: int, said: str) -> None:
    merge.given("a.avro", with_counts(lambda _: count))

    with pytest.raises(UnreadableFile) as refused:
        merge.run()

    assert str(refused.value) == f"a.avro: a block of it is damaged (null): {said}."


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ({}, "not a complete Avro file: its header has no schema"),
        ({"avro.schema": b"7"}, "not a complete Avro file"),
        ({"avro.schema": b"{", "avro.codec": b"null"}, "not a complete Avro file"),
        ({"avro.schema": json.dumps(ROW).encode(), "avro.codec": b"\xff"}, "its codec \ufffd is not read"),
    ],
)
def test_a_header_that_says_too_little_names_the_file(merge: Merge, meta: dict[str, bytes], said: str) -> None:
    merge.given("a.avro", encoded({"magic": b"Obj\x01", "meta": meta, "sync": SYNC}, HEADER))

    with pytest.raises(PlanRefused, match=f"^a.avro: {said}"):
        merge.plan()


@pytest.mark.parametrize("size", [-5, 2**60])
def test_a_block_that_says_to_be_of_no_size_that_can_be_is_refused(merge: Merge, size: int) -> None:
    content = with_counts(lambda count: count)
    block = encoded(20, "long") + encoded(160, "long")
    merge.given("a.avro", content.replace(block, encoded(20, "long") + encoded(size, "long")))

    with pytest.raises(UnreadableFile, match=r"it says to have -5 bytes|it ends within a block"):
        merge.run()


def in_raw_deflate(text: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(text) + packer.flush()


PACKED = {**CODECS, "deflate": in_raw_deflate, "bzip2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("codec", [codec for codec in PACKED if codec != "null"])
def test_a_block_that_grows_beyond_all_measure_is_refused(
    merge: Merge, codec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def padded(text: bytes) -> bytes:
        return PACKED[codec](text + b"\0" * 5_000_000)

    monkeypatch.setattr(avro_files, "MOST_BLOCK", 1_000_000)
    merge.given("a.avro", file_of(codec, padded))

    with pytest.raises(UnreadableFile, match=r"a block of it is damaged .* it has more than 1,000,000 bytes once"):
        merge.run()


@pytest.mark.parametrize("codec", PACKED)
def test_blocks_of_many_bytes_are_read_where_they_are_what_they_say(merge: Merge, codec: str) -> None:
    merge.given("a.avro", file_of(codec, PACKED[codec], block=5_000))

    assert len(merge.rows()) == len(ROWS)


def test_records_that_contain_themselves_are_json_text_there(merge: Merge) -> None:
    node = {
        "type": "record",
        "name": "node",
        "fields": [
            {"name": "v", "type": "int"},
            {"name": "next", "type": ["null", "node"]},
            {"name": "others", "type": {"type": "map", "values": "node"}},
        ],
    }
    inner = {"v": 2, "next": None, "others": {}}
    stream = io.BytesIO()
    fastavro.writer(stream, node, [{"v": 1, "next": inner, "others": {"x": inner}}])
    merge.given("a.avro", stream.getvalue())

    plan = merge.plan()
    merge.run_plan(plan)

    text = '{"v": 2, "next": null, "others": {}}'
    assert merge.table().to_pylist() == [{"v": 1, "next": text, "others": [("x", text)]}]
    assert list(plan.warnings) == ['a.avro: records of the type "node" contain others of it: these are JSON text.']


LINKED = {
    "type": "record",
    "name": "r",
    "fields": [{"name": "v", "type": "int"}, {"name": "n", "type": ["null", "r"]}],
}


def one_block(schema: Any, body: bytes) -> bytes:
    meta = {"avro.schema": json.dumps(schema).encode(), "avro.codec": b"null"}
    begin = encoded({"magic": b"Obj\x01", "meta": meta, "sync": SYNC}, HEADER)
    return begin + encoded(1, "long") + encoded(len(body), "long") + body + SYNC


@pytest.mark.parametrize("depth", [2_000, 20_000])
def test_records_that_contain_each_other_too_deeply_are_refused_and_crash_nothing(merge: Merge, depth: int) -> None:
    merge.given("a.avro", one_block(LINKED, b"\x02\x02" * depth + b"\x02\x00"))

    with pytest.raises(MasonError, match="a.avro: its records contain others of their own type too deeply."):
        merge.run()


def test_records_that_contain_each_other_in_a_row_of_a_hundred_are_read(merge: Merge) -> None:
    merge.given("a.avro", one_block(LINKED, b"\x02\x02" * 100 + b"\x02\x00"))

    [row] = merge.rows()

    assert row["n"].count('"v": 1') == 100


@pytest.mark.parametrize(
    "items", ["null", {"type": "fixed", "name": "f", "size": 0}, {"type": "record", "name": "e", "fields": []}]
)
def test_lists_of_what_takes_no_bytes_are_refused_before_they_take_all_memory(merge: Merge, items: Any) -> None:
    lists = {"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "array", "items": items}}]}
    merge.given("a.avro", one_block(lists, b"\x80\x94\xeb\xdc\x03\x00"))

    with pytest.raises(MasonError, match="a.avro: it has lists of what takes no bytes"):
        merge.run()


@pytest.mark.parametrize(
    ("schema", "values", "rows"),
    [
        ("int", [1, 2], [1, 2]),
        ({"type": "array", "items": "string"}, [["a"], []], [["a"], []]),
        (["null", ROW], [None, ROWS[1]], [None, ROWS[1]]),
    ],
)
def test_values_that_are_no_records_are_one_column(merge: Merge, schema: Any, values: Any, rows: Any) -> None:
    stream = io.BytesIO()
    fastavro.writer(stream, schema, values)
    merge.given("a.avro", stream.getvalue())

    plan = merge.plan()
    merge.run_plan(plan)

    assert merge.table().to_pylist() == [{"value": each} for each in rows]
    assert 'stands in the column "value"' in plan.warnings[0]


def test_a_time_that_python_has_no_word_for_is_told_as_that(merge: Merge) -> None:
    at = {"type": "long", "logicalType": "timestamp-micros"}
    stream = io.BytesIO()
    fastavro.writer(stream, {**ROW, "fields": [{"name": "at", "type": at}]}, [{"at": 400_000_000_000_000_000}])
    merge.given("a.avro", stream.getvalue())

    with pytest.raises(UnreadableFile, match=r"^a\.avro: it has a date or a time beyond the years 1 to 9999"):
        merge.run()


def test_records_without_fields_are_refused(merge: Merge) -> None:
    stream = io.BytesIO()
    fastavro.writer(stream, {**ROW, "fields": []}, [{}, {}])
    merge.given("a.avro", stream.getvalue())

    with pytest.raises(MasonError, match=r"^a\.avro: its records have no fields"):
        merge.plan()
