"""A large file is cut behind records, and every task reads its own."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mason.pipeline.merge.look as look
import mason.pipeline.merge.plan as planning
from mason.pipeline.csv_splits import find_ranges
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

    ranges = find_ranges(LOCAL, str(file), len(text), ",", wanted)

    starts = {len("".join(lines[:number])): number + 1 for number in range(len(lines))}
    assert ranges[0].offset == 0 and ranges[-1].offset + ranges[-1].length == len(text)
    assert all(one.offset + one.length == other.offset for one, other in pairwise(ranges))
    assert all(starts[each.offset] == each.first_record for each in ranges)


def test_a_file_with_stray_quotes_is_not_cut(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text('5" pipe,1\n' * 100)

    assert len(find_ranges(LOCAL, str(file), file.stat().st_size, ",", 50)) == 1


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
    assert (reject.record, reject.raw) == (1_002, "1000")
    assert reject.offset == (merge.root / "in" / "a.csv").read_bytes().rindex(b"1000")


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
