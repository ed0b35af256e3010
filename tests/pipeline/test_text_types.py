"""Text gets a type only if its value comes back the same."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mason.pipeline.types.column_types import decide
from mason.pipeline.types.text_types import classify


def type_of(*values: str, nulls: tuple[str, ...] = ()) -> str:
    return str(decide(classify(values, nulls)))


@pytest.mark.parametrize(
    "text",
    [
        *["00501", "+5", "-0", "1e5", "1E5", "1_000", "1,000", ".5", "5.", "-.5", "01.5", " 5", "5 ", "0x10", "٣", "²"],
        *["NaN", "nan", "inf", "-inf", "Infinity", "yes", "no", "tRuE", "t", "N/A", "null", "-", "--5", "5-", "1.2.3"],
        *["2024-02-30", "2023-02-29", "2024-13-01", "0000-01-01", "2024-1-1", "01/02/2024", "20240101T10", "24-01-01"],
        *["2024-01-01 25:00:00", "2024-01-01 10:60", "2024-01-01T10:00:00.123456789", "2024-01-01T10:00:00+25:00"],
        *["2024-01-01 10:00:00 UTC", "2024-01-01T10", "10:00:00", "2024-W01-1", "2024-01-01t10:00:00z"],
        *["9" * 39, "0." + "1" * 38, '""', "\x00", "😀", "5\n", "2024-01-01\n"],
    ],
)
def test_text_that_no_type_gives_back_stays_text(text: str) -> None:
    assert type_of(text) == "string"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["0", "-17", "42"], "int64"),
        (["9223372036854775807", "-9223372036854775808"], "int64"),
        (["9223372036854775808"], "decimal128(38, 0)"),
        (["12345678901234567890"], "decimal128(38, 0)"),
        (["9" * 38], "decimal128(38, 0)"),
        (["1.50", "2.25"], "decimal128(18, 2)"),
        (["-0.50", "100.00"], "decimal128(18, 2)"),
        (["123456789012345678.50"], "decimal128(38, 2)"),
        (["1.5", "2.25", "3"], "decimal128(18, 2)"),
        (["5.00", "5"], "decimal128(18, 2)"),
        (["0.1", "0.12345"], "double"),
        (["0.8444218515250481", "0.757954402940833"], "double"),
        (["0.00000000000000000001", "1.5"], "double"),
        (["9007199254740993", "1.5"], "decimal128(38, 1)"),
        (["1234567890.12345678901", "1.5"], "decimal128(38, 11)"),
        (["0", "200000000.00000001"], "decimal128(38, 8)"),
        (["12345678901234567890123456789012345678", "1.5"], "string"),
        (["true", "False", "TRUE"], "bool"),
        (["true", "1"], "string"),
        (["2024-02-29", "1999-12-31"], "date32[day]"),
        (["2024-02-29 10:00", "2024-02-29T10:00:00.123", "0001-01-01 00:00:00"], "timestamp[us]"),
        (["2024-02-29", "2024-02-29 10:00"], "timestamp[us]"),
        (["2024-02-29T10:00:00Z", "2024-02-29 10:00:00+02:00", "2024-02-29T10:00-0530"], "timestamp[us, tz=UTC]"),
        (["2024-02-29T10:00:00Z", "2024-02-29 10:00:00"], "string"),
        (["2024-02-29T10:00:00Z", "2024-02-29"], "string"),
        (["2024-02-29", "5"], "string"),
        (["5", "", "00501"], "string"),
        (["", "5", ""], "int64"),
        (["", ""], "null"),
        ([], "null"),
        (["x", "5"], "string"),
    ],
)
def test_a_column_of_text_gets_the_type_that_gives_it_back(values: list[str], expected: str) -> None:
    assert type_of(*values) == expected


def test_null_words_are_null_only_if_the_user_says_so() -> None:
    assert type_of("5", "NA") == "string"
    assert type_of("5", "NA", nulls=("NA", "-")) == "int64"


NUMBERS = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=2).map(str),
    st.from_regex(r"[+-]?[0-9]{1,22}(\.[0-9]{0,22})?", fullmatch=True),
)
ANY_TEXT = st.one_of(
    NUMBERS,
    st.text(alphabet="0123456789-+.: TZtruefals", max_size=26),
    st.dates().map(str),
    st.datetimes().map(str),
    st.datetimes(timezones=st.just(UTC)).map(lambda each: each.isoformat()),
    st.sampled_from(["true", "False", "yes", "NaN", "00501"]),
)
COLUMNS = st.one_of(
    st.lists(ANY_TEXT, max_size=5),
    st.lists(NUMBERS, max_size=5),
    st.lists(st.integers(-(10**20), 10**20).map(str), max_size=5),
    st.lists(st.decimals(-(10**18), 10**18, places=2).map(str), max_size=5),
    st.lists(st.floats(-1e6, 1e6).map(repr), max_size=5),
)


@settings(deadline=None)  # Arrow's first scalar imports pandas
@given(COLUMNS)
def test_every_value_comes_back_from_the_type_of_its_column(values: list[str]) -> None:
    decided = decide(classify(values))

    for value in filter(None, values):
        assert comes_back(value, decided), (value, decided)


def comes_back(text: str, decided: pa.DataType) -> bool:
    """The documented rule: the same text for integers and text, the same value for all else."""
    if pa.types.is_string(decided):
        return True
    if pa.types.is_int64(decided):
        return str(pa.scalar(int(text), decided).as_py()) == text
    if pa.types.is_decimal(decided):
        return bool(pa.scalar(Decimal(text), decided).as_py() == Decimal(text))
    if pa.types.is_float64(decided):
        return Decimal(repr(pa.scalar(float(text), decided).as_py())) == Decimal(text)
    if pa.types.is_boolean(decided):
        return text.lower() in ("true", "false")
    if pa.types.is_date32(decided):
        return str(pa.scalar(date.fromisoformat(text), decided).as_py()) == text
    assert pa.types.is_timestamp(decided)
    moment = datetime.fromisoformat(text)
    return (moment.tzinfo is not None) == (decided.tz is not None)


@settings(deadline=None)
@given(st.lists(st.decimals(0, 10**6, places=2).map(str), min_size=1, max_size=5))
def test_prices_of_one_scale_come_back_as_the_same_text(values: list[str]) -> None:
    decided = decide(classify(values))

    assert decided == pa.decimal128(18, 2)
    assert [str(pa.scalar(Decimal(value), decided)) for value in values] == values
