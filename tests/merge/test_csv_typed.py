"""Columns that are read straight in their types are what their text would have become, or are not read so."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.scanning.chunks import Chunk, split_chunks
from mason.pipeline.formats.scanning.csv_parse import Layout, parse_chunk
from mason.pipeline.formats.scanning.csv_typed import parse_typed, sources_of
from mason.pipeline.formats.sources import TextSource

LAYOUT = Layout(dialect=Dialect(), width=4)
TYPES = {0: pa.int64(), 1: pa.date32(), 2: pa.bool_()}
PLAIN_INTEGERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-1001, 1001)).map(str)
ODD_INTEGERS = st.sampled_from(["007", "+7", "-0", " 7", "7 ", "0x1F", "0XFFFFFFFFFF", "-01", "7.0", "x", "00", '"0"'])
PLAIN_DATES = st.dates().map(str)
ODD_DATES = st.sampled_from(["2026-1-31", " 2026-01-31", "2026-01-31T00", "20260131", "2026-02-30", '"2026-01-31"'])
PLAIN_BOOLEANS = st.sampled_from(["true", "false", "True", "FALSE"])
ODD_BOOLEANS = st.sampled_from(["tRuE", "1", "0", "yes", " true", "true ", '"true"'])
PLAIN_TEXTS = st.one_of(
    st.text(st.sampled_from("ab 0:é"), max_size=8),
    st.text(st.sampled_from('a,"\n0'), max_size=8).map(lambda text: '"' + text.replace('"', '""') + '"'),
)
NOTHING = st.sampled_from(["", '""', " "])
PLAIN_RECORDS = st.tuples(PLAIN_INTEGERS, PLAIN_DATES, PLAIN_BOOLEANS, PLAIN_TEXTS)
ANY_RECORDS = st.tuples(
    st.one_of(PLAIN_INTEGERS, ODD_INTEGERS, NOTHING),
    st.one_of(PLAIN_DATES, ODD_DATES, NOTHING),
    st.one_of(PLAIN_BOOLEANS, ODD_BOOLEANS, NOTHING),
    st.one_of(PLAIN_TEXTS, st.just('a"')),
)
RECORDS = st.lists(st.one_of(PLAIN_RECORDS, PLAIN_RECORDS, ANY_RECORDS).map(",".join), min_size=1, max_size=4)


@settings(max_examples=1000, deadline=None)
@given(RECORDS, st.sampled_from(["\n", "\r\n", "\n\n"]), st.booleans())
@example(["007,2026-01-31,true,a"], "\n", True)
@example(["0xFFFFFFFFFF,2026-01-31,true,a", "07,2026-01-31,true,a"], "\n", True)
@example(['7,2026-01-31,true,"a""b"', '"7",2026-01-31,true,""'], "\n", False)
@example(["7,2026-01-31,true,a", "07,,,"], "\n", True)
def test_typed_columns_are_what_their_text_would_have_become(records: list[str], ending: str, ended: bool) -> None:
    chunk = chunk_of(records, ending, ended=ended)

    typed = parse_typed(chunk, LAYOUT, TYPES)

    if typed is None:
        return
    text = parse_chunk(chunk, LAYOUT)
    assert (typed.records, list(typed.indices), typed.bad) == (text.records, list(text.indices), text.bad)
    for source, column, number in zip(sources_of(typed, chunk, LAYOUT), text.columns, range(4), strict=True):
        target = TYPES.get(number, pa.string())
        expected = TextSource(column)
        assert source.fit(target) == expected.fit(target)
        assert source.fit_given(target) == expected.fit_given(target)
        assert source.fit(pa.string()) == column
        assert source.evidence() == expected.evidence()
        assert [source.value(row) for row in range(len(column))] == column.to_pylist()


@settings(max_examples=200, deadline=None)
@given(st.lists(PLAIN_RECORDS.map(",".join), min_size=1, max_size=5))
def test_what_is_written_as_one_writes_it_is_read_in_its_types(records: list[str]) -> None:
    chunk = chunk_of(records, "\n", ended=True)

    typed = parse_typed(chunk, LAYOUT, TYPES)

    assert typed is not None


@pytest.mark.parametrize("odd", ["007", "+7", "-0", " 7", "7 ", '"07"'])
def test_one_odd_number_among_many_is_seen(odd: str) -> None:
    plain = [f"{number},2026-01-31,true,a" for number in range(-5000, 5000)]

    assert parse_typed(chunk_of(plain, "\n", ended=True), LAYOUT, TYPES) is not None
    assert parse_typed(chunk_of([*plain, f"{odd},,,"], "\n", ended=True), LAYOUT, TYPES) is None


def chunk_of(records: list[str], ending: str, *, ended: bool) -> Chunk:
    text = ending.join(records) + (ending if ended else "")
    (chunk,) = split_chunks([text.encode()], LAYOUT.dialect, 4, size=len(text.encode()) + 1)
    return chunk
