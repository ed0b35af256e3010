"""A large file is cut behind records, and every task reads its own."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mason.pipeline.formats.scanning.splits as csv_splits
import mason.pipeline.reading.plan.inspection as look
import mason.pipeline.reading.plan.read_plan as planning
from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.scanning.chunks import split_chunks
from mason.pipeline.formats.scanning.splits import find_line_ranges, find_ranges, number_of_lines, number_of_records
from tests.merge.conftest import LOCAL, Merge

FIELDS = st.text(st.sampled_from('ab,"\n 1'), max_size=6)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=30), st.integers(1, 40))
def test_ranges_tile_the_file_and_each_begins_with_a_record(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], wanted: int
) -> None:
    file = tmp_path_factory.mktemp("any") / "a.csv"
    lines = [f"{quoted(a)},{quoted(b)}\n" for a, b in rows]
    text = "".join(lines)
    file.write_text(text)

    ranges = find_ranges(LOCAL, str(file), len(text), Dialect(), wanted)

    starts = {len("".join(lines[:number])): number for number in range(len(lines))}
    assert ranges[0].offset == 0 and ranges[-1].offset + ranges[-1].length == len(text)
    assert all(one.offset + one.length == other.offset for one, other in pairwise(ranges))
    assert all(starts[each.offset] == number_of_records(LOCAL, str(file), each.offset) for each in ranges)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab "), max_size=8), min_size=1, max_size=30), st.integers(1, 40))
def test_ranges_of_lines_tile_the_file_and_each_begins_with_a_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], wanted: int
) -> None:
    file = tmp_path_factory.mktemp("any") / "a.jsonl"
    text = "\n".join(lines)
    file.write_text(text)

    ranges = find_line_ranges(LOCAL, str(file), len(text), wanted)

    assert sum(each.length for each in ranges) == len(text) and ranges[0].offset == 0
    assert all(one.offset + one.length == other.offset for one, other in pairwise(ranges))
    assert all(text[each.offset - 1] == "\n" for each in ranges[1:])
    assert [number_of_lines(LOCAL, str(file), each.offset) for each in ranges] == [
        text[: each.offset].count("\n") for each in ranges
    ]


def test_a_file_with_stray_quotes_is_read_whole_in_the_end(merge: Merge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "CUT_BYTES", 2_000)
    monkeypatch.setattr(planning, "SMALLEST_TASK", 1_000)
    plain = "".join(f'{number},"a\nb"\n' for number in range(1_000))
    odd = '1001,5" pipe and 6" pipe\n'
    merge.given("a.csv", "n,text\n" + plain + odd + plain)
    monkeypatch.setattr(csv_splits, "_LOOK", 20)  # too little to see the odd one when the plan is made

    result = merge.run()

    assert len(result.plan.tasks()) < 4 and result.rounds == 2
    assert merge.table().sort_by("n")["text"].to_pylist() == ["a\nb"] * 2_000 + ['5" pipe and 6" pipe']


def test_the_end_of_a_chunk_inside_quotes_does_not_make_it_slow() -> None:
    record = b'1,"line\nand line"\n'
    chunks = list(split_chunks([record * 100 + b'1,"li', b'ne\n more"\n'], Dialect(), size=10))

    assert [list(chunk.scan.odd) for chunk in chunks] == [[], []]


def test_a_file_in_many_ranges_merges_as_one(merge: Merge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "CUT_BYTES", 2_000)
    monkeypatch.setattr(planning, "SMALLEST_TASK", 1_000)
    rows = [f'{number},"line {number}\nand ""more"""\n' for number in range(1_000)]
    merge.given("a.csv", "n,text\n" + "".join(rows) + "1000\n")

    plan = merge.plan()
    result = merge.run_plan(plan)

    assert len(plan.tasks()) >= 4
    assert (result.rows_in, result.rows_out, result.quarantined) == (1_001, 1_000, 1)
    table = merge.table().sort_by("n")
    assert table["text"].to_pylist() == [f'line {number}\nand "more"' for number in range(1_000)]
    (reject,) = merge.rejects()
    assert (reject.record, reject.raw) == (1_002, "1000"), "counted from the beginning of the file"
    assert reject.offset == (merge.root / "in" / "a.csv").read_bytes().rindex(b"1000")


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
