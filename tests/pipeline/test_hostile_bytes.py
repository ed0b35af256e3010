"""Whatever bytes a file holds, the answer is a schema or one clear error, never a traceback from inside a parser."""

from __future__ import annotations

import bz2
import gzip
import io
import json
from pathlib import Path
from typing import Any

import fastavro
import msgpack
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import orc

from mason.engines.storage.models.infer_options import InferOptions
from mason.errors import NoData, UnreadableFile
from mason.pipeline.reading.inference import infer

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
CSV = b'id,name,price\n1,x,1.50\n2,"y ""z"", \n",2.25\n3,,5\n'
AVRO = {"type": "record", "name": "R", "fields": [{"name": "a", "type": ["null", "long"]}]}


def written(write: Any, *arguments: Any) -> bytes:
    target = io.BytesIO()
    write(*arguments, target)
    return target.getvalue()


SEEDS = [
    CSV,
    CSV.decode().encode("utf-16"),
    gzip.compress(CSV, mtime=0),
    bz2.compress(CSV),
    pa.Codec("zstd").compress(CSV, asbytes=True),
    json.dumps(ROWS).encode(),
    b"\n".join(json.dumps(row).encode() for row in ROWS),
    msgpack.packb(ROWS),
    b"".join(map(msgpack.packb, ROWS)),
    written(pq.write_table, pa.Table.from_pylist(ROWS)),
    written(orc.write_table, pa.Table.from_pylist(ROWS)),
    written(lambda target: fastavro.writer(target, AVRO, [{"a": 1}])),
]
NAMES = ["f.csv", "f.json", "f.jsonl", "f.parquet", "f.orc", "f.avro", "f.msgpack", "f.csv.gz", "f"]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    content = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(start + 20, len(content))))
        content[start:end] = draw(st.binary(max_size=4))
    return bytes(content)


@settings(
    deadline=None, max_examples=300, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.one_of(damaged(), st.binary(max_size=60)), name=st.sampled_from(NAMES), read_all=st.booleans())
@pytest.mark.parametrize("input_format", ["", "csv"])
def test_damaged_files_give_a_schema_or_an_error_that_names_them(
    tmp_path: Path, content: bytes, name: str, read_all: bool, input_format: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    try:
        found = infer(pafs.LocalFileSystem(), str(path), InferOptions(input_format=input_format, read_all=read_all))
    except UnreadableFile as error:
        assert str(error).startswith(name)
    except NoData as error:
        assert name in str(error)
    else:
        assert found.schema.columns
        assert found.describe_sample().startswith("Looked at")
