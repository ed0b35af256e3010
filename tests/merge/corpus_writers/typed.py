"""Parquet, ORC and Avro: every type, every compression, and files that are damaged."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from pyarrow import orc

from tests.merge.corpus_writers.case import Case

AT = datetime(2024, 2, 29, 12, 30, 15, 250_000)
FAR = datetime(9999, 12, 31, 23, 59, 59)
OLD = datetime(1600, 1, 1)

Column = tuple[pa.DataType, Sequence[Any], Sequence[Any]]
"""A type, the values that are written, and those that are expected."""


def _same(kind: pa.DataType, *values: Any) -> Column:
    return kind, values, values


def _zoned(*values: datetime) -> list[datetime]:
    return [each.replace(tzinfo=UTC) for each in values]


BOTH: Mapping[str, Column] = {
    "int8": _same(pa.int8(), 1, -128, None),
    "int16": _same(pa.int16(), 1, -32768, None),
    "int32": _same(pa.int32(), 1, -(2**31), None),
    "int64": _same(pa.int64(), 2**63 - 1, -(2**63), None),
    "float": _same(pa.float32(), 0.5, -2.25, None),
    "double": _same(pa.float64(), 0.1, 1e300, None),
    "bool": _same(pa.bool_(), True, False, None),
    "string": _same(pa.string(), "é😀", "", None),
    "numbers-as-text": _same(pa.string(), "007", "1.50", "true"),
    "hive-null": _same(pa.string(), "__HIVE_DEFAULT_PARTITION__", "x", None),
    "german-numbers": _same(pa.string(), "1.200,00", "0,99", None),
    "binary": _same(pa.binary(), b"\x00\xff", b"", None),
    "date": _same(pa.date32(), date(2024, 2, 29), date(9999, 12, 31), date(1600, 1, 1)),
    "decimal": _same(pa.decimal128(10, 2), Decimal("1.50"), Decimal("-99999999.99"), None),
    "long-decimal": _same(pa.decimal128(38, 2), Decimal("123456789012345678901234567890123456.78"), None),
    "timestamp": _same(pa.timestamp("us"), AT, datetime(2262, 4, 11), None),
    "instant": (pa.timestamp("us", "UTC"), _zoned(AT), _zoned(AT)),
    "list": _same(pa.list_(pa.int64()), [1, 2], [], None),
    "list-of-lists": _same(pa.list_(pa.list_(pa.string())), [["a"], []], None),
    "struct": _same(pa.struct([("a", pa.int64()), ("b", pa.string())]), {"a": 1, "b": "x"}, {"a": None, "b": None}),
    "all-null": _same(pa.string(), None, None),
}
PARQUET_ONLY: Mapping[str, Column] = {
    "uint8": _same(pa.uint8(), 1, 255, None),
    "uint16": _same(pa.uint16(), 1, 65535, None),
    "uint32": _same(pa.uint32(), 1, 2**32 - 1, None),
    "far-timestamp": _same(pa.timestamp("us"), FAR, OLD, None),
    "milliseconds": _same(pa.timestamp("ms"), AT, FAR, OLD),
    "dictionary": _same(pa.dictionary(pa.int8(), pa.string()), "a", "b", "a"),
    "large-string": _same(pa.large_string(), "a", "é", None),
    "fixed-bytes": _same(pa.binary(2), b"ab", b"\x00\x01", None),
}


def typed_cases() -> Iterator[Case]:
    yield from _parquet()
    yield from _orc()
    yield from _avro()
    yield from _folded()


def _table(column: Column) -> pa.Table:
    kind, values, _ = column
    return pa.table({"id": pa.array(range(1, len(values) + 1), pa.int64()), "v": pa.array(values, kind)})


def _rows(column: Column) -> list[list[Any]]:
    return [[number, value] for number, value in enumerate(column[2], 1)]


def _to_parquet(table: pa.Table, **options: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **{"store_schema": False, "write_statistics": False, **options})
    return stream.getvalue()


def _parquet() -> Iterator[Case]:
    for name, column in {**BOTH, **PARQUET_ONLY}.items():
        why = "A type of Parquet keeps its values."
        content = _to_parquet(_table(column), compression="none", use_dictionary=False)
        yield Case(name=f"parquet/{name}.parquet", content=content, why=why, columns=["id", "v"], rows=_rows(column))
    people = pa.table({"id": [1, 2], "v": ["a", None]})
    for codec in ("none", "snappy", "gzip", "zstd", "lz4", "brotli"):
        content = _to_parquet(people, compression=codec)
        why = f"Pages compressed by {codec}."
        yield Case(
            name=f"parquet/codec-{codec}.parquet",
            content=content,
            why=why,
            columns=["id", "v"],
            rows=[[1, "a"], [2, None]],
        )
    for version in ("1.0", "2.4", "2.6"):
        for page in ("1.0", "2.0"):
            content = _to_parquet(people, version=version, data_page_version=page)
            why = "A version of Parquet."
            yield Case(
                name=f"parquet/version-{version}-{page}.parquet",
                content=content,
                why=why,
                columns=["id", "v"],
                rows=[[1, "a"], [2, None]],
            )
    for name, times in {"far": [FAR, OLD, None], "near": [AT, None], "first": [datetime(1, 1, 1)]}.items():
        column = pa.timestamp("us"), times, times
        content = _to_parquet(
            _table(column), use_deprecated_int96_timestamps=True, compression="none", use_dictionary=False
        )
        why = "INT96, as Spark 2, Hive and Impala write it, is the same time in every year."
        yield Case(
            name=f"parquet/int96-{name}.parquet", content=content, why=why, columns=["id", "v"], rows=_rows(column)
        )
    content = _to_parquet(people, compression="none", use_dictionary=False)
    for name, damaged in {"cut": content[:-20], "head-alone": content[:40], "no-footer": content[:-8]}.items():
        why = "A Parquet file without its end is no Parquet file."
        yield Case(name=f"parquet/damaged-{name}.parquet", content=damaged, why=why, error=[f"damaged-{name}.parquet"])
    summed = _to_parquet(
        pa.table({"v": ["canary-one", "two"]}), write_page_checksum=True, compression="none", use_dictionary=False
    )
    yield Case(
        name="parquet/checksum.parquet",
        content=summed.replace(b"canary-one", b"canary-0ne"),
        why="A page that does not fit its checksum is damaged.",
        error=["checksum.parquet", "checksum"],
    )
    yield Case(
        name="parquet/named.csv",
        content=content,
        why="The first bytes say what it is.",
        columns=["id", "v"],
        rows=[[1, "a"], [2, None]],
    )


def _orc() -> Iterator[Case]:
    for name, column in BOTH.items():
        stream = io.BytesIO()
        orc.write_table(_table(column), stream)
        why = "A type of ORC keeps its values."
        yield Case(name=f"orc/{name}.orc", content=stream.getvalue(), why=why, columns=["id", "v"], rows=_rows(column))
    people = pa.table({"id": [1, 2], "v": ["a", None]})
    for codec in ("uncompressed", "snappy", "zlib", "zstd", "lz4"):
        stream = io.BytesIO()
        orc.write_table(people, stream, compression=codec)
        why = f"Stripes compressed by {codec}."
        yield Case(
            name=f"orc/codec-{codec}.orc",
            content=stream.getvalue(),
            why=why,
            columns=["id", "v"],
            rows=[[1, "a"], [2, None]],
        )
    stream = io.BytesIO()
    orc.write_table(people, stream)
    for cut in (1, 20, 100):
        why = "An ORC file without its end is no ORC file."
        yield Case(name=f"orc/cut-{cut}.orc", content=stream.getvalue()[:-cut], why=why, error=[f"cut-{cut}.orc"])
    stream = io.BytesIO()
    orc.write_table(_table((pa.timestamp("us"), [FAR, AT], [FAR, AT])), stream)
    yield Case(
        name="orc/far-timestamp.orc",
        content=stream.getvalue(),
        why="A year beyond 2262 is what it is, or the file is refused.",
        columns=["id", "v"],
        rows=[[1, FAR], [2, AT]],
        or_error=["far-timestamp.orc"],
    )


AVRO: Mapping[str, tuple[Any, Sequence[Any], Sequence[Any]]] = {
    "int": ("int", [1, -(2**31)], [1, -(2**31)]),
    "long": ("long", [2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
    "float": ("float", [0.5, -2.25], [0.5, -2.25]),
    "double": ("double", [0.1, 1e300], [0.1, 1e300]),
    "boolean": ("boolean", [True, False], [True, False]),
    "string": ("string", ["é😀", ""], ["é😀", ""]),
    "bytes": ("bytes", [b"\x00\xff", b""], [b"\x00\xff", b""]),
    "null-or-string": (["null", "string"], ["a", None], ["a", None]),
    "string-or-null": (["string", "null"], [None, "b"], [None, "b"]),
    "enum": ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, ["A", "B"], ["A", "B"]),
    "fixed": ({"type": "fixed", "name": "F", "size": 2}, [b"ab", b"\x00\x01"], [b"ab", b"\x00\x01"]),
    "array": ({"type": "array", "items": "long"}, [[1, 2], []], [[1, 2], []]),
    "record": (
        {"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}]},
        [{"a": 1}, {"a": 2}],
        [{"a": 1}, {"a": 2}],
    ),
    "date": ({"type": "int", "logicalType": "date"}, [date(2024, 2, 29)], [date(2024, 2, 29)]),
    "decimal": (
        {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
        [Decimal("1.50"), Decimal("-3.25")],
        [Decimal("1.50"), Decimal("-3.25")],
    ),
    "instant": ({"type": "long", "logicalType": "timestamp-micros"}, _zoned(AT, FAR), _zoned(AT, FAR)),
    "local-time": ({"type": "long", "logicalType": "local-timestamp-micros"}, [AT, FAR], [AT, FAR]),
    "numbers-as-text": ("string", ["007", "1.50"], ["007", "1.50"]),
    "hive-null": ("string", ["__HIVE_DEFAULT_PARTITION__", "x"], ["__HIVE_DEFAULT_PARTITION__", "x"]),
    "german-numbers": ("string", ["1.200,00", "0,99"], ["1.200,00", "0,99"]),
}


def _avro() -> Iterator[Case]:
    for name, (kind, values, meant) in AVRO.items():
        schema = _avro_schema(kind)
        records = [{"id": number, "v": value} for number, value in enumerate(values, 1)]
        rows = [[number, value] for number, value in enumerate(meant, 1)]
        for codec in ("null", "deflate"):
            stream = io.BytesIO()
            fastavro.writer(stream, fastavro.parse_schema(schema), records, codec=codec, sync_marker=b"M" * 16)
            why = "A type of Avro keeps its values."
            file = f"avro/{name}-{codec}.avro"
            yield Case(name=file, content=stream.getvalue(), why=why, columns=["id", "v"], rows=rows)
    rows = [[1, "a"], [2, "é"]]
    for codec, compress in _CODECS.items():
        content = _avro_by_hand(codec, compress, rows)
        why = f"Blocks compressed by {codec} are read."
        file = f"avro/codec-{codec}.avro"
        yield Case(name=file, content=content, why=why, columns=["id", "v"], rows=rows)
    whole = _avro_by_hand("null", lambda block: block, rows)
    for cut in (1, 10, 24):
        why = "An Avro file that is cut off lacks records."
        yield Case(name=f"avro/cut-{cut}.avro", content=whole[:-cut], why=why, error=[f"cut-{cut}.avro"])


def _avro_schema(kind: Any) -> dict[str, Any]:
    return {"type": "record", "name": "T", "fields": [{"name": "id", "type": "long"}, {"name": "v", "type": kind}]}


def _long(number: int) -> bytes:
    """A long of Avro, not negative."""
    left, out = number << 1, b""
    while left > 0x7F:
        left, out = left >> 7, out + bytes([left & 0x7F | 0x80])
    return out + bytes([left])


def _snappy(block: bytes) -> bytes:
    """Snappy without any compression: its length, one literal of less than 60 bytes, and Avro's checksum."""
    assert len(block) < 60
    return bytes([len(block), (len(block) - 1) << 2]) + block + struct.pack(">I", zlib.crc32(block))


