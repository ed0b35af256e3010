"""Damaged files never crash a merge, and no row of them vanishes; a reader that is wrong does not go unnoticed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripts.fuzz_files import Find, Reader, fuzz
from tests.merge.expected_files import outcome_of_file
from tests.merge.outcomes import Outcome

FILES = 300
SEED = 17


def test_damaged_files_crash_nothing_and_lose_nothing() -> None:
    assert list(fuzz(FILES, SEED)) == []


def _drops_a_row(file: Path, room: Path, options: Mapping[str, Any]) -> Outcome:
    """It does not count what it drops, so that its own sums hold."""
    seen = outcome_of_file(file, room, options)
    came, out, aside = seen.counts
    return replace(seen, rows=seen.rows[1:], counts=(came - 1, out - 1, aside)) if seen.rows else seen


def _drops_what_is_set_aside(file: Path, room: Path, options: Mapping[str, Any]) -> Outcome:
    return replace(outcome_of_file(file, room, options), rejects=[])


def _miscounts(file: Path, room: Path, options: Mapping[str, Any]) -> Outcome:
    seen = outcome_of_file(file, room, options)
    came, out, aside = seen.counts
    return replace(seen, counts=(came + 1, out, aside))


def _fails(file: Path, room: Path, options: Mapping[str, Any]) -> Outcome:
    seen = outcome_of_file(file, room, options)
    if seen.rejects:
        raise ValueError("not enough values to unpack")
    return seen


@pytest.mark.parametrize(
    ("reader", "complaint"),
    [
        (_drops_a_row, "but another reader counts"),
        (_drops_what_is_set_aside, "0 set aside ("),
        (_miscounts, "records in, "),
        (_fails, "it crashed: ValueError"),
    ],
)
def test_the_fuzzer_notices_a_reader_that_is_wrong(reader: Reader, complaint: str) -> None:
    assert complaint in _first(fuzz(FILES, SEED, reader)).complaint


@pytest.mark.parametrize(
    ("broken", "complaint"), [("drop", "but another reader counts"), ("raise", "it crashed: ValueError")]
)
def test_the_fuzzer_notices_a_fault_inside_of_mason(
    monkeypatch: pytest.MonkeyPatch, broken: str, complaint: str
) -> None:
    """A parser that drops a row and its count with it deceives Mason's own sums, but no other reader."""
    from mason.pipeline.reading.tasks import csv_batches

    parse = csv_batches.parse_chunk

    def wrong(*given: Any) -> Any:
        parsed = parse(*given)
        if broken == "raise":
            raise ValueError("not enough values to unpack")
        rows = max(len(parsed.indices) - 1, 0)
        lost = parsed.records - len(parsed.indices) + rows
        columns = [each.slice(0, rows) for each in parsed.columns]
        return replace(parsed, columns=columns, indices=parsed.indices[:rows], records=lost)

    monkeypatch.setattr(csv_batches, "parse_chunk", wrong)
    monkeypatch.setattr(csv_batches, "parse_typed", lambda *given: None)

    assert complaint in _first(fuzz(FILES, SEED)).complaint


def _first(finds: Any) -> Find:
    found: Find | None = next(finds, None)
    assert found is not None, "the fuzzer noticed nothing"
    return found
