"""Fields that are longer than a server reads: their records are set aside, and all others are there."""

from __future__ import annotations

import contextvars
import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import msgpack
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from mason.errors import UnreadableFile
from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.json.parse import LongLine, split_lines
from mason.pipeline.formats.scanning.chunks import split_chunks
from mason.pipeline.jobs.merge.outcome import MergeResult
from mason.pipeline.work.memory_limits import MemoryLimits, limit_memory
from tests.merge.conftest import Merge

MOST = 100_000
LONG = "x" * (MOST + 1)
FITS = "y" * MOST


def limited(work: Callable[[], Any], most: int = MOST) -> Any:
    """Do some work as a server does."""

    def within() -> Any:
        limit_memory(MemoryLimits(field_bytes=most))
        return work()

    return contextvars.copy_context().run(within)


def merged(merge: Merge) -> MergeResult:
    result: MergeResult = limited(merge.run)
    return result


def rows_of(kind: str, rows: list[dict[str, Any]]) -> bytes:
    if kind == "csv":
        return ("id,note\n" + "".join(f'{row["id"]},"{row["note"]}"\n' for row in rows)).encode()
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    if kind == "json":
        return json.dumps(rows).encode()
    if kind == "msgpack":
        return b"".join(map(msgpack.packb, rows))
    stream = io.BytesIO()
    if kind == "avro":
        fields = [{"name": "id", "type": "long"}, {"name": "note", "type": "string"}]
        fastavro.writer(stream, {"type": "record", "name": "row", "fields": fields}, rows)
    else:
        write = orc.write_table if kind == "orc" else pq.write_table
        write(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    "ending",
    ["csv", "csv.gz", "jsonl", "jsonl.gz", "json", "json.gz", "msgpack", "msgpack.gz", "avro", "orc", "parquet"],
)
def test_a_record_with_a_field_that_is_too_long_is_set_aside_and_the_others_are_there(
    merge: Merge, ending: str
) -> None:
    rows = [{"id": 1, "note": "a"}, {"id": 2, "note": LONG}, {"id": 3, "note": FITS}, {"id": 4, "note": "d"}]
    kind, _, packed = ending.partition(".")
    content = rows_of(kind, rows)
    merge.given(f"a.{ending}", gzip.compress(content) if packed else content)

    done = merged(merge)

    assert (done.rows_in, done.rows_out, done.quarantined) == (4, 3, 1)
    assert sorted(merge.table().column("id").to_pylist()) == [1, 3, 4]
    (reject,) = merge.rejects()
    assert reject.column == "note"
    assert reject.reason.startswith("a field has 100,001 bytes: the most that is read here are 100,000 (field_bytes)")
    assert len(reject.raw) == 1000


def test_without_a_limit_it_is_a_row_like_any_other(merge: Merge) -> None:
    merge.given("a.csv", rows_of("csv", [{"id": 1, "note": LONG}]))

    assert merge.run().rows_out == 1


def test_what_a_table_has_it_keeps_when_it_is_read_under_a_limit(merge: Merge) -> None:
    merge.given("a.csv", rows_of("csv", [{"id": 1, "note": LONG}]))
    merge.run()
    merge.given("a.csv", rows_of("csv", [{"id": 2.5, "note": "b"}]))

    limited(lambda: merge.run(mode="append"))

    assert sorted(merge.table().column("id").to_pylist()) == [1, 2.5]


def test_a_broken_record_keeps_but_its_beginning(merge: Merge) -> None:
    merge.given("a.csv", f"id,note\n1,a\n2,b,{LONG}\n3,c\n")

    done = merged(merge)

    assert (done.rows_in, done.rows_out, done.quarantined) == (3, 2, 1)
    (reject,) = merge.rejects()
    assert "3 fields" in reject.reason
    assert len(reject.raw) == 1000


