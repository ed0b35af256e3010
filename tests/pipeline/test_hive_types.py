"""Types in Hive's words, and back."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mason.errors import Unsupported
from mason.pipeline.types.hive_types import arrow_type, hive_type, odd_names

BOTH_WAYS = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal(38,18)": pa.decimal128(38, 18),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "array<array<int>>": pa.list_(pa.list_(pa.int32())),
    "map<string,array<double>>": pa.map_(pa.string(), pa.list_(pa.float64())),
    "struct<a:int,b:struct<c:decimal(5,2)>>": pa.struct({"a": pa.int32(), "b": pa.struct({"c": pa.decimal128(5, 2)})}),
}
ONE_WAY = {
    "smallint": pa.uint8(),
    "int": pa.uint16(),
    "bigint": pa.uint32(),
    "decimal(20,0)": pa.uint64(),
    "timestamp": pa.timestamp("ns", "UTC"),
    "string": pa.null(),
    "array<string>": pa.large_list(pa.large_string()),
    "binary": pa.binary(16),
    "float": pa.float16(),
}


@pytest.mark.parametrize("spelled", BOTH_WAYS)
def test_a_type_that_both_have_comes_back_the_same(spelled: str) -> None:
    assert hive_type(BOTH_WAYS[spelled]) == spelled
    assert arrow_type(spelled) == BOTH_WAYS[spelled]


@pytest.mark.parametrize("spelled", ONE_WAY)
def test_a_type_that_hive_lacks_becomes_one_that_holds_it(spelled: str) -> None:
    assert hive_type(ONE_WAY[spelled]) == spelled


def test_times_of_day_are_the_integers_that_they_are_stored_as() -> None:
    assert hive_type(pa.time32("ms")) == "int"
    assert hive_type(pa.time64("us")) == "bigint"
    assert hive_type(pa.duration("us")) == "bigint"


@pytest.mark.parametrize(
    ("spelled", "expected"),
    [
        ("VARCHAR(20)", pa.string()),
        ("char(3)", pa.string()),
        ("decimal", pa.decimal128(10, 0)),
        ("decimal(7)", pa.decimal128(7, 0)),
        ("integer", pa.int32()),
        ("timestamp with time zone", pa.timestamp("us", "UTC")),
        ("struct<user-id:int, two words:string>", pa.struct({"user-id": pa.int32(), "two words": pa.string()})),
        ("struct<>", pa.struct([])),
        ("Array< Int >", pa.list_(pa.int32())),
    ],
)
def test_what_others_write_is_understood(spelled: str, expected: pa.DataType) -> None:
    assert arrow_type(spelled) == expected


@pytest.mark.parametrize(
    "spelled",
    [
        "",
        "uniontype<int,string>",
        "array<int",
        "array<int>>",
        "struct<a>",
        "struct<a:int",
        "map<int>",
        "decimal(39,1)",
        "decimal(1,2)",
        "int,int",
        "`",
    ],
)
def test_what_is_no_type_is_refused(spelled: str) -> None:
    with pytest.raises(ValueError):
        arrow_type(spelled)


def test_a_type_that_nothing_holds_is_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="month_day_nano_interval"):
        hive_type(pa.month_day_nano_interval())
    with pytest.raises(Unsupported, match="decimal256"):
        hive_type(pa.decimal256(60, 2))


_NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
_SCALARS = st.sampled_from([pa.bool_(), pa.int64(), pa.string(), pa.date32(), pa.timestamp("us"), pa.decimal128(9, 3)])
_TYPES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        inner.map(pa.list_),
        inner.map(lambda item: pa.map_(pa.string(), item)),
        st.dictionaries(_NAMES, inner, min_size=1, max_size=4).map(pa.struct),
    ),
    max_leaves=8,
)


@given(_TYPES)
def test_any_nested_type_comes_back_whatever_its_fields_are_called(declared: pa.DataType) -> None:
    assert arrow_type(hive_type(declared)) == declared


def test_names_that_hive_cannot_write_are_found_at_any_depth() -> None:
    inner = pa.struct({"fine": pa.int8(), "not fine": pa.list_(pa.struct({"a.b": pa.int8()}))})

    assert odd_names(pa.map_(pa.string(), inner)) == ["not fine", "a.b"]
    assert odd_names(pa.int8()) == []
