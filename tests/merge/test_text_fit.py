"""The columnar way to a type accepts exactly what the rules for text accept."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mason.pipeline.types.column_types import INSTANT, decide, storable
from mason.pipeline.types.number_types import are_plain
from mason.pipeline.types.text_fit import fit_text
from mason.pipeline.types.text_types import classify

NUMBERS = st.one_of(
    st.integers(-(2**65), 2**65).map(str),
    st.from_regex(r"-?[0-9]{1,4}(\.[0-9]{0,3})?", fullmatch=True),
    st.from_regex(r"[+-]?0?[0-9]{1,20}(\.[0-9]{1,20})?(e[0-9])?", fullmatch=True),
    st.decimals(-1000, 1000, places=2).map(str),
)
TIMES = st.one_of(
    st.dates().map(str),
    st.datetimes().map(str),
    st.datetimes().map(lambda each: each.isoformat() + "Z"),
    st.datetimes().map(lambda each: each.isoformat(timespec="minutes") + "+02:00"),
    st.from_regex(r"20[0-9]{2}-[0-9]{1,2}-[0-9]{2}( [0-9]{2}(:[0-9]{2})?)?", fullmatch=True),
)
WORDS = st.sampled_from(["true", "False", "TRUE", "tRuE", "1", "0", "yes", "NaN", "inf", "0x1F", " 1", "1 ", "x", "-0"])
COLUMNS = st.lists(st.one_of(NUMBERS, TIMES, WORDS), min_size=1, max_size=6)


@settings(max_examples=600)
@given(COLUMNS, st.one_of(NUMBERS, TIMES, WORDS))
@example(["1"], "007")
@example(["2024-01-01 10:00"], "2024-01-01 10")
@example(["1.50"], "1e-1")
@example(["1.50"], "-.00")
@example(["2.1304"], "-10")
@example(["9.6"], "7454367312031714")
@example(["7.7", "39.99509"], "9308228937753438")
@example(["1.50"], "-0.00")
@example(["0.00"], "-0")
@example(["0.1", "0.12345"], "-0")
@example(["1.50"], "1.5")
@example(["1.5", "1.25"], "3")
@example(["2024-01-01 10:00"], "2024-01-01")
def test_a_value_fits_exactly_when_the_column_would_have_that_type_with_it(column: list[str], value: str) -> None:
    target = storable(decide(classify(column)))

    fitted = fit_text(pa.array([value]), target)

    with_it = storable(decide(classify([*column, value])))
    if fitted is not None:
        assert with_it == target, (target, with_it)
    else:
        # What did not fit at once must be something that the column's type changes for.
        assert with_it != target, target


@given(COLUMNS)
def test_a_column_fits_the_type_that_was_chosen_for_it_and_comes_back(column: list[str]) -> None:
    target = storable(decide(classify(column)))
    fitted = fit_text(pa.array(column), target)

    assert fitted is not None and fitted.type == target
    if pa.types.is_integer(target) or pa.types.is_date(target):
        assert fitted.cast(pa.string()).to_pylist() == column
    if pa.types.is_decimal(target):
        assert fitted.to_pylist() == [Decimal(value) for value in column]


@pytest.mark.parametrize(
    "target", [pa.int64(), pa.float64(), pa.decimal128(18, 2), pa.date32(), pa.timestamp("us"), pa.bool_()]
)
def test_nulls_fit_every_type(target: pa.DataType) -> None:
    fitted = fit_text(pa.array([None, None], pa.string()), target)

    assert fitted is not None and fitted.null_count == 2


SHORT_DECIMALS = st.from_regex(r"-?0{0,2}[0-9]{0,3}\.?[0-9]{0,4}", fullmatch=True)


@settings(max_examples=2_000)
@example(["00.00"], 3)
@example(["01.5", "1.50"], 2)
@example(["1e-1"], 2)
@given(st.lists(st.one_of(SHORT_DECIMALS, NUMBERS, st.none()), min_size=1, max_size=6), st.integers(0, 4))
def test_decimals_are_called_plain_only_when_they_come_back_letter_by_letter(
    column: list[str | None], scale: int
) -> None:
    texts = pa.array(["0.5", *column, "0.5"], pa.string()).slice(1, len(column))  # not at the beginning of its buffers
    try:
        decimals = texts.cast(pa.decimal128(18, scale))
    except pa.ArrowInvalid:
        return

    if are_plain(texts, decimals):
        assert [None if each is None else str(each) for each in decimals.to_pylist()] == column


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.none(), NUMBERS, TIMES), min_size=1, max_size=4),
    st.sampled_from([pa.decimal128(18, 2), pa.decimal128(38, 8), pa.float64(), INSTANT]),
    st.sampled_from(["", "Europe/Berlin"]),
)
@example(["1.50", None, "007"], pa.decimal128(18, 2), "")
@example(["1.50", None, "-2.25"], pa.decimal128(18, 2), "")
def test_values_that_repeat_fit_as_each_of_them_does(
    column: list[str | None], target: pa.DataType, timezone: str
) -> None:
    each = [fit_text(pa.array([value], pa.string()), target, timezone) for value in column]

    fitted = fit_text(pa.array(column * 1000, pa.string()), target, timezone)

    if any(one is None for one in each):
        assert fitted is None
    else:
        assert fitted is not None and fitted == pa.concat_arrays(each * 1000)
