"""The scan of a text's bytes says what a walk from byte to byte would say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mason.pipeline import byte_bits
from mason.pipeline.record_scan import blank_records, scan_records

PIECES = st.lists(st.sampled_from(['"', '""', "\n", "\r\n", "\r", ",", "a", "b" * 61, "c" * 64, "é"]), max_size=40)


@settings(max_examples=500)
@given(PIECES.map("".join), st.booleans())
@example('"\n' * 40, True)
@example('a,"b\n"\nc"', False)
@example('a"b\n', True)
@example('"a"\r\n', True)
def test_records_are_counted_as_by_a_walk_through_the_bytes(text: str, final: bool) -> None:
    content = text.encode() or b"a"

    scan = scan_records(content, ",", final=final)

    ends = walk(content, final=final)
    assert (scan.records, scan.ends.tolist()) == (len(ends), ends)
    assert scan.end == (ends[-1] if ends else 0)
    assert scan.quotes == content[: scan.end].count(b'"')
    assert scan.open_quote == (content.count(b'"') % 2 == 1)
    assert scan.has_stray_quotes == any(is_stray(content, place) for place in range(len(content)))


def walk(content: bytes, *, final: bool) -> list[int]:
    inside, ends = False, []
    for place, byte in enumerate(content):
        inside ^= byte == b'"'[0]
        if byte == b"\n"[0] and not inside:
            ends.append(place + 1)
    return [*ends, len(content)] if final and (not ends or ends[-1] < len(content)) else ends


def is_stray(content: bytes, place: int) -> bool:
    if content[place : place + 1] != b'"' or place in (0, len(content) - 1):
        return False
    return content[place - 1] not in b',\n"' and content[place + 1] not in b',\n\r"'


@settings(max_examples=200)
@given(st.lists(st.sampled_from(["\n", "\r\n", "a\n", "ab\n", '""\n', ",\n"]), min_size=1, max_size=20))
def test_blank_lines_are_those_of_nothing_but_a_line_end(lines: list[str]) -> None:
    text = "".join(lines).encode()

    blank = blank_records(memoryview(text), scan_records(text, ",", final=True))

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
