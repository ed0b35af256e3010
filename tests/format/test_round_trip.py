"""What is written reads back the same, type by type and value by value, in every format that Mason reads."""

from __future__ import annotations

import tempfile
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.format.conftest import Format, read_table

FORMATS = ("parquet", "csv", "jsonl", "json", "orc", "avro", "msgpack")
COMPRESSED = {"csv": "gzip", "jsonl": "zstd", "json": "gzip", "orc": "snappy", "avro": "none", "msgpack": "zstd"}

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [
        "",
        " ",
        "null",
        "NaN",
        "a,b",
        'q"uo""te',
        "two\nlines",
        "\r",
        "\r\n",
        "\x00",
        "\ufeff",
        "😀",
        "é",
        "\\",
        "00501",
        "{}",
    ]
)
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6) | st.sampled_from(
    ["a.b", 'a"b', "a`b", "😀", "select", "a b", "a,b", "1st", "key", "value", "a_x2e_b", "line\nend"]
)
DIGITS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**27), max_value=10**27, places=10)
LIMITS = {  # of ORC, Arrow reads times in nanoseconds
    "orc": (datetime(1700, 1, 1), datetime(2200, 1, 1)),
}


def scalars(format_: str) -> list[tuple[pa.DataType, st.SearchStrategy[Any]]]:
    first, last = LIMITS.get(format_, (datetime.min, datetime.max))
    times = st.datetimes(first, last)
    return [
        (pa.string(), TEXT),
        (pa.int8(), st.integers(-(2**7), 2**7 - 1)),
        (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
        (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
        (pa.uint8(), st.integers(0, 2**8 - 1)),
        (pa.uint32(), st.integers(0, 2**32 - 1)),
        (pa.uint64(), st.integers(0, 2**64 - 1)),
        (pa.float64(), st.floats()),
        (pa.float32(), st.floats(width=32)),
        (pa.float16(), st.floats(width=16)),
        (pa.bool_(), st.booleans()),
        (pa.decimal128(38, 10), DIGITS),
        (pa.decimal128(38, 0), st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal)),
        (pa.decimal128(38, 38), st.integers(-(10**38) + 1, 10**38 - 1).map(lambda each: Decimal(f"{each}e-38"))),
        (pa.decimal128(9, 2), st.integers(-(10**9) + 1, 10**9 - 1).map(lambda each: Decimal(f"{each}e-2"))),
        (pa.date32(), st.dates()),
        (pa.timestamp("us"), times),
        (pa.timestamp("us", "UTC"), times.map(lambda each: each.replace(tzinfo=UTC))),
        (pa.time64("us"), st.times()),
        (pa.time32("ms"), st.times().map(lambda each: each.replace(microsecond=each.microsecond // 1000 * 1000))),
        (pa.duration("us"), st.timedeltas(timedelta(days=-(10**8)), timedelta(days=10**8))),
        (pa.binary(), st.binary(max_size=6)),
        (pa.binary(3), st.binary(min_size=3, max_size=3)),
    ]


@st.composite
def columns(draw: st.DrawFn, format_: str, depth: int = 2) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """A type, and values of it."""
    shape = draw(st.sampled_from(["scalar", "scalar", "list", "struct", "map"])) if depth else "scalar"
    if shape == "list":
        inner, values = draw(columns(format_, depth - 1))
        return pa.list_(inner), st.lists(values | st.none(), max_size=3)
    if shape == "struct":
        names = draw(st.lists(NAMES, min_size=1, max_size=3, unique_by=str.casefold))
        fields = {name: draw(columns(format_, depth - 1)) for name in names}
        declared = pa.struct([(name, inner) for name, (inner, _) in fields.items()])
        return declared, st.fixed_dictionaries({name: values | st.none() for name, (_, values) in fields.items()})
    if shape == "map":
        inner, values = draw(columns(format_, depth - 1))
        pairs = st.dictionaries(TEXT, values | st.none(), max_size=3).map(lambda found: list(found.items()))
        return pa.map_(pa.string(), inner), pairs
    return draw(st.sampled_from(scalars(format_)))


@st.composite
def tables(draw: st.DrawFn, format_: str) -> pa.Table:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=str.casefold))
    rows = draw(st.integers(1, 6))
    arrays = []
    for _ in names:
        declared, values = draw(columns(format_))
        arrays.append(pa.array(draw(st.lists(values | st.none(), min_size=rows, max_size=rows)), declared))
    return pa.table(arrays, names=names)


def check(table: pa.Table, format_: str, **options: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        job = Format(Path(folder))
        job.given(table)
        expected = read_table(job.root / "in")
        done = job.run(format_, **options)
        found = read_table(job.output)

        assert found.schema == expected.schema
        assert repr(found.to_pylist()) == repr(table.to_pylist())  # NaN is NaN, and -0.0 is not 0.0
        assert (done.sums.rows_in, done.sums.rows_out) == (table.num_rows, table.num_rows)


WORST = pa.table(
    {
        "text": ["", None, "two\nlines", '"', ",", "\x00", "😀\r\n", "\\n"],
        "double": [float("nan"), -0.0, float("inf"), float("-inf"), 5e-324, 1.7976931348623157e308, 0.1, None],
        "decimal": pa.array(
            [Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(0), *[None] * 5], pa.decimal128(38, 0)
        ),
        "day": [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31), None, date(1582, 10, 10), *[None] * 3],
        "time": [time(0), time(23, 59, 59, 999999), *[None] * 6],
        "bytes": [b"", b"\x00\xff", None, b'"', b"\n", *[None] * 3],
        "list": [[], [None], [1, None], None, [2**62], *[None] * 3],
        "lists": [[[]], [None, [1]], None, [[1], [2, None]], *[None] * 4],
        "struct": [{"a.b": None, "x": [{"y": 1.5}]}, None, {"a.b": date(2026, 1, 31), "x": []}, *[None] * 5],
        "nothing": pa.nulls(8, pa.string()),
    }
)


@pytest.mark.parametrize("format_", FORMATS)
def test_any_table_reads_back_the_same(format_: str) -> None:
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @example(WORST)
    @given(tables(format_))
    def reads_back(table: pa.Table) -> None:
        check(table, format_)

    reads_back()


@pytest.mark.parametrize("format_", COMPRESSED)
def test_compressed_or_not_it_reads_back_the_same(format_: str) -> None:
    check(WORST, format_, compression=COMPRESSED[format_])


@pytest.mark.parametrize("format_", ["parquet", "csv", "jsonl", "json", "avro", "msgpack"])
def test_times_from_year_one_to_year_9999_read_back_to_the_microsecond(format_: str) -> None:
    moments = [datetime.min, datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.max, None]
    zoned = pa.array(moments, pa.timestamp("us", "UTC"))
    check(pa.table({"naive": pa.array(moments, pa.timestamp("us")), "instant": zoned}), format_)


def test_a_column_of_timedeltas_reads_back(format_: Format) -> None:
    check(pa.table({"d": pa.array([timedelta(days=-1, microseconds=1), None], pa.duration("us"))}), "csv")