def test_a_document_of_json_that_is_one_long_text_is_refused_while_it_is_read(merge: Merge) -> None:
    merge.given("a.json", b'[{"id": 1}, {"id": 2, "note": "' + b"x" * 20_000_000 + b'"}]')

    with pytest.raises(UnreadableFile, match=r"a\.json.*a value has more than 100,000 bytes.*field_bytes"):
        merged(merge)


# Cutting text, of which no record with such a field is ever held


@pytest.mark.parametrize("quoted", [True, False])
@pytest.mark.parametrize("size", [7, 64, 1000])
def test_of_a_long_record_the_rest_is_passed_over(size: int, quoted: bool) -> None:
    long = '"' + 'a,""\n' * 2000 + '"' if quoted else "a" * 10_000
    text = f"1,x\n2,{long}\n3,y\n".encode()
    blocks = [text[start : start + size] for start in range(0, len(text), size)]

    chunks = list(split_chunks(blocks, Dialect(), size=size, most_field=500))

    assert [chunk.offset for chunk in chunks] == sorted(chunk.offset for chunk in chunks)
    (passed_over,) = [chunk for chunk in chunks if chunk.passed_over]
    record = text[4:].removesuffix(b"3,y\n")
    assert passed_over.passed_over == len(record)
    assert record.startswith(passed_over.read)
    assert b"".join(chunk.text for chunk in chunks if not chunk.passed_over) == b"1,x\n3,y\n"
    assert max(len(chunk.read) for chunk in chunks) <= 4 * max(size, 500)


def test_a_long_record_may_be_the_last_one_and_without_an_end() -> None:
    chunks = list(split_chunks([b"1,x\n", b'2,"' + b"a" * 1000, b"b" * 1000], Dialect(), size=4, most_field=100))

    assert [(chunk.offset, chunk.passed_over) for chunk in chunks] == [(0, 0), (4, 2003)]


@pytest.mark.parametrize("size", [7, 64, 1000])
def test_of_a_long_line_the_rest_is_passed_over(size: int) -> None:
    long = b'{"a": "' + b"x" * 10_000 + b'"}\n'
    text = b'{"a": 1}\n' + long + b'{"a": 2}\n'
    blocks = [text[start : start + size] for start in range(0, len(text), size)]

    found = list(split_lines(blocks, size, most_field=500))

    (line,) = [each for each in found if isinstance(each, LongLine)]
    assert line.length == len(long)
    assert long.startswith(line.begins)
    assert b"".join(each for each in found if isinstance(each, bytes)) == b'{"a": 1}\n{"a": 2}\n'


def test_a_compressed_file_with_a_gigabyte_in_one_field_takes_little_memory(tmp_path: Path) -> None:
    """In a process of its own, which says what it took at most; without the limit it takes several gigabytes."""
    (tmp_path / "in").mkdir()
    with gzip.open(tmp_path / "in" / "a.csv.gz", "wb", compresslevel=1) as file:
        file.write(b'id,note\n1,a\n2,"')
        for _ in range(1000):
            file.write(b"x" * 1_000_000)
        file.write(b'"\n3,c\n')

    said = subprocess.run(
        [sys.executable, "-c", _BOMB, str(tmp_path)], capture_output=True, text=True, check=True, timeout=300
    )

    rows_in, rows_out, quarantined, megabytes = map(int, said.stdout.split())
    assert (rows_in, rows_out, quarantined) == (3, 2, 1)
    assert megabytes < 1200
    (tmp_path / "in" / "a.csv.gz").unlink()


_BOMB = """
import re, sys
from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.work.memory_limits import SERVER_BYTES, MemoryLimits, limit_memory
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.jobs.merge.run import run_merge
limit_memory(MemoryLimits(field_bytes=SERVER_BYTES))
folder = sys.argv[1]
plan = plan_merge(MergeJob(Location(f"{folder}/in"), Location(f"{folder}/out")))
done = run_merge(plan, InProcessRunner(), "job", lambda *_: None)
# not ru_maxrss: it counts the memory of the process that started this one
peak = int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) // 1000
print(done.rows_in, done.rows_out, done.quarantined, peak)
"""