_CODECS: Mapping[str, Callable[[bytes], bytes]] = {
    "snappy": _snappy,
    "zstandard": zstandard.ZstdCompressor().compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "deflate": lambda block: zlib.compress(block)[2:-4],
}


def _avro_by_hand(codec: str, compress: Callable[[bytes], bytes], rows: Sequence[Sequence[Any]]) -> bytes:
    """An Avro file, byte by byte as the specification has it."""
    texts = {b"avro.schema": json.dumps(_avro_schema("string")).encode(), b"avro.codec": codec.encode()}
    pairs = b"".join(_long(len(key)) + key + _long(len(text)) + text for key, text in texts.items())
    block = b"".join(_long(number) + _long(len(text.encode())) + text.encode() for number, text in rows)
    packed = compress(block)
    sync = b"S" * 16
    return (
        b"Obj\x01" + _long(len(texts)) + pairs + b"\x00" + sync + _long(len(rows)) + _long(len(packed)) + packed + sync
    )


def _folded() -> Iterator[Case]:
    """One file with both `A` and `a`, in every format that allows it."""
    table = pa.table({"id": [1, 2], "A": ["x1", "x2"], "a": ["y1", "y2"]})
    stream = io.BytesIO()
    orc.write_table(table, stream)
    avro = io.BytesIO()
    fields = [{"name": "id", "type": "long"}, {"name": "A", "type": "string"}, {"name": "a", "type": "string"}]
    schema = fastavro.parse_schema({"type": "record", "name": "T", "fields": fields})
    fastavro.writer(avro, schema, table.to_pylist(), sync_marker=b"M" * 16)
    contents = {
        "csv": b"id,A,a\n1,x1,y1\n2,x2,y2\n",
        "tsv": b"id\tA\ta\n1\tx1\ty1\n2\tx2\ty2\n",
        "parquet": _to_parquet(table, compression="none"),
        "orc": stream.getvalue(),
        "avro": avro.getvalue(),
    }
    for ending, content in contents.items():
        for names in ("exact", "fold"):
            yield Case(
                name=f"folded/{names}.{ending}",
                content=content,
                why="Two columns of one file are never united, whatever their case: no value is lost.",
                options={"names": names},
                error=[f"exact.{ending}", '"A"', '"a"'] if names == "exact" else [],
                warnings=[f"fold.{ending}"] if names == "fold" else [],
                columns=["id", "A", "A_2"],
                rows=[[1, "x1", "y1"], [2, "x2", "y2"]],
            )
