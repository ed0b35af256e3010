"""The scan of a text's bytes says what a walk from byte to byte would say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.tokens import split_exactly
from mason.pipeline.formats.scanning import byte_bits
from mason.pipeline.formats.scanning.chunks import split_chunks
from mason.pipeline.formats.scanning.csv_parse import Layout, parse_chunk
from mason.pipeline.formats.scanning.record_marks import blank_records
from mason.pipeline.formats.scanning.record_scan import scan_records

PIECES = st.lists(
    st.sampled_from(['"', '""', "\n", "\r\n", ",", "a", "b" * 61, "c" * 64, "é", "1,2\n", '"x\ny"', '5" p', '"q",']),
    max_size=40,
)


@settings(max_examples=500, deadline=None)
@given(PIECES.map("".join), st.booleans(), st.sampled_from([0, 2, 3]))
@example('"\n' * 40, True, 2)
@example('a,"b\n"\nc"', False, 2)
@example('a"b\n', True, 1)
@example('"a"\r\n', True, 1)
@example('1,"5 inch\n2,b\n3,c\n4,d\n5,e\n6,"7 inch\n', True, 2)
def test_records_end_where_a_reading_field_by_field_ends_them(text: str, final: bool, width: int) -> None:
    content = text.encode() or b"a"

    scan = scan_records(content, Dialect(), width, final=final)

    decoded = content.decode()
    records = list(split_exactly(decoded, Dialect(), width, final=final))
    ends = [len(decoded[: each.end].encode()) for each in records]
    assert (scan.records, scan.ends.tolist()) == (len(ends), ends)
    assert scan.end == (ends[-1] if ends else 0)
    assert scan.quotes == content[: scan.end].count(b'"')
    problems = [each.problem for each in records if each.problem]
    assert [each.record.problem for each in scan.odd if each.record.problem] == problems


@settings(max_examples=500, deadline=None)
@given(
    st.lists(
        st.sampled_from(["1,2\n", '"a,b","c\nd"\n', 'x,5" p\n', '"a"b,c\n', ',"z\n', "\n", "1,2,3\n"]), max_size=30
    )
)
def test_odd_records_stand_among_the_others_where_they_are_in_the_text(records: list[str]) -> None:
    text = "".join(records).encode() or b"1,2\n"
    layout = Layout(dialect=Dialect(), width=2)
    (chunk,) = split_chunks([text], layout.dialect, 2, size=len(text) + 1)

    parsed = parse_chunk(chunk, layout)

    wanted = [each for each in split_exactly(text.decode(), layout.dialect, 2) if not each.is_blank]
    good = [each.fields for each in wanted if not each.problem and len(each.fields) == 2]
    assert [[column[row].as_py() for column in parsed.columns] for row in range(len(good))] == [
        [field or None for field in fields] for fields in good
    ]
    assert len(parsed.bad) == len(wanted) - len(good)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(["\n", "\r\n", "a\n", "ab\n", '""\n', ",\n"]), min_size=1, max_size=20))
def test_blank_lines_are_those_of_nothing_but_a_line_end(lines: list[str]) -> None:
    text = "".join(lines).encode()

    blank = blank_records(memoryview(text), scan_records(text, Dialect(), 0, final=True))

    assert blank.tolist() == [line in ("\n", "\r\n") for line in lines]


@settings(max_examples=200)
@given(st.lists(st.integers(0, 500), unique=True, max_size=60), st.booleans())
def test_bits_answer_as_sets_of_places_do(marks: list[int], inside: bool) -> None:
    content = np.zeros(501, dtype=np.uint8)
    content[marks] = 7
    places = sorted(marks)

    bits = byte_bits.find(content, 7)

    assert byte_bits.positions(bits).tolist() == places
    assert (byte_bits.count(bits), byte_bits.last(bits)) == (len(places), max(places, default=-1))
    assert byte_bits.positions(byte_bits.after(bits)).tolist() == [place + 1 for place in places]
    assert byte_bits.positions(byte_bits.before(bits)).tolist() == [place - 1 for place in places if place]
    odd = [sum(mark <= place for mark in places) % 2 == 1 for place in range(501)]
    found = byte_bits.positions(byte_bits.between(bits, inside=inside))
    assert [place in found for place in range(501)] == [each != inside for each in odd]


@pytest.mark.parametrize("size", [1, 63, 64, 65, 256 * 1024 - 1, 256 * 1024 + 1])
def test_bytes_are_found_across_the_steps_of_the_search(size: int) -> None:
    content = np.zeros(size, dtype=np.uint8)
    content[[0, -1]] = 7

    assert byte_bits.positions(byte_bits.find(content, 7)).tolist() == sorted({0, size - 1})


@pytest.mark.parametrize("rest", ["2.5", ""])
def test_a_record_of_two_lines_may_end_at_any_byte(rest: str) -> None:
    for length in range(130):
        text = f'1,"{"n" * length},1.5\n2,name2",{rest}'.encode()

        assert scan_records(text, Dialect(), 3, final=True).ends.tolist() == [len(text)]
