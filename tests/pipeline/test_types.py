"""The table of conflicts: which type holds what files disagree on, in any order."""

from __future__ import annotations

import random
from functools import reduce

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mason.pipeline.types.column_types import (
    NOTHING,
    Evidence,
    decide,
    evidence_of,
    merge,
    mixes_zones,
    storable,
    widen,
)
from mason.pipeline.types.number_types import Digits

US = pa.timestamp("us")
UTC = pa.timestamp("us", "UTC")

SCALARS = st.sampled_from(
    [
        *[pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
        *[pa.float32(), pa.float64(), pa.decimal128(5, 2), pa.decimal128(38, 0), pa.decimal128(20, 20)],
        *[pa.bool_(), pa.string(), pa.binary(), pa.binary(4), pa.null(), pa.time32("ms"), pa.time64("us")],
        *[
            pa.date32(),
            pa.date64(),
            US,
            UTC,
            pa.timestamp("ns"),
            pa.large_string(),
            pa.dictionary(pa.int8(), pa.utf8()),
        ],
    ]
)
TYPES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        inner.map(pa.list_),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=2).map(lambda fields: pa.struct(list(fields.items()))),
        inner.map(lambda value: pa.map_(pa.string(), value)),
    ),
    max_leaves=4,
)
DIGITS = st.builds(Digits, st.integers(1, 38), st.integers(0, 5), st.booleans(), st.booleans())
EVIDENCE = st.one_of(
    TYPES.map(evidence_of),
    st.frozensets(DIGITS, min_size=1, max_size=3).map(Evidence),
)


def without_order(decided: pa.DataType) -> object:
    """A struct's fields come in the order in which they were first seen: that alone may depend on the files' order."""
    if pa.types.is_struct(decided):
        return frozenset((field.name, without_order(field.type)) for field in decided)
    if pa.types.is_map(decided):
        return "map", without_order(decided.key_type), without_order(decided.item_type)
    return ("list", without_order(decided.value_type)) if pa.types.is_list(decided) else decided


@given(st.lists(EVIDENCE, max_size=6), st.randoms(use_true_random=False))
def test_any_order_and_any_grouping_of_files_gives_the_same_type(seen: list[Evidence], chance: random.Random) -> None:
    shuffled = chance.sample(seen, len(seen))
    cut = chance.randint(0, len(seen))
    grouped = merge(reduce(merge, shuffled[:cut], NOTHING), reduce(merge, shuffled[cut:], NOTHING))

    assert without_order(decide(grouped)) == without_order(decide(reduce(merge, seen, NOTHING)))


@given(EVIDENCE)
def test_the_same_again_changes_nothing(seen: Evidence) -> None:
    assert decide(merge(seen, seen)) == decide(seen)
    assert decide(merge(seen, NOTHING)) == decide(merge(NOTHING, seen)) == decide(seen)


@given(TYPES, TYPES)
def test_two_types_widen_the_same_both_ways(one: pa.DataType, other: pa.DataType) -> None:
    assert without_order(widen([one, other])) == without_order(widen([other, one]))


