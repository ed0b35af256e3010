"""Formats that have types of their own, record by record."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgpack
import pytest

from mason.errors import NoData, UnreadableFile

if TYPE_CHECKING:
    from tests.pipeline.conftest import Folder

RECORDS: list[dict[str, Any]] = [
    {"id": 1, "name": "2024-01-01", "price": 1.5, "ok": True, "tags": ["a"], "at": {"x": 1, "y": None}},
    {
        "id": 2,
        "name": "7",
        "price": 2,
        "ok": None,
        "tags": [],
        "at": {"x": 2.5, "z": "q"},
        "late": 2**64 - 1,
    },
]
TYPES = {
    "id": "int64",
    "name": "string",
    "price": "double",
    "ok": "bool",
    "tags": "list<item: string>",
    "at": "struct<x: double, y: string, z: string>",
    "late": "decimal128(38, 0)",
}


@pytest.mark.parametrize(
    ("name", "content", "format_"),
    [
        ("a.json", json.dumps(RECORDS), "json"),
        ("a.json", json.dumps(RECORDS, indent=2), "json"),
        ("a.jsonl", "\n".join(map(json.dumps, RECORDS)), "jsonl"),
        ("a.ndjson", "\r\n".join(map(json.dumps, RECORDS)) + "\r\n\r\n", "jsonl"),
        ("a.json", "\n".join(map(json.dumps, RECORDS)), "jsonl"),
        ("a", "\n".join(map(json.dumps, RECORDS)), "jsonl"),
        ("a.json", "\n".join(json.dumps(record, indent=1) for record in RECORDS), "json"),
    ],
)
def test_json_is_read_however_it_is_laid_out(folder: Folder, name: str, content: str, format_: str) -> None:
    folder.given(name, content)

    found = folder.infer()

    assert {column.name: str(column.type) for column in found.schema.columns} == TYPES
    assert (found.schema.schema_type, found.rows_read, found.sampled) == (format_, 2, False)


def test_one_json_object_is_one_row(folder: Folder) -> None:
    folder.given("a.json", json.dumps(RECORDS[0], indent=2))

    assert folder.infer().rows_read == 1


def test_utf16_json_with_a_mark_is_read(folder: Folder) -> None:
    folder.given("a.json", json.dumps([{"größe": 1}], ensure_ascii=False).encode("utf-16"))

    assert folder.types() == {"größe": "int64"}


@pytest.mark.parametrize("broken", [0, 1, 2])
def test_a_broken_line_is_reported_by_its_number(folder: Folder, broken: int) -> None:
    lines = ['{"a": 1}', '{"a": 2}', '{"a": 3}']
    lines[broken] = '{"a": '
    folder.given("a.jsonl", "\n".join(lines))

    assert folder.types() == {"a": "int64"}
    assert folder.warnings() == f"a.jsonl: line {broken + 1} is not a JSON object."


def test_an_array_that_breaks_off_gives_what_stands_before(folder: Folder) -> None:
    folder.given("a.json", '[{"a": 1}, {"a": 2}, {"a"')

    assert folder.types() == {"a": "int64"}
    assert "a.json: it is not valid JSON" in folder.warnings()


@pytest.mark.parametrize("content", ["[1, 2, 3]", '"text"', "{", "[", "{]}", "[[1]]", "nonsense", "[" * 100_000])
def test_json_without_objects_is_unreadable(folder: Folder, content: str) -> None:
    folder.given("a.json", content)

    with pytest.raises(UnreadableFile, match=r"^a\.json: "):
        folder.infer()


def test_an_empty_array_or_blank_text_is_no_data(folder: Folder) -> None:
    folder.given("a.json", " [ ] ")
    folder.given("b.json", " \n ")

    with pytest.raises(NoData):
        folder.infer()


def test_a_sample_of_a_large_array_is_enough(folder: Folder) -> None:
    folder.given("a.json", json.dumps([{"a": index, "b": "x" * 100} for index in range(5_000)]))

    sampled, everything = folder.infer(), folder.infer(read_all=True)

    assert sampled.sampled
    assert 20 <= sampled.rows_read <= 1_000
    assert (everything.rows_read, everything.sampled) == (5_000, False)
    assert sampled.schema == everything.schema


def test_a_json_object_longer_than_a_block_is_read(folder: Folder) -> None:
    folder.given("a.json", json.dumps([{"a": "x" * 200_000, "b": 1}, {"a": "y", "b": 2}]))

    assert folder.types() == {"a": "string", "b": "int64"}


def test_a_scalar_beside_something_nested_is_json_text(folder: Folder) -> None:
    folder.given("a.jsonl", '{"a": 1, "b": {"c": 1}}\n{"a": [1], "b": {}}\n')

    assert folder.types() == {"a": "string", "b": "struct<c: int64>"}


def test_integers_that_a_double_would_change_are_decimal_beside_fractions(folder: Folder) -> None:
    folder.given("a.jsonl", '{"a": 9007199254740993, "b": 9007199254740993}\n{"a": 1.25, "b": 1}\n')

    assert folder.types() == {"a": "decimal128(38, 2)", "b": "int64"}


def test_exponents_nan_and_integers_of_any_length_are_numbers_of_json(folder: Folder) -> None:
    folder.given("a.jsonl", '{"a": 1e300, "b": NaN, "c": 1' + "0" * 50 + "}\n")

    assert folder.types() == {"a": "double", "b": "double", "c": "string"}


def test_keys_that_differ_only_in_case_are_reported(folder: Folder) -> None:
    folder.given("a.jsonl", '{"id": 1, "ID": 2}\n')

    assert folder.warnings() == 'a.jsonl: its columns "id" and "ID" differ only in case.'


@pytest.mark.parametrize("one_array", [True, False])
def test_msgpack_is_read_as_a_stream_of_maps_or_one_array(folder: Folder, one_array: bool) -> None:
    content = msgpack.packb(RECORDS) if one_array else b"".join(map(msgpack.packb, RECORDS))
    folder.given("a.msgpack", content)

    found = folder.infer()

    assert folder.types() == TYPES
    assert (found.schema.schema_type, found.rows_read, found.sampled) == ("msgpack", 2, False)


def test_msgpack_has_times_and_bytes(folder: Folder) -> None:
    record = {"at": datetime(2024, 1, 1, tzinfo=UTC), "raw": b"x", 5: 1}
    folder.given("a.mpk", msgpack.packb(record, datetime=True))

    assert folder.types() == {"at": "timestamp[us, tz=UTC]", "raw": "binary", "5": "int64"}


def test_a_large_msgpack_file_is_sampled(folder: Folder) -> None:
    folder.given("a.msgpack", b"".join(msgpack.packb({"a": index, "b": "x" * 100}) for index in range(5_000)))

    assert folder.infer().sampled
    assert folder.infer(read_all=True).rows_read == 5_000


@pytest.mark.parametrize("content", [b"\x01\x02", b"\x92\x01\x02", b"\xc1", b"\x81\xa1"])
def test_msgpack_without_maps_is_unreadable(folder: Folder, content: bytes) -> None:
    folder.given("a.msgpack", content)

    with pytest.raises(UnreadableFile, match=r"^a\.msgpack: "):
        folder.infer()


def test_msgpack_that_breaks_off_gives_what_stands_before(folder: Folder) -> None:
    folder.given("a.msgpack", msgpack.packb({"a": 1}) + b"\xc1")

    assert folder.types() == {"a": "int64"}
    assert "a.msgpack: only its beginning could be read: it is not valid Msgpack" in folder.warnings()
