"""Schemas as text: what Mason prints can be given to it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from mason.pipeline.types.column_types import INSTANT, NAIVE
from mason.pipeline.types.sql_types import parse_schema

PRINTED = [
    pa.int8(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    pa.bool_(),
    pa.string(),
    pa.binary(),
    pa.date32(),
    pa.decimal128(38, 10),
    NAIVE,
    INSTANT,
    pa.list_(pa.date32()),
    pa.map_(pa.string(), pa.list_(pa.int32())),
    pa.struct([("a", pa.date32()), ("b", pa.struct([("c", NAIVE)]))]),
]


@pytest.mark.parametrize("printed", PRINTED, ids=str)
def test_a_type_that_is_printed_can_be_given(printed: pa.DataType) -> None:
    assert parse_schema(f"x {printed}, y int") == {"x": printed, "y": pa.int32()}