@given(TYPES)
def test_a_type_beside_text_is_text(one: pa.DataType) -> None:
    assert widen([one, pa.string()]) == pa.string()


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ([pa.int8(), pa.int32()], pa.int32()),
        ([pa.int32()], pa.int32()),
        ([pa.uint8(), pa.int8()], pa.int16()),
        ([pa.uint8(), pa.uint32()], pa.uint32()),
        ([pa.uint64(), pa.int8()], pa.decimal128(20, 0)),
        ([pa.float32()], pa.float32()),
        ([pa.float32(), pa.float64()], pa.float64()),
        ([pa.int64(), pa.float64()], pa.float64()),
        ([pa.int32(), pa.decimal128(5, 2)], pa.decimal128(12, 2)),
        ([pa.decimal128(10, 2), pa.decimal128(8, 5)], pa.decimal128(13, 5)),
        ([pa.decimal128(38, 0), pa.decimal128(5, 5)], pa.string()),
        ([pa.decimal128(10, 2), pa.float64()], pa.float64()),
        ([pa.decimal128(30, 2), pa.float64()], pa.string()),
        ([pa.decimal256(60, 2)], pa.string()),
        ([pa.date32(), US], US),
        ([pa.date64()], pa.date32()),
        ([pa.timestamp("ms", "Europe/Berlin"), UTC], UTC),
        ([US, UTC], pa.string()),
        ([pa.date32(), UTC], pa.string()),
        ([pa.bool_(), pa.int64()], pa.string()),
        ([pa.time32("ms"), pa.time64("us")], pa.time64("us")),
        ([pa.binary(16)], pa.binary(16)),
        ([pa.binary(16), pa.large_binary()], pa.binary()),
        ([pa.null(), pa.int8()], pa.int8()),
        ([pa.null()], pa.null()),
        ([], pa.null()),
        ([pa.list_(pa.int8()), pa.large_list(pa.int64())], pa.list_(pa.int64())),
        ([pa.list_(pa.int8()), pa.int8()], pa.string()),
        ([pa.struct([("a", pa.int8())]), pa.list_(pa.int8())], pa.string()),
        (
            [pa.struct([("a", pa.int8())]), pa.struct([("a", pa.utf8()), ("b", pa.bool_())])],
            pa.struct([("a", pa.utf8()), ("b", pa.bool_())]),
        ),
        ([pa.map_(pa.utf8(), pa.int8()), pa.map_(pa.utf8(), pa.int16())], pa.map_(pa.utf8(), pa.int16())),
    ],
)
def test_each_line_of_the_conflict_table(types: list[pa.DataType], expected: pa.DataType) -> None:
    assert widen(types) == expected


def test_a_timezone_unites_naive_and_zoned_times() -> None:
    assert widen([US, UTC, pa.date32()], timezone="Europe/Berlin") == UTC


def test_naive_and_zoned_times_are_marked_also_inside_nested_columns() -> None:
    seen = merge(evidence_of(pa.list_(US)), evidence_of(pa.list_(UTC)))

    assert mixes_zones(seen)
    assert decide(seen) == pa.list_(pa.string())
    assert not mixes_zones(evidence_of(pa.list_(UTC)))


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        ([Digits(5, 0)], pa.int64()),
        ([Digits(19, 0, fit_double=False)], pa.int64()),
        ([Digits(20, 0, fit_double=False)], pa.decimal128(38, 0)),
        ([Digits(3, 2)], pa.decimal128(18, 2)),
        ([Digits(20, 2, fit_double=False)], pa.decimal128(38, 2)),
        ([Digits(3, 2), Digits(3, 1)], pa.decimal128(18, 2)),
        ([Digits(3, 2), Digits(3, 0)], pa.decimal128(18, 2)),
        ([Digits(3, 5), Digits(3, 1)], pa.float64()),
        ([Digits(19, 0, fit_double=False), Digits(3, 2)], pa.decimal128(38, 2)),
        ([Digits(37, 0, fit_double=False), Digits(3, 2)], pa.string()),
        ([Digits(1, 1, are_doubles=True)], pa.float64()),
        ([Digits(1, 1, are_doubles=True), Digits(19, 0, fit_double=False)], pa.decimal128(38, 1)),
        ([Digits(3, 0), pa.int32()], pa.int64()),
        ([Digits(3, 0), pa.float64()], pa.float64()),
        ([Digits(19, 0, fit_double=False), pa.float64()], pa.string()),
        ([Digits(3, 2), Digits(3, 1), pa.decimal128(10, 4)], pa.decimal128(18, 4)),
        ([Digits(3, 0), pa.bool_()], pa.string()),
    ],
)
def test_numbers_whose_digits_are_known_get_a_type_that_keeps_them(
    digits: list[Digits | pa.DataType], expected: pa.DataType
) -> None:
    assert decide(Evidence(frozenset(digits))) == expected


def test_what_is_null_in_every_row_is_stored_as_text_at_any_depth() -> None:
    assert storable(pa.null()) == pa.string()
    assert storable(pa.list_(pa.null())) == pa.list_(pa.string())
    assert storable(pa.struct([("a", pa.null())])) == pa.struct([("a", pa.string())])
    assert storable(pa.map_(pa.string(), pa.null())) == pa.map_(pa.string(), pa.string())
    assert storable(pa.struct([])) == pa.string()
